// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading agent lines. */
#include "runner/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/js.h"

#define MAX_LINE      ((size_t)4 << 20)
#define MAX_STREAM    ((size_t)256 << 20)
#define MAX_NAME      100
#define MAX_REASON    1000
#define MAX_RUNS      10000
#define MAX_METRICS   20000
#define MAX_VALUES    ((size_t)1 << 20)
#define MAX_BUCKETS   64
#define MAX_COUNTERS  10000
#define MAX_LOCKS     10000
#define MAX_STACKS    10000
#define MAX_STACK     8192 /* 127 frames of 64 characters */
#define QUOTED_LENGTH 120

struct collect {
	char *nonce;
	struct str line; /* unfinished */
	size_t total;
	struct result result;
	bool greeted;
	bool ended;
	bool failed;
	struct err failure;
	struct str last_log;
};

struct collect *collect_new(const char *nonce)
{
	struct collect *c = xcalloc(1, sizeof(*c));

	c->nonce = xstrdup(nonce);
	c->line = str_new();
	c->last_log = str_new();
	return c;
}

void collect_free(struct collect *c)
{
	if (!c)
		return;
	free(c->nonce);
	str_release(&c->line);
	str_release(&c->last_log);
	result_release(&c->result);
	free(c);
}

void collect_free_ptr(struct collect **c)
{
	collect_free(*c);
}

bool collect_greeted(const struct collect *c)
{
	return c->greeted;
}

bool collect_ended(const struct collect *c)
{
	return c->ended;
}

struct result *collect_result(struct collect *c)
{
	struct result *r = &c->result;

	/* What broke off may be half filled. */
	if (r->runs.n && !r->runs.v[r->runs.n - 1].outcome)
		result_drop_run(r);
	return r;
}

const char *collect_build_id(const struct collect *c)
{
	return c->result.build_id;
}

const char *collect_boot_uuid(const struct collect *c)
{
	return c->result.boot_uuid;
}

const char *collect_last_log(const struct collect *c)
{
	return c->last_log.s;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_.:-");

	return n && !s[n] && n <= MAX_NAME;
}

static bool get_name(const json_t *o, const char *key, char **out, struct err *err)
{
	const char *s;

	if (!js_get_str(o, key, &s, err))
		return false;
	if (!is_name(s))
		return err_set(err, ERR_FAILED, "\"%s\" is no name", key);
	*out = xstrdup(s);
	return true;
}

/* Places in code: symbols with offsets and blanks, so wider than a name. */
static bool get_site(const json_t *o, const char *key, char **out, struct err *err)
{
	const char *s;

	if (!js_get_str(o, key, &s, err))
		return false;
	if (!*s || strlen(s) > MAX_NAME)
		return err_set(err, ERR_FAILED, "\"%s\" is empty or too long", key);
	for (const char *p = s; *p; p++)
		if (*p < ' ' || *p > '~')
			return err_set(err, ERR_FAILED, "\"%s\" is not plain text", key);
	*out = xstrdup(s);
	return true;
}

static bool get_choice(const json_t *o, const char *key, const char *const *choices, char **out,
		       struct err *err)
{
	const char *s;

	if (!js_get_str(o, key, &s, err))
		return false;
	for (; *choices; choices++) {
		if (!strcmp(s, *choices)) {
			*out = xstrdup(s);
			return true;
		}
	}
	return err_set(err, ERR_FAILED, "\"%s\" has an unknown value", key);
}

static bool get_count(const json_t *o, const char *key, int64_t *out, struct err *err)
{
	if (!js_get_i64(o, key, out, err))
		return false;
	return *out >= 0 || err_set(err, ERR_FAILED, "\"%s\" is negative", key);
}

/* -1 when the key is absent. */
static bool get_count_or_none(const json_t *o, const char *key, int64_t *out, struct err *err)
{
	*out = -1;
	return !json_object_get(o, key) || get_count(o, key, out, err);
}

static bool get_small(const json_t *o, const char *key, int *out, struct err *err)
{
	int64_t v;

	if (!get_count(o, key, &v, err))
		return false;
	if (v > INT32_MAX)
		return err_set(err, ERR_FAILED, "\"%s\" is too large", key);
	*out = (int)v;
	return true;
}

