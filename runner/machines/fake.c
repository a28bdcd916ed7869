// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines without hardware, for tests: everything around a boot is real, the numbers come from the
 * image. The "kernel" is a text file; each line is one of
 *
 *	metric NAME UNIT DIRECTION LEVEL SD	level in UNIT, SD of its logarithm from boot to boot
 *	panic | oops | hang | no-boot | wrong-kernel | garbage
 *	dead | dies		it panics and stays, before hello or while it measures
 *
 * lock.* metrics appear in instrumented passes, all others in clean ones. The machine's `script`
 * (a settings key; may be unset) holds lines
 *
 *	seed N			of all noise (default 1)
 *	iterations N		values of each metric (default 5); they scatter by SD / 3
 *	outliers P SHIFT	a boot is off by SHIFT (in logarithms) with probability P
 *	fail-every K		each K-th attempt is a failure of the machine
 *	shift SHIFT		the machine itself is off by SHIFT (in logarithms)
 *	boot-s S		time that a boot takes (default 0)
 */
#include "runner/machines/drivers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"

#define MAX_TEXT ((size_t)1 << 20)

struct fake_metric {
	char *name, *unit, *direction;
	double level, sd;
};

struct fake {
	struct fake_metric *metrics;
	size_t n, cap;
	char fate[16]; /* panic, ...; empty: none */
	double seed, iterations, outlier_p, outlier_shift, shift, fail_every, boot_s;
	uint64_t random;
};

static void fake_release(struct fake *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->metrics[i].name);
		free(f->metrics[i].unit);
		free(f->metrics[i].direction);
	}
	free(f->metrics);
}

/* splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t next_random(struct fake *f)
{
	uint64_t z = f->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double uniform(struct fake *f)
{
	return ((double)(next_random(f) >> 11) + 0.5) * 0x1p-53;
}

/* Box-Muller. */
static double normal(struct fake *f)
{
	double radius = sqrt(-2 * log(uniform(f)));

	return radius * cos(2 * M_PI * uniform(f));
}

static bool parse_metric(struct fake *f, const struct strs *words)
{
	struct fake_metric *m;
	double level, sd;

	if (words->n != 6 || !str_to_f64(words->v[4], &level) || !str_to_f64(words->v[5], &sd) ||
	    level <= 0 || sd < 0)
		return false;
	m = array_push(f->metrics, f->n, f->cap);
	m->name = xstrdup(words->v[1]);
	m->unit = xstrdup(words->v[2]);
	m->direction = xstrdup(words->v[3]);
	m->level = level;
	m->sd = sd;
	return true;
}

static bool parse_image_line(struct fake *f, const struct strs *words)
{
	static const char *const fates[] = {"panic",	    "oops",    "hang", "no-boot",
					    "wrong-kernel", "garbage", "dead", "dies"};

	if (!strcmp(words->v[0], "metric"))
		return parse_metric(f, words);
	for (size_t i = 0; i < ARRAY_SIZE(fates); i++) {
		if (!strcmp(words->v[0], fates[i])) {
			snprintf(f->fate, sizeof(f->fate), "%s", fates[i]);
			return true;
		}
	}
	return false;
}

static bool parse_script_line(struct fake *f, const struct strs *words)
{
	const struct {
		const char *word;
		double *first, *second;
	} table[] = {
		{"seed", &f->seed, NULL},
		{"iterations", &f->iterations, NULL},
		{"outliers", &f->outlier_p, &f->outlier_shift},
		{"fail-every", &f->fail_every, NULL},
		{"boot-s", &f->boot_s, NULL},
		{"shift", &f->shift, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(words->v[0], table[i].word))
			return words->n == (table[i].second ? 3u : 2u) &&
			       str_to_f64(words->v[1], table[i].first) &&
			       (!table[i].second || str_to_f64(words->v[2], table[i].second));
	return false;
}

static bool parse(struct fake *f, const char *path,
		  bool (*line)(struct fake *f, const struct strs *words), struct err *err)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_STR text = str_new();

	if (!fs_read(path, MAX_TEXT, &text, err))
		return false;
	strs_split(&lines, text.s, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		AUTO_STRS words = STRS_INIT;

		lines.v[i][strcspn(lines.v[i], "#")] = '\0';
		strs_split(&words, lines.v[i], " \t\r");
		if (words.n && !line(f, &words))
			return err_set(err, ERR_FAILED, "%s: line %zu is not understood", path,
				       i + 1);
	}
	return true;
}

static bool read_all(struct machine *m, struct fake *f, struct err *err)
{
	const char *script = machine_str(m, "script");

	*f = (struct fake){.seed = 1, .iterations = 5};
	if (m->kernel && !parse(f, m->kernel, parse_image_line, err))
		return false;
	if (script && !parse(f, script, parse_script_line, err))
		return false;
	f->random = (uint64_t)f->seed * UINT64_C(1000003) + (uint64_t)m->worker->lease.token;
	next_random(f);
	return true;
}

