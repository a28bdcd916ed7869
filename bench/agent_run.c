// SPDX-License-Identifier: GPL-2.0-or-later
/* One run. */
#include "bench/agent_run.h"

#include <string.h>

#include "bench/agent_child.h"
#include "bench/agent_knobs.h"
#include "bench/agent_locks.h"
#include "bench/bench_run.h"
#include "bench/benchmarks.h"
#include "bench/counters.h"
#include "bench/knob_journal.h"
#include "bench/lockwatch.h"
#include "bench/profile.h"

#define TIMEOUT_S   600
#define STACKS_TOLD 3000
#define REHEARSAL   (-1) /* in place of a run's number */

const char *const agent_pass_names[AGENT_PASSES] = {
	[AGENT_CLEAN] = "clean",
	[AGENT_INSTRUMENTED] = "instrumented",
	[AGENT_PROFILED] = "profiled",
};

struct run {
	struct agent *agent;
	int64_t seq;
	enum agent_pass pass;
	struct lockwatch *watch;
	struct profile *profile;
	json_t *done;
};

static void say(void *arg, json_t *line)
{
	const struct run *run = arg;

	if (strcmp(js_str_or(line, "type", ""), "log") != 0)
		js_set_i64(line, "seq", run->seq);
	agent_say(run->agent, line);
}

static void take_line(void *arg, json_t *line)
{
	const struct run *run = arg;

	/* Timings taken under instruments are kept for comparison, and never judged. */
	if (run->pass != AGENT_CLEAN && !strcmp(js_str_or(line, "type", ""), "metric"))
		js_set_bool(line, "primary", false);
	say(arg, json_incref(line));
}

static void take_phase(void *arg, bool on)
{
	const struct run *run = arg;

	if (run->watch)
		lockwatch_switch(run->watch, on);
	if (run->profile)
		profile_switch(run->profile, on);
}

static void tell_counters(struct run *run, const struct counters *before,
			  const struct counters *after)
{
	for (size_t i = 0; i < after->n; i++) {
		const char *name = after->v[i].name;
		int64_t delta;
		json_t *line;

		if (!counters_delta(before, after, name, &delta) ||
		    (!delta && !counter_is_headline(name)))
			continue;
		line = agent_line("counter");
		js_set_str(line, "name", name);
		js_set_i64(line, "value", delta);
		say(run, line);
	}
}

static bool tell_locks(struct run *run, struct err *err)
{
	struct lock_context context = {.operations =
					       (uint64_t)js_i64_or(run->done, "operations", 0),
				       .thread_s = js_f64_or(run->done, "seconds", 0) *
						   (double)js_i64_or(run->done, "threads", 0),
				       .say = say,
				       .arg = run};
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_health health;

	if (!lockwatch_read(run->watch, &rows, &health, err))
		return false;
	lock_waits_name(&rows, run->agent->syms, &waits);
	spinlock_facts_read(&context.spin, run->agent->syms);
	context.holds = lockwatch_holds(run->watch);
	agent_locks_tell(&context, &waits, &health);
	return true;
}

static bool tell_profile(struct run *run, struct err *err)
{
	AUTO_FOLDED folded = {0};
	uint64_t lost;

	if (!profile_read(run->profile, run->agent->syms, &folded, &lost, err))
		return false;
	say(run, folded_json(&folded, profile_source(run->profile), lost, STACKS_TOLD));
	return true;
}

static bool open_instruments(struct run *run, struct err *err)
{
	struct agent *agent = run->agent;

	if (run->pass == AGENT_CLEAN)
		return true;
	if (!agent->syms && !kallsyms_load(&agent->syms, err))
		return false;
	return run->pass == AGENT_INSTRUMENTED ? lockwatch_open(&run->watch, err)
					       : profile_open(&run->profile, err);
}

/* A benchmark that was killed could not put its knobs back. */
static void restore_knobs(const struct run *run)
{
	struct err err;
	size_t n;

	if (!knob_journal_recover(&n, &err))
		agent_log(run->agent, "%s", err.msg);
	else if (n)
		agent_log(run->agent, "put back %zu knobs that the benchmark left", n);
}

static bool measure(struct run *run, const struct bench *bench, const json_t *params,
		    double timeout_s, struct err *err)
{
	AUTO_FREE char *cgroup = NULL;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	struct bench_child child = {.name = bench->name,
				    .params = params,
				    .timeout_s = timeout_s,
				    .line = take_line,
				    .phase = take_phase,
				    .arg = run};
	bool ok = memcg_new(run->seq, &cgroup, err);

	child.cgroup = cgroup;
	agent_knobs_settle();
	ok = ok && open_instruments(run, err) && counters_read(&before, err) &&
	     bench_child_run(&child, err) && counters_read(&after, err);

	run->done = child.done;
	restore_knobs(run);
	memcg_remove(cgroup);
	if (!ok)
		return false;
	tell_counters(run, &before, &after);
	if (run->watch && !tell_locks(run, err))
		return false;
	return !run->profile || tell_profile(run, err);
}

/* Its results are thrown away, and so is what fails: the run tells why. */
void agent_rehearse(bool instruments)
{
	AUTO_COUNTERS counters = COUNTERS_INIT;
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	AUTO_FREE char *cgroup = NULL;
	struct err ignored;

	if (memcg_new(REHEARSAL, &cgroup, &ignored))
		memcg_remove(cgroup);
	(void)!counters_read(&counters, &ignored);
	if (instruments)
		(void)!lockwatch_open(&watch, &ignored);
}

static void tell_end(struct run *run, bool ok, const struct err *err)
{
	json_t *line = agent_line("run_end");

	js_set_str(line, "outcome", ok ? "ok" : "failed");
	if (!ok)
		js_set_str(line, "reason", err->msg);
	js_set_i64(line, "operations", js_i64_or(run->done, "operations", 0));
	js_set_i64(line, "threads", js_i64_or(run->done, "threads", 0));
	js_set_f64(line, "seconds", js_f64_or(run->done, "seconds", 0));
	say(run, line);
}

static bool settle(const json_t *suite, const struct bench **bench, json_t **params,
		   struct err *err)
{
	const char *name = js_str_or(suite, "benchmark", "");
	AUTO_JSON *none = json_object();
	json_t *given = json_object_get(suite, "params");

	*bench = benchmark_find(name);
	if (!*bench)
		return err_set(err, ERR_USAGE, "this agent has no benchmark \"%s\"", name);
	return bench_params_settle(*bench, given ? given : none, params, err);
}

void agent_run(struct agent *agent, const json_t *suite, enum agent_pass pass)
{
	struct run run = {.agent = agent, .seq = agent->seq++, .pass = pass};
	const struct bench *bench = NULL;
	AUTO_JSON *params = NULL;
	json_t *line = agent_line("run");
	struct err err;
	bool ok = settle(suite, &bench, &params, &err);

	js_set_str(line, "suite", js_str_or(suite, "suite", ""));
	js_set_str(line, "benchmark", js_str_or(suite, "benchmark", ""));
	js_set_i64(line, "version", bench ? bench->version : 0);
	js_set_str(line, "pass", agent_pass_names[pass]);
	js_set_new(line, "params", params ? json_incref(params) : json_object());
	say(&run, line);
	ok = ok && measure(&run, bench, params, js_f64_or(suite, "timeout_s", TIMEOUT_S), &err);
	tell_end(&run, ok, &err);
	json_decref(run.done);
	lockwatch_free(run.watch);
	profile_free(run.profile);
}