static bool get_hex(const json_t *o, const char *key, const char *alphabet, size_t least,
		    size_t most, char **out, struct err *err)
{
	const char *s;
	size_t n;

	if (!js_get_str(o, key, &s, err))
		return false;
	n = strspn(s, alphabet);
	if (s[n] || n < least || n > most)
		return err_set(err, ERR_FAILED, "\"%s\" is malformed", key);
	*out = xstrdup(s);
	return true;
}

/* Absent or null is NULL; long text is cut. */
static char *get_reason(const json_t *o)
{
	const char *s = js_str_or(o, "reason", NULL);
	AUTO_STR text = str_new();

	if (!s || !*s)
		return NULL;
	str_add_utf8(&text, s, strnlen(s, MAX_REASON));
	return str_take(&text);
}

static bool get_counts(const json_t *o, const char *key, int64_t **out, size_t *n, struct err *err)
{
	AUTO_FREE int64_t *v = NULL;
	json_t *list;

	if (!js_get_array(o, key, &list, err))
		return false;
	if (json_array_size(list) > MAX_BUCKETS)
		return err_set(err, ERR_FAILED, "\"%s\" is too long", key);
	*n = json_array_size(list);
	v = xcalloc(*n, sizeof(*v));
	for (size_t i = 0; i < *n; i++) {
		json_t *item = json_array_get(list, i);

		if (!json_is_integer(item) || json_integer_value(item) < 0)
			return err_set(err, ERR_FAILED, "\"%s\" is no list of counts", key);
		v[i] = json_integer_value(item);
	}
	*out = TAKE(v);
	return true;
}

static bool on_hello(struct collect *c, const json_t *o, struct err *err)
{
	const char *nonce;
	int64_t v;

	if (!js_get_i64(o, "v", &v, err) || !js_get_str(o, "nonce", &nonce, err))
		return false;
	if (v != 1)
		return err_set(err, ERR_FAILED, "the agent speaks another protocol version");
	if (strcmp(nonce, c->nonce) != 0)
		return err_set(err, ERR_FAILED, "the agent answers another job");
	if (!get_hex(o, "boot_id", "0123456789abcdef-", 36, 36, &c->result.boot_uuid, err) ||
	    !get_hex(o, "build_id", "0123456789abcdef", 0, 128, &c->result.build_id, err))
		return false;
	c->greeted = true;
	return true;
}

static bool on_environment(struct collect *c, const json_t *o, struct err *err)
{
	char hash[HASH_HEX_SIZE];
	json_t *facts;

	if (c->result.environment)
		return err_set(err, ERR_FAILED, "a second environment");
	if (!js_get_object(o, "facts", &facts, err))
		return false;
	c->result.environment = js_text(facts);
	hash_of(c->result.environment, strlen(c->result.environment), hash);
	c->result.environment_hash = xstrdup(hash);
	return true;
}

static bool on_state(struct collect *c, const json_t *o, struct err *err)
{
	json_t *facts;

	if (c->result.facts)
		return err_set(err, ERR_FAILED, "a second state");
	if (!js_get_object(o, "facts", &facts, err))
		return false;
	c->result.facts = js_text(facts);
	return true;
}

static bool on_run(struct collect *c, const json_t *o, struct err *err)
{
	static const char *const passes[] = {"clean", "instrumented", "profiled", NULL};
	struct result *r = &c->result;
	char hash[HASH_HEX_SIZE];
	struct result_run *run;
	json_t *params;
	int seq = 0;

	if (!r->environment)
		return err_set(err, ERR_FAILED, "a run before the environment");
	if (r->runs.n && !r->runs.v[r->runs.n - 1].outcome)
		return err_set(err, ERR_FAILED, "a run inside another");
	if (!get_small(o, "seq", &seq, err) || !js_get_object(o, "params", &params, err))
		return false;
	if ((size_t)seq != r->runs.n || seq >= MAX_RUNS)
		return err_set(err, ERR_FAILED, "\"seq\" is out of order");
	run = array_push(r->runs.v, r->runs.n, r->runs.cap);
	run->seq = seq;
	run->params = js_text(params);
	hash_of(run->params, strlen(run->params), hash);
	run->params_hash = xstrdup(hash);
	return get_name(o, "benchmark", &run->benchmark, err) &&
	       get_small(o, "version", &run->version, err) &&
	       get_choice(o, "pass", passes, &run->pass, err);
}