static const char *fake_method(const struct machine *m _unused)
{
	return "direct";
}

static bool append(const char *path, const char *text, struct err *err)
{
	CLEANUP(mem_fclose_ptr) FILE *file = fopen(path, "ae");

	if (!file || fputs(text, file) < 0 || fflush(file))
		return err_sys(err, "cannot write %s", path);
	return true;
}

static bool fake_load(struct machine *m, struct err *err)
{
	CLEANUP(fake_release) struct fake f = {0};

	if (!read_all(m, &f, err))
		return false;
	if (f.fail_every >= 1 && m->worker->lease.token % (int64_t)f.fail_every == 0)
		return err_set(err, ERR_FAILED, "the machine failed, as its script wants");
	return true;
}

#define PANIC "[    0.1] Kernel panic - not syncing: VFS: no root\n"

static const struct {
	const char *fate;
	const char *console;
	bool stays; /* the machine does not go down */
	bool greets;
} fates[] = {
	{"panic", PANIC, false, false},
	{"dead", PANIC, true, false},
	{"dies", "[    0.1] up\n", true, true},
	{"oops", "[    0.1] BUG: unable to handle page fault for address: 0\n", false, false},
	{"hang", "[    0.1] mmperf: the last line\n", true, false},
	{"no-boot", "", false, false},
	{"wrong-kernel", "[    0.1] up\n", true, true},
	{"garbage", "[    0.1] up\n", true, true},
	{"", "[    0.1] up\n", true, true},
};

static char *hello_text(const struct machine *m, bool wrong)
{
	const char *build_id = wrong ? "00" : m->build_id ? m->build_id : "";
	AUTO_STR uuid = str_new();
	struct err ignored;

	if (!fs_read("/proc/sys/kernel/random/uuid", 64, &uuid, &ignored))
		str_add(&uuid, "00000000-0000-0000-0000-000000000000");
	uuid.s[36] = '\0';
	return xasprintf("{\"type\":\"hello\",\"v\":1,\"nonce\":\"%s\",\"agent\":\"fake\","
			 "\"boot_id\":\"%s\",\"build_id\":\"%s\",\"release\":\"fake\","
			 "\"uptime_s\":0.1}\n",
			 m->nonce, uuid.s, build_id);
}

static bool fake_start(struct machine *m, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	CLEANUP(fake_release) struct fake f = {0};
	size_t i = 0;

	if (!read_all(m, &f, err))
		return false;
	while (strcmp(fates[i].fate, f.fate) != 0)
		i++;
	m->started_s = clock_mono_s();
	clock_sleep_s(f.boot_s);
	strs_pushl(&spec.argv, "sleep", fates[i].stays ? "1000000" : "0", NULL);
	if (!append(m->console_path, fates[i].console, err) || !proc_start(&spec, &m->proc, err))
		return false;
	if (fates[i].greets) {
		AUTO_FREE char *hello = hello_text(m, !strcmp(f.fate, "wrong-kernel"));

		if (!append(m->lines_path, hello, err))
			return false;
	}
	return machine_follow(
		m, MACHINE_HELLO,
		conf_f64(m->worker->settings->conf, "machine", m->name, "boot-timeout"), NULL, err);
}

static bool fake_confirm(struct machine *m, struct err *err)
{
	return machine_confirm(m, true, err);
}

static void line(struct str *out, json_t *o)
{
	AUTO_JSON *owned = o;
	AUTO_FREE char *text = js_text(owned);

	str_addf(out, "%s\n", text);
}

static json_t *typed(const char *type, int64_t seq)
{
	json_t *o = json_object();

	js_set_str(o, "type", type);
	if (seq >= 0)
		js_set_i64(o, "seq", seq);
	return o;
}

/* A lock behind lock.CLASS.wait_per_op, so that reports have a table to show. */
static void lock_line(struct str *out, int64_t seq, const char *metric, double value)
{
	json_t *o = typed("lock", seq);
	const char *class_name = metric + strlen("lock.");
	AUTO_FREE char *word = xstrndup(class_name, strcspn(class_name, "."));

	js_set_str(o, "class", word);
	js_set_str(o, "site", "fake_site");
	js_set_i64(o, "count", 1000);
	js_set_i64(o, "wait_ns", (int64_t)(value * 1000));
	js_set_i64(o, "max_ns", (int64_t)(value * 10));
	js_set_new(o, "hist", json_array());
	line(out, o);
}

