// SPDX-License-Identifier: GPL-2.0-or-later
/* Parameters and results. */
#include "bench/bench_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reported {
	const struct bench_metric *metric;
	char *name;
	double *values;
	size_t n, cap;
};

struct bench_run {
	const struct bench *bench;
	enum bench_mode mode;
	char **params; /* one text per entry of the table */
	char **defaults;
	size_t n_params;
	struct reported *reported;
	size_t n_reported, cap_reported;
	json_t *lines; /* missing, counter, histogram */
	uint64_t operations;
	unsigned threads;
	double seconds;
};

struct bench_run *bench_run_new(const struct bench *bench, enum bench_mode mode)
{
	struct bench_run *run = xcalloc(1, sizeof(*run));
	struct err err;

	run->bench = bench;
	run->mode = mode;
	run->lines = json_array();
	while (bench->params[run->n_params].name)
		run->n_params++;
	run->params = xcalloc(run->n_params, sizeof(*run->params));
	run->defaults = xcalloc(run->n_params, sizeof(*run->defaults));
	for (size_t i = 0; i < run->n_params; i++) {
		const struct bench_param *param = &bench->params[i];

		if (!bench_run_set(run, param->name, param->fallback, &err)) {
			fprintf(stderr, "%s: default of %s: %s\n", bench->name, param->name,
				err.msg);
			abort();
		}
		run->defaults[i] = xstrdup(run->params[i]);
	}
	return run;
}

void bench_run_free(struct bench_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->n_params; i++) {
		free(run->params[i]);
		free(run->defaults[i]);
	}
	for (size_t i = 0; i < run->n_reported; i++) {
		free(run->reported[i].name);
		free(run->reported[i].values);
	}
	free(run->params);
	free(run->defaults);
	free(run->reported);
	json_decref(run->lines);
	free(run);
}

void bench_run_free_ptr(struct bench_run **run)
{
	bench_run_free(*run);
}

static ptrdiff_t find_param(const struct bench_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_params; i++) {
		if (!strcmp(run->bench->params[i].name, name))
			return (ptrdiff_t)i;
	}
	return -1;
}