/* The run that is going on, and that the line says it belongs to. */
static struct result_run *open_run(struct collect *c, const json_t *o, struct err *err)
{
	struct result *r = &c->result;
	int64_t seq;

	if (!js_get_i64(o, "seq", &seq, err))
		return NULL;
	if (!r->runs.n || r->runs.v[r->runs.n - 1].outcome || seq != (int64_t)r->runs.n - 1) {
		err_set(err, ERR_FAILED, "\"seq\" is no run that is going on");
		return NULL;
	}
	return &r->runs.v[r->runs.n - 1];
}

static bool get_values(const json_t *o, struct result_metric *m, struct err *err)
{
	json_t *list;

	if (!js_get_array(o, "values", &list, err))
		return false;
	if (!json_array_size(list) || json_array_size(list) > MAX_VALUES)
		return err_set(err, ERR_FAILED, "\"values\" is empty or too long");
	m->values = xcalloc(json_array_size(list), sizeof(*m->values));
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);

		if (!json_is_number(item) || !isfinite(json_number_value(item)))
			return err_set(err, ERR_FAILED, "\"values\" holds what is no number");
		m->values[m->n++] = json_number_value(item);
	}
	return true;
}

static const char *const units[] = {"ns", "bytes", "count", "count/s", "cycles", "ratio", NULL};

static bool on_metric(struct result_run *run, const json_t *o, struct err *err)
{
	static const char *const directions[] = {"lower", "higher", "none", NULL};
	struct result_metric *m;

	if (run->metrics.n >= MAX_METRICS)
		return err_set(err, ERR_FAILED, "too many metrics");
	m = array_push(run->metrics.v, run->metrics.n, run->metrics.cap);
	m->floor = js_f64_or(o, "floor", 0);
	m->real_cpus = js_bool_or(o, "real_cpus", false);
	if (!get_name(o, "name", &m->name, err) || !get_choice(o, "unit", units, &m->unit, err) ||
	    !get_choice(o, "direction", directions, &m->direction, err) || !get_values(o, m, err))
		return false;
	if (m->floor < 0 || !isfinite(m->floor))
		return err_set(err, ERR_FAILED, "\"floor\" is negative");
	return true;
}

static bool on_missing(struct result_run *run, const json_t *o, struct err *err)
{
	struct result_counter *counter;

	if (run->counters.n >= MAX_COUNTERS)
		return err_set(err, ERR_FAILED, "too many counters");
	counter = array_push(run->counters.v, run->counters.n, run->counters.cap);
	counter->reason = get_reason(o);
	if (!counter->reason)
		counter->reason = xstrdup("no reason given");
	return get_name(o, "name", &counter->name, err);
}

static bool on_counter(struct result_run *run, const json_t *o, struct err *err)
{
	struct result_counter *counter;

	if (run->counters.n >= MAX_COUNTERS)
		return err_set(err, ERR_FAILED, "too many counters");
	counter = array_push(run->counters.v, run->counters.n, run->counters.cap);
	return get_name(o, "name", &counter->name, err) &&
	       js_get_i64(o, "value", &counter->value, err);
}

static bool on_histogram(struct result_run *run, const json_t *o, struct err *err)
{
	struct result_histogram *h;

	if (run->histograms.n >= MAX_COUNTERS)
		return err_set(err, ERR_FAILED, "too many histograms");
	h = array_push(run->histograms.v, run->histograms.n, run->histograms.cap);
	return get_name(o, "name", &h->name, err) && get_choice(o, "unit", units, &h->unit, err) &&
	       get_counts(o, "buckets", &h->buckets, &h->n, err);
}

static bool on_lock(struct result_run *run, const json_t *o, struct err *err)
{
	struct result_lock *l;

	if (run->locks.n >= MAX_LOCKS)
		return err_set(err, ERR_FAILED, "too many locks");
	l = array_push(run->locks.v, run->locks.n, run->locks.cap);
	return get_site(o, "class", &l->class_name, err) && get_site(o, "site", &l->site, err) &&
	       get_count(o, "count", &l->count, err) && get_count(o, "wait_ns", &l->wait_ns, err) &&
	       get_count(o, "max_ns", &l->max_ns, err) &&
	       get_counts(o, "hist", &l->hist, &l->n, err) &&
	       get_count_or_none(o, "hold_count", &l->hold_count, err) &&
	       get_count_or_none(o, "hold_ns", &l->hold_ns, err) &&
	       get_count_or_none(o, "hold_max_ns", &l->hold_max_ns, err);
}