static void metric_line(struct str *out, struct fake *f, int64_t seq, const struct fake_metric *fm)
{
	double outlier = uniform(f) < f->outlier_p ? f->outlier_shift : 0;
	double boot = fm->level * exp(normal(f) * fm->sd + outlier + f->shift);
	json_t *o = typed("metric", seq), *values = json_array();

	for (int i = 0; i < (int)f->iterations; i++)
		json_array_append_new(values, json_real(boot * exp(normal(f) * fm->sd / 3)));
	js_set_str(o, "name", fm->name);
	js_set_str(o, "unit", fm->unit);
	js_set_str(o, "direction", fm->direction);
	js_set_bool(o, "primary", true);
	js_set_f64(o, "floor", 0);
	js_set_new(o, "values", values);
	line(out, o);
	if (str_starts(fm->name, "lock.") && str_ends(fm->name, ".wait_per_op"))
		lock_line(out, seq, fm->name, boot);
}

static void health_line(struct str *out, int64_t seq)
{
	static const char *const counts[] = {"begins",	       "ends",	   "lost",
					     "stack_failures", "map_full", "recursion_misses"};
	json_t *o = typed("lock_health", seq);

	js_set_bool(o, "measurable", true);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		js_set_i64(o, counts[i], i < 2 ? 1000 : 0);
	line(out, o);
}

static void run_lines(struct str *out, struct fake *f, int64_t seq, const json_t *suite,
		      const char *pass)
{
	bool instrumented = !strcmp(pass, "instrumented");
	json_t *o = typed("run", seq);

	js_set_str(o, "suite", js_str_or(suite, "suite", ""));
	js_set_str(o, "benchmark", js_str_or(suite, "benchmark", ""));
	js_set_i64(o, "version", 1);
	js_set_new(o, "params", json_deep_copy(json_object_get(suite, "params")));
	js_set_str(o, "pass", pass);
	line(out, o);
	for (size_t i = 0; i < f->n; i++)
		if (str_starts(f->metrics[i].name, "lock.") == instrumented)
			metric_line(out, f, seq, &f->metrics[i]);
	if (instrumented)
		health_line(out, seq);
	o = typed("run_end", seq);
	js_set_str(o, "outcome", "ok");
	js_set_i64(o, "operations", 1000);
	js_set_i64(o, "threads", 4);
	js_set_f64(o, "seconds", 0.1);
	line(out, o);
}

static void all_lines(struct str *out, struct machine *m, struct fake *f, const json_t *job)
{
	static const char *const passes[] = {"clean", "instrumented"};
	json_t *suites = json_object_get(job, "suites"), *o;
	int64_t seq = 0;

	str_add(out, "{\"type\":\"environment\",\"facts\":{\"cpu\":\"fake\"}}\n"
		     "{\"type\":\"state\",\"facts\":{}}\n");
	for (size_t p = 0; p < ARRAY_SIZE(passes); p++) {
		for (size_t i = 0; i < json_array_size(suites); i++) {
			const json_t *suite = json_array_get(suites, i);
			json_t *wanted = json_object_get(suite, "passes");

			for (size_t k = 0; k < json_array_size(wanted); k++)
				if (!strcmp(json_string_value(json_array_get(wanted, k)),
					    passes[p]))
					run_lines(out, f, seq++, suite, passes[p]);
		}
	}
	o = typed("end", -1);
	js_set_str(o, "nonce", m->nonce);
	js_set_str(o, "boot_id", collect_boot_uuid(m->collect));
	js_set_bool(o, "clocksource_changed", false);
	line(out, o);
}

static bool fake_run(struct machine *m, struct err *err)
{
	CLEANUP(fake_release) struct fake f = {0};
	AUTO_STR text = str_new();
	AUTO_JSON *job = NULL;

	if (!read_all(m, &f, err) || !js_parse(m->job_text, strlen(m->job_text), &job, err))
		return false;
	if (!strcmp(f.fate, "dies")) {
		if (!append(m->console_path, PANIC, err))
			return false;
	} else if (!strcmp(f.fate, "garbage")) {
		str_add(&text, "{\"type\":\"metric\",\"seq\":7}\n");
	} else {
		all_lines(&text, m, &f, job);
	}
	return append(m->lines_path, text.s, err) &&
	       machine_follow(
		       m, MACHINE_END,
		       conf_f64(m->worker->settings->conf, "machine", m->name, "run-timeout"), NULL,
		       err);
}

static bool fake_collect(struct machine *m, struct err *err _unused)
{
	machine_stop(m);
	return true;
}

static bool fake_recover(struct machine *m, struct err *err _unused)
{
	machine_stop(m);
	return true;
}

static int fake_cpus(const struct settings *settings _unused, const char *name _unused)
{
	return 0;
}

static bool fake_emulated(const struct settings *settings _unused, const char *name _unused)
{
	return true;
}

const struct machine_driver machine_fake = {
	.name = "fake",
	.method = fake_method,
	.load = fake_load,
	.start = fake_start,
	.confirm = fake_confirm,
	.run = fake_run,
	.collect = fake_collect,
	.recover = fake_recover,
	.cpus = fake_cpus,
	.emulated = fake_emulated,
};