static char *bytes_text(long long bytes)
{
	static const char units[] = "\0KMG";
	size_t unit = 0;

	while (bytes && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	return unit ? xasprintf("%lld%c", bytes, units[unit]) : xasprintf("%lld", bytes);
}

/* Equal values have equal texts: a series is found by the hash of its parameters. */
static char *canonical(enum bench_type type, const char *text)
{
	long long whole;
	double real;

	switch (type) {
	case BENCH_INT:
		if (!strcmp(text, "cpus"))
			return xasprintf("%ld", sysconf(_SC_NPROCESSORS_ONLN));
		return str_to_i64(text, &whole) ? xasprintf("%lld", whole) : NULL;
	case BENCH_BYTES:
		return str_to_bytes(text, &whole) ? bytes_text(whole) : NULL;
	case BENCH_SECONDS:
		return str_to_seconds(text, &real) ? xasprintf("%.10g", real) : NULL;
	case BENCH_FLOAT:
		return str_to_f64(text, &real) && isfinite(real) ? xasprintf("%.10g", real) : NULL;
	case BENCH_TEXT:
		return xstrdup(text);
	}
	return NULL;
}

static const char *const type_words[] = {
	[BENCH_INT] = "a whole number (or \"cpus\")",
	[BENCH_BYTES] = "a size such as 4K or 16M",
	[BENCH_SECONDS] = "a time such as 2s or 250ms",
	[BENCH_FLOAT] = "a number",
	[BENCH_TEXT] = "text",
};

/* The place of text in "one|two|three"; -1 when it is none of them. */
static int place_in(const char *choices, const char *text)
{
	AUTO_STRS words = STRS_INIT;

	strs_split(&words, choices, "|");
	for (size_t i = 0; i < words.n; i++) {
		if (!strcmp(words.v[i], text))
			return (int)i;
	}
	return -1;
}

static bool number_of(enum bench_type type, const char *text, double *out)
{
	long long whole = 0;

	if (type == BENCH_SECONDS || type == BENCH_FLOAT)
		return str_to_f64(text, out);
	if (type == BENCH_TEXT || (!str_to_bytes(text, &whole) && !str_to_i64(text, &whole)))
		return false;
	*out = (double)whole;
	return true;
}

static bool allowed(const struct bench_param *param, const char *text, struct err *err)
{
	bool bytes = param->type == BENCH_BYTES;
	AUTO_FREE char *least = bytes ? bytes_text(param->least) : xasprintf("%lld", param->least);
	AUTO_FREE char *most = bytes ? bytes_text(param->most) : xasprintf("%lld", param->most);
	double value = 0;

	if (param->choices && place_in(param->choices, text) < 0)
		return err_set(err, ERR_USAGE, "--%s: \"%s\" is none of %s", param->name, text,
			       param->choices);
	if (!number_of(param->type, text, &value))
		return true;
	if ((param->least || param->most) &&
	    (value < (double)param->least || value > (double)param->most))
		return err_set(err, ERR_USAGE, "--%s: %s should be %s to %s", param->name, text,
			       least, most);
	if (param->multiple && (long long)value % param->multiple) {
		AUTO_FREE char *multiple = bytes_text(param->multiple);

		return err_set(err, ERR_USAGE, "--%s: %s should be a multiple of %s", param->name,
			       text, multiple);
	}
	return true;
}

bool bench_run_set(struct bench_run *run, const char *param, const char *text, struct err *err)
{
	ptrdiff_t i = find_param(run, param);
	char *value;

	if (i < 0)
		return err_set(err, ERR_USAGE, "%s has no parameter \"%s\"; see %s --help",
			       run->bench->name, param, run->bench->name);
	value = canonical(run->bench->params[i].type, text);
	if (!value)
		return err_set(err, ERR_USAGE, "--%s: \"%s\" is not %s", param, text,
			       type_words[run->bench->params[i].type]);
	if (!allowed(&run->bench->params[i], value, err)) {
		free(value);
		return false;
	}
	free(run->params[i]);
	run->params[i] = value;
	return true;
}

bool bench_run_preset(struct bench_run *run, const char *preset, struct err *err)
{
	const struct bench_preset *p = run->bench->presets;
	AUTO_STRS pairs = STRS_INIT;

	while (p && p->name && strcmp(p->name, preset) != 0)
		p++;
	if (!p || !p->name)
		return err_set(err, ERR_USAGE, "%s has no preset \"%s\"; see %s --help",
			       run->bench->name, preset, run->bench->name);
	strs_split(&pairs, p->values, " ");
	for (size_t i = 0; i < pairs.n; i++) {
		char *value = strchr(pairs.v[i], '=');

		if (!value)
			return err_set(err, ERR_FAILED, "preset %s: \"%s\" is not NAME=VALUE",
				       preset, pairs.v[i]);
		*value++ = '\0';
		if (!bench_run_set(run, pairs.v[i], value, err))
			return err_wrap(err, "preset %s", preset);
	}
	return true;
}

json_t *bench_run_params(const struct bench_run *run)
{
	json_t *params = json_object();

	for (size_t i = 0; i < run->n_params; i++) {
		if (!run->bench->params[i].added || strcmp(run->params[i], run->defaults[i]) != 0)
			js_set_str(params, run->bench->params[i].name, run->params[i]);
	}
	return params;
}

bool bench_params_settle(const struct bench *bench, const json_t *given, json_t **out,
			 struct err *err)
{
	CLEANUP(bench_run_free_ptr) struct bench_run *run = bench_run_new(bench, BENCH_JSON);
	const char *preset = js_str_or(given, "preset", NULL);
	const char *key;
	json_t *value;

	if (preset && !bench_run_preset(run, preset, err))
		return false;
	/* jansson's iterator wants a writable object but only reads it. */
	json_object_foreach((json_t *)given, key, value)
	{
		if (!strcmp(key, "preset"))
			continue;
		if (!json_is_string(value))
			return err_set(err, ERR_USAGE, "parameter \"%s\" should be text", key);
		if (!bench_run_set(run, key, json_string_value(value), err))
			return false;
	}
	if (bench->settle && !bench->settle(run, err))
		return false;
	*out = bench_run_params(run);
	return true;
}

const char *bench_text(const struct bench_run *run, const char *param)
{
	ptrdiff_t i = find_param(run, param);

	if (i < 0) {
		fprintf(stderr, "%s: no parameter %s in the table\n", run->bench->name, param);
		abort();
	}
	return run->params[i];
}

long long bench_int(const struct bench_run *run, const char *param)
{
	long long value = 0;

	if (!str_to_bytes(bench_text(run, param), &value) &&
	    !str_to_i64(bench_text(run, param), &value))
		abort();
	return value;
}

double bench_float(const struct bench_run *run, const char *param)
{
	double value = 0;

	if (!str_to_f64(bench_text(run, param), &value))
		abort();
	return value;
}

int bench_choice(const struct bench_run *run, const char *param)
{
	const char *text = bench_text(run, param);
	const char *choices = run->bench->params[find_param(run, param)].choices;

	if (!choices)
		abort();
	return place_in(choices, text);
}

static const struct bench_metric *find_metric(const struct bench_run *run, const char *name,
					      const char *suffix)
{
	for (const struct bench_metric *m = run->bench->metrics; m->name; m++) {
		if (!strcmp(m->name, name) && m->family == (suffix != NULL))
			return m;
	}
	fprintf(stderr, "%s: no metric %s in the table\n", run->bench->name, name);
	abort();
}

static char *full_name(const char *name, const char *suffix)
{
	return suffix ? xasprintf("%s-%s", name, suffix) : xstrdup(name);
}

void bench_value(struct bench_run *run, const char *metric, const char *suffix, double value)
{
	const struct bench_metric *m = find_metric(run, metric, suffix);
	AUTO_FREE char *name = full_name(metric, suffix);
	struct reported *r = NULL;

	if (!isfinite(value)) {
		fprintf(stderr, "%s: %s is not a finite number\n", run->bench->name, name);
		abort();
	}
	for (size_t i = 0; i < run->n_reported && !r; i++) {
		if (!strcmp(run->reported[i].name, name))
			r = &run->reported[i];
	}
	if (!r) {
		r = array_push(run->reported, run->n_reported, run->cap_reported);
		r->metric = m;
		r->name = TAKE(name);
	}
	*array_push(r->values, r->n, r->cap) = value;
}

static json_t *line_new(const char *type, const char *name)
{
	json_t *line = json_object();

	js_set_str(line, "type", type);
	js_set_str(line, "name", name);
	return line;
}

void bench_missing(struct bench_run *run, const char *metric, const char *suffix,
		   const char *reason)
{
	AUTO_FREE char *name = full_name(find_metric(run, metric, suffix)->name, suffix);
	json_t *line = line_new("missing", name);

	js_set_str(line, "reason", reason);
	json_array_append_new(run->lines, line);
}

void bench_counter(struct bench_run *run, const char *name, int64_t value)
{
	json_t *line = line_new("counter", name);

	js_set_i64(line, "value", value);
	json_array_append_new(run->lines, line);
}

void bench_histogram(struct bench_run *run, const char *metric, const char *suffix,
		     const uint64_t *buckets, size_t n)
{
	const struct bench_metric *m = find_metric(run, metric, suffix);
	AUTO_FREE char *name = full_name(metric, suffix);
	json_t *line = line_new("histogram", name);
	json_t *counts = json_array();

	while (n && !buckets[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(counts, json_integer((json_int_t)buckets[i]));
	js_set_str(line, "unit", m->unit);
	js_set_new(line, "buckets", counts);
	json_array_append_new(run->lines, line);
}

static void print_line(const json_t *line)
{
	AUTO_FREE char *text = js_text(line);

	puts(text);
	fflush(stdout);
}

void bench_log(struct bench_run *run, const char *fmt, ...)
{
	AUTO_STR text = str_new();
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	if (run->mode == BENCH_HUMAN) {
		fprintf(stderr, "%s: %s\n", run->bench->name, text.s);
	} else {
		AUTO_JSON *line = json_object();

		js_set_str(line, "type", "log");
		js_set_str(line, "text", text.s);
		print_line(line);
	}
}

bool bench_phase(struct bench_run *run, bool on, struct err *err)
{
	AUTO_JSON *line = json_object();
	ssize_t n;
	char byte;

	if (run->mode != BENCH_SYNC)
		return true;
	js_set_str(line, "type", "phase");
	js_set_bool(line, "on", on);
	print_line(line);
	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return true;
	return err_set(err, ERR_FAILED, "nobody answers at the begin or end of a phase");
}

void bench_total(struct bench_run *run, uint64_t operations, unsigned threads, double seconds)
{
	run->operations = operations;
	run->threads = threads;
	run->seconds = seconds;
}

const char *bench_direction_word(enum bench_direction direction)
{
	static const char *const words[] = {
		[BENCH_LOWER] = "lower", [BENCH_HIGHER] = "higher", [BENCH_NONE] = "none"};

	return words[direction];
}

bool bench_wants_real_cpus(const struct bench *bench, const struct bench_metric *metric)
{
	const char *const *name = bench->real_cpus;

	while (name && *name && strcmp(*name, metric->name) != 0)
		name++;
	return name && *name;
}

static void print_json(const struct bench_run *run)
{
	AUTO_JSON *done = json_object();
	size_t i;
	json_t *line;

	for (size_t r = 0; r < run->n_reported; r++) {
		const struct reported *rep = &run->reported[r];
		AUTO_JSON *metric = line_new("metric", rep->name);
		json_t *values = json_array();

		for (size_t k = 0; k < rep->n; k++)
			json_array_append_new(values, json_real(rep->values[k]));
		js_set_str(metric, "unit", rep->metric->unit);
		js_set_str(metric, "direction", bench_direction_word(rep->metric->direction));
		js_set_bool(metric, "primary", rep->metric->primary);
		js_set_f64(metric, "floor", rep->metric->floor);
		if (bench_wants_real_cpus(run->bench, rep->metric))
			js_set_bool(metric, "real_cpus", true);
		js_set_new(metric, "values", values);
		print_line(metric);
	}
	json_array_foreach(run->lines, i, line)
	{
		print_line(line);
	}
	js_set_str(done, "type", "done");
	js_set_i64(done, "operations", (int64_t)run->operations);
	js_set_i64(done, "threads", run->threads);
	js_set_f64(done, "seconds", run->seconds);
	print_line(done);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_human(const struct bench_run *run)
{
	size_t i;
	json_t *line;

	printf("%-24s %-8s %14s %14s %14s %4s\n", "metric", "unit", "median", "min", "max", "n");
	for (size_t r = 0; r < run->n_reported; r++) {
		const struct reported *rep = &run->reported[r];
		double median;

		qsort(rep->values, rep->n, sizeof(*rep->values), compare_doubles);
		median = (rep->values[(rep->n - 1) / 2] + rep->values[rep->n / 2]) / 2;
		printf("%-24s %-8s %14.6g %14.6g %14.6g %4zu\n", rep->name, rep->metric->unit,
		       median, rep->values[0], rep->values[rep->n - 1], rep->n);
	}
	json_array_foreach(run->lines, i, line)
	{
		if (!strcmp(js_str_or(line, "type", ""), "missing"))
			printf("%-24s %-8s %14s (%s)\n", js_str_or(line, "name", ""), "", "-",
			       js_str_or(line, "reason", ""));
		else if (!strcmp(js_str_or(line, "type", ""), "counter"))
			printf("%-24s %-8s %14lld\n", js_str_or(line, "name", ""), "counter",
			       (long long)js_i64_or(line, "value", 0));
	}
	printf("%llu operations by %u threads in %.3f s\n", (unsigned long long)run->operations,
	       run->threads, run->seconds);
}

bool bench_run_execute(struct bench_run *run, struct err *err)
{
	if (run->bench->settle && !run->bench->settle(run, err))
		return false;
	if (!run->bench->run(run, err))
		return false;
	if (run->mode == BENCH_HUMAN)
		print_human(run);
	else
		print_json(run);
	return true;
}

static const char *const type_names[] = {
	[BENCH_INT] = "int",	 [BENCH_BYTES] = "bytes", [BENCH_SECONDS] = "seconds",
	[BENCH_FLOAT] = "float", [BENCH_TEXT] = "text",
};

static json_t *describe_params(const struct bench *bench)
{
	json_t *list = json_array();

	for (const struct bench_param *p = bench->params; p->name; p++) {
		json_t *entry = json_object();

		js_set_str(entry, "name", p->name);
		js_set_str(entry, "type", type_names[p->type]);
		js_set_str(entry, "default", p->fallback);
		js_set_str(entry, "unit", p->unit);
		js_set_str(entry, "help", p->help);
		js_set_str(entry, "choices", p->choices);
		if (p->least || p->most) {
			js_set_i64(entry, "least", p->least);
			js_set_i64(entry, "most", p->most);
		}
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *describe_metrics(const struct bench *bench)
{
	json_t *list = json_array();

	for (const struct bench_metric *m = bench->metrics; m->name; m++) {
		json_t *entry = json_object();

		js_set_str(entry, "name", m->name);
		js_set_str(entry, "unit", m->unit);
		js_set_str(entry, "direction", bench_direction_word(m->direction));
		js_set_bool(entry, "primary", m->primary);
		js_set_bool(entry, "family", m->family);
		js_set_f64(entry, "floor", m->floor);
		js_set_bool(entry, "real_cpus", bench_wants_real_cpus(bench, m));
		js_set_str(entry, "help", m->help);
		json_array_append_new(list, entry);
	}
	return list;
}

json_t *bench_describe(const struct bench *bench)
{
	json_t *out = json_object();
	json_t *presets = json_array();

	for (const struct bench_preset *p = bench->presets; p && p->name; p++) {
		json_t *entry = json_object();

		js_set_str(entry, "name", p->name);
		js_set_str(entry, "values", p->values);
		js_set_str(entry, "help", p->help);
		json_array_append_new(presets, entry);
	}
	js_set_str(out, "name", bench->name);
	js_set_i64(out, "version", bench->version);
	js_set_str(out, "about", bench->about);
	js_set_new(out, "params", describe_params(bench));
	js_set_new(out, "metrics", describe_metrics(bench));
	js_set_new(out, "presets", presets);
	return out;
}