static bool on_lock_health(struct result_run *run, const json_t *o, struct err *err)
{
	struct result_lock_health *h = &run->health;

	if (h->present)
		return err_set(err, ERR_FAILED, "a second lock health");
	h->present = true;
	h->reason = get_reason(o);
	return js_get_bool(o, "measurable", &h->measurable, err) &&
	       get_count(o, "begins", &h->begins, err) && get_count(o, "ends", &h->ends, err) &&
	       get_count(o, "lost", &h->lost, err) &&
	       get_count(o, "stack_failures", &h->stack_failures, err) &&
	       get_count(o, "map_full", &h->map_full, err) &&
	       get_count(o, "recursion_misses", &h->recursion_misses, err) &&
	       get_count_or_none(o, "wait_ns", &h->wait_ns, err) &&
	       get_count_or_none(o, "unmatched_ns", &h->unmatched_ns, err);
}

/* "outermost;...;innermost" of symbols. */
static bool is_stack(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	return n && n <= MAX_STACK;
}

static bool on_profile(struct result_run *run, const json_t *o, struct err *err)
{
	static const char *const sources[] = {"cycles", "cpu-clock", NULL};
	struct result_profile *p = &run->profile;
	json_t *stacks, *count;
	const char *stack;

	if (p->source)
		return err_set(err, ERR_FAILED, "a second profile");
	if (!js_get_object(o, "stacks", &stacks, err))
		return false;
	if (json_object_size(stacks) > MAX_STACKS)
		return err_set(err, ERR_FAILED, "too many stacks");
	json_object_foreach(stacks, stack, count)
	{
		if (!is_stack(stack) || !json_is_integer(count) || json_integer_value(count) < 0)
			return err_set(err, ERR_FAILED, "\"stacks\" holds what is no stack");
	}
	p->stacks = js_text(stacks);
	return get_count(o, "samples", &p->samples, err) && get_count(o, "lost", &p->lost, err) &&
	       get_choice(o, "source", sources, &p->source, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names[i] are borrowed and get sorted. */
static bool no_doubles(const char **names, size_t n, struct err *err)
{
	if (n < 2)
		return true;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(names[i - 1], names[i]))
			return err_set(err, ERR_FAILED, "\"%s\" came twice in one run", names[i]);
	return true;
}

#define CHECK_DOUBLES(list, field, err)                                           \
	__extension__({                                                           \
		AUTO_FREE const char **names = xcalloc((list).n, sizeof(*names)); \
		for (size_t i_ = 0; i_ < (list).n; i_++)                          \
			names[i_] = (list).v[i_].field;                           \
		no_doubles(names, (list).n, err);                                 \
	})

static bool no_double_locks(const struct result_run *run, struct err *err)
{
	AUTO_STRS sites = STRS_INIT;

	for (size_t i = 0; i < run->locks.n; i++)
		strs_pushf(&sites, "%s at %s", run->locks.v[i].class_name, run->locks.v[i].site);
	return no_doubles((const char **)sites.v, sites.n, err);
}

static bool on_run_end(struct result_run *run, const json_t *o, struct err *err)
{
	static const char *const outcomes[] = {"ok", "failed", NULL};

	if (!CHECK_DOUBLES(run->metrics, name, err) || !CHECK_DOUBLES(run->counters, name, err) ||
	    !CHECK_DOUBLES(run->histograms, name, err) || !no_double_locks(run, err))
		return false;
	run->seconds = js_f64_or(o, "seconds", 0);
	run->reason = get_reason(o);
	if (js_i64_or(o, "operations", 0) > 0)
		run->operations = js_i64_or(o, "operations", 0);
	if (json_object_get(o, "threads") && !get_small(o, "threads", &run->threads, err))
		return false;
	if (!isfinite(run->seconds))
		run->seconds = 0;
	return get_choice(o, "outcome", outcomes, &run->outcome, err);
}

static bool on_log(struct collect *c, const json_t *o, struct err *err)
{
	const char *text;

	if (!js_get_str(o, "text", &text, err))
		return false;
	str_clear(&c->last_log);
	str_add_utf8(&c->last_log, text, strnlen(text, MAX_REASON));
	return true;
}

static bool on_end(struct collect *c, const json_t *o, struct err *err)
{
	const char *nonce, *boot_id;

	if (c->result.runs.n && !c->result.runs.v[c->result.runs.n - 1].outcome)
		return err_set(err, ERR_FAILED, "an end inside a run");
	if (!js_get_str(o, "nonce", &nonce, err) || !js_get_str(o, "boot_id", &boot_id, err) ||
	    !js_get_bool(o, "clocksource_changed", &c->result.clocksource_changed, err))
		return false;
	if (strcmp(nonce, c->nonce) != 0)
		return err_set(err, ERR_FAILED, "the agent answers another job");
	if (strcmp(boot_id, c->result.boot_uuid) != 0)
		return err_set(err, ERR_FAILED, "the machine was started anew in between");
	c->ended = true;
	return true;
}

/* A line stands by itself, or belongs to the run that is going on. */
static const struct {
	const char *type;
	bool (*on)(struct collect *c, const json_t *o, struct err *err);
	bool (*in_run)(struct result_run *run, const json_t *o, struct err *err);
} line_types[] = {
	{"counter", .in_run = on_counter},	   {"end", .on = on_end},
	{"environment", .on = on_environment},	   {"hello", .on = on_hello},
	{"histogram", .in_run = on_histogram},	   {"lock", .in_run = on_lock},
	{"lock_health", .in_run = on_lock_health}, {"log", .on = on_log},
	{"metric", .in_run = on_metric},	   {"missing", .in_run = on_missing},
	{"profile", .in_run = on_profile},	   {"run", .on = on_run},
	{"run_end", .in_run = on_run_end},	   {"state", .on = on_state},
};

static bool take_type(struct collect *c, const char *type, const json_t *o, struct err *err)
{
	struct result_run *run;

	for (size_t i = 0; i < ARRAY_SIZE(line_types); i++) {
		if (strcmp(type, line_types[i].type) != 0)
			continue;
		if (line_types[i].on)
			return line_types[i].on(c, o, err);
		run = open_run(c, o, err);
		return run && line_types[i].in_run(run, o, err);
	}
	return err_set(err, ERR_FAILED, "unknown type of line");
}

static bool dispatch(struct collect *c, const char *line, size_t n, struct err *err)
{
	AUTO_JSON *o = NULL;
	const char *type;

	if (!js_parse(line, n, &o, err) || !js_get_str(o, "type", &type, err))
		return false;
	if (c->ended)
		return err_set(err, ERR_FAILED, "a line after the end");
	if (c->greeted == !strcmp(type, "hello") && strcmp(type, "log") != 0)
		return err_set(err, ERR_FAILED,
			       c->greeted ? "a second hello" : "a line before the hello");
	return take_type(c, type, o, err);
}

/* The parser's own message may quote the line, too: all of it becomes plain text. */
static bool take_line(struct collect *c, const char *line, size_t n, struct err *err)
{
	AUTO_STR quoted = str_new();
	struct err inner;

	if (!n || dispatch(c, line, n, &inner))
		return true;
	str_add_utf8(&quoted, inner.msg, strlen(inner.msg));
	str_add(&quoted, ": ");
	str_add_utf8(&quoted, line, n < QUOTED_LENGTH ? n : QUOTED_LENGTH);
	for (char *p = quoted.s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return err_set(err, ERR_FAILED, "agent line: %s", quoted.s);
}

static bool feed(struct collect *c, const char *data, size_t n, struct err *err)
{
	c->total += n;
	if (c->total > MAX_STREAM)
		return err_set(err, ERR_FAILED, "agent: it sent more than %zu MiB",
			       MAX_STREAM >> 20);
	while (n) {
		const char *nl = memchr(data, '\n', n);
		size_t piece = nl ? (size_t)(nl - data) : n;

		if (c->line.len + piece > MAX_LINE)
			return err_set(err, ERR_FAILED, "agent: a line is longer than %zu MiB",
				       MAX_LINE >> 20);
		str_addn(&c->line, data, piece);
		if (!nl)
			return true;
		if (!take_line(c, c->line.s, c->line.len, err))
			return false;
		str_clear(&c->line);
		data += piece + 1;
		n -= piece + 1;
	}
	return true;
}

bool collect_feed(struct collect *c, const char *data, size_t n, struct err *err)
{
	if (!c->failed)
		c->failed = !feed(c, data, n, &c->failure);
	if (c->failed)
		*err = c->failure;
	return !c->failed;
}
