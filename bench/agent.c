// SPDX-License-Identifier: GPL-2.0-or-later
/* One job, all passes. */
#include "bench/agent.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/opt.h"
#include "bench/agent_child.h"
#include "bench/agent_env.h"
#include "bench/agent_guard.h"
#include "bench/agent_init.h"
#include "bench/agent_kexec.h"
#include "bench/agent_knobs.h"
#include "bench/agent_net.h"
#include "bench/agent_preflight.h"
#include "bench/agent_run.h"

#define INIT_JOB	"/job.json"
#define KEXEC_KERNEL	"/kexec/bzImage"
#define KEXEC_INITRD	"/kexec/initrd"
#define PORT_NAME	"mmperf"
#define PORT_TIMEOUT_S	10
#define CLOCK_TIMEOUT_S 10
#define NET_TIMEOUT_S	60
#define NET_FINISH_S	10

static bool wants_pass(const json_t *suite, const char *pass)
{
	const json_t *passes = json_object_get(suite, "passes");
	const json_t *one;
	size_t i;

	if (!json_is_array(passes))
		return !strcmp(pass, "clean");
	json_array_foreach(passes, i, one)
	{
		if (json_is_string(one) && !strcmp(json_string_value(one), pass))
			return true;
	}
	return false;
}

static bool any_suite_wants(const json_t *job, enum agent_pass pass)
{
	const json_t *suites = json_object_get(job, "suites");
	const json_t *suite;
	size_t i;

	json_array_foreach(suites, i, suite)
	{
		if (wants_pass(suite, agent_pass_names[pass]))
			return true;
	}
	return false;
}

static bool run_suites(struct agent *agent, struct err *err)
{
	json_t *suites, *suite;
	size_t i;

	if (!js_get_array(agent->job, "suites", &suites, err))
		return err_wrap(err, "job");
	for (enum agent_pass pass = 0; pass < AGENT_PASSES; pass++) {
		json_array_foreach(suites, i, suite)
		{
			if (wants_pass(suite, agent_pass_names[pass]))
				agent_run(agent, suite, pass);
		}
	}
	return true;
}

/* What takes a while and measures nothing is done while the clock source settles. */
static void tell_machine(struct agent *agent)
{
	struct knobs_told told = {json_object(), json_object(), json_object()};
	json_t *line, *state;
	struct err err;

	/* What spinlocks are like is told by the kernel's symbols; without them it is not known, and a
	 * run that needs them says so. */
	(void)!kallsyms_load(&agent->syms, &err);
	/* First: CPUs may come or go. */
	agent_knobs_wish(&agent->knobs, json_object_get(agent->job, "knobs"), "", &told);
	agent_knobs_apply(&agent->knobs, &told);
	state = env_state();
	js_set_new(state, "knobs", told.others);
	js_set_new(state, "refused", told.refused);
	js_set_new(state, "uncontrolled", preflight_list(agent->syms));
	if (!env_clock_settled())
		agent_rehearse(any_suite_wants(agent->job, AGENT_INSTRUMENTED));
	env_settle_clock(CLOCK_TIMEOUT_S);
	line = agent_line("environment");
	js_set_new(line, "facts", env_environment(told.core, memcg_available(), agent->syms));
	agent_say(agent, line);
	line = agent_line("state");
	js_set_new(line, "facts", state);
	agent_say(agent, line);
}

static void tell_end(const struct agent *agent, bool clocksource_changed, const char *error)
{
	AUTO_FREE char *boot_id = env_boot_id();
	json_t *line = agent_line("end");

	js_set_str(line, "nonce", agent->nonce);
	js_set_str(line, "boot_id", boot_id);
	js_set_bool(line, "clocksource_changed", clocksource_changed);
	if (error)
		js_set_str(line, "error", error);
	agent_say(agent, line);
}

static bool check_job(struct agent *agent, struct err *err)
{
	int64_t version;

	if (!js_get_str(agent->job, "nonce", &agent->nonce, err) ||
	    !js_get_i64(agent->job, "v", &version, err))
		return err_wrap(err, "job");
	if (version != 1)
		return err_set(err, ERR_USAGE, "job: version %lld; this agent speaks 1",
			       (long long)version);
	return true;
}

/* The job asks for it; what is in force is told for a person. */
static void start_guard(const struct agent *agent, struct guard *guard)
{
	int64_t watchdog_s = js_i64_or(agent->job, "watchdog_s", 0);
	double deadman_s = js_f64_or(agent->job, "deadman_s", 0);
	AUTO_FREE char *note = NULL;

	*guard = (struct guard){0};
	if (watchdog_s <= 0 && deadman_s <= 0)
		return;
	guard_start(guard, (int)watchdog_s, deadman_s, GUARD_SYSRQ, &note);
	agent_log(agent, "guard: %s", note);
}

static int do_job(void *arg)
{
	struct agent *agent = arg;
	struct guard guard = {0};
	AUTO_FREE char *clock_before = NULL;
	AUTO_FREE char *clock_after = NULL;
	struct err err;
	bool ok = check_job(agent, &err);

	if (!ok) {
		agent->nonce = js_str_or(agent->job, "nonce", "");
	} else {
		agent_say(agent, env_hello(agent));
		start_guard(agent, &guard);
		tell_machine(agent);
	}
	clock_before = env_clocksource();
	ok = ok && run_suites(agent, &err);
	if (!ok)
		agent_log(agent, "%s", err.msg);
	knobs_restore(&agent->knobs);
	guard_stop(&guard);
	clock_after = env_clocksource();
	tell_end(agent, strcmp(clock_before, clock_after) != 0, ok ? NULL : err.msg);
	kallsyms_free(agent->syms);
	return ok ? 0 : 1;
}

static int report_failure(const struct agent *agent, const struct err *err)
{
	fprintf(stderr, "agent: %s\n", err->msg);
	if (agent->init)
		agent_log(agent, "%s", err->msg);
	return err_exit_status(err);
}

static int jump(const struct agent *agent)
{
	struct err err;

	if (kexec_into(KEXEC_KERNEL, KEXEC_INITRD, js_str_or(agent->job, "kexec_cmdline", ""),
		       &err))
		return 0;
	return report_failure(agent, &err);
}

/* Where lines go; without a place the console still hears why, and of a job that nobody would hear of nothing is done. */
static bool open_way_out(struct agent *agent, struct kmsg *kmsg)
{
	const char *lines = js_str_or(agent->job, "lines", "");
	struct err err;

	if (!strcmp(lines, "tcp")) {
		if (net_connect(js_str_or(agent->job, "address", ""),
				(int)js_i64_or(agent->job, "port", 0),
				js_str_or(agent->job, "nonce", ""), NET_TIMEOUT_S, &agent->out_fd,
				&err))
			return true;
		fprintf(stderr, "agent: %s\n", err.msg);
		return false;
	}
	if (!strcmp(lines, "kmsg")) {
		if (kmsg_open(kmsg, &err)) {
			agent->kmsg = kmsg;
			return true;
		}
	} else if (init_open_port(PORT_NAME, PORT_TIMEOUT_S, &agent->out_fd, &err)) {
		return true;
	}
	fprintf(stderr, "agent: %s\n", err.msg);
	return true;
}

static int init_main(void)
{
	struct agent agent = {.out_fd = STDOUT_FILENO, .init = true, .knobs = KNOBS_INIT};
	struct kmsg kmsg = {.fd = -1};
	struct err err;
	bool ok = js_load(INIT_JOB, &agent.job, &err);
	bool restart = js_bool_or(agent.job, "restart", false);
	int status;

	/* Who is restarted has disks of its own, which are none of our business. */
	init_mount_all(!restart);
	init_prepare();
	if (!open_way_out(&agent, &kmsg))
		init_end(restart);
	if (!ok) {
		report_failure(&agent, &err);
		init_end(restart);
	}
	if (js_bool_or(agent.job, "kexec", false)) {
		jump(&agent);
		init_end(restart);
	}
	status = init_run(do_job, &agent);
	if (WIFSIGNALED(status))
		agent_log(&agent, "agent died by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	if (!strcmp(js_str_or(agent.job, "lines", ""), "tcp"))
		net_finish(agent.out_fd, NET_FINISH_S);
	json_decref(agent.job);
	close(agent.out_fd);
	init_end(restart);
}

int agent_main(int argc, char **argv)
{
	struct agent agent = {.out_fd = STDOUT_FILENO, .knobs = KNOBS_INIT};
	const char *path = NULL;
	bool preflight = false;
	const struct opt opts[] = {
		{0, "job", OPT_STRING, &path, "FILE", "the job to do (docs/protocol.md)"},
		{0, "preflight", OPT_FLAG, &preflight, NULL,
		 "say what cannot be controlled on this machine; changes nothing"},
		{0}};
	AUTO_STRS operands = STRS_INIT;
	bool help = false;
	struct err err;
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (getpid() == 1)
		return init_main();
	if (!opt_parse(opts, argc, argv, &operands, &help, &err))
		return report_failure(&agent, &err);
	if (preflight && !help)
		return preflight_main();
	if (help || !path || operands.n) {
		printf("usage: mmperf-agent --job FILE\n"
		       "       mmperf-agent --preflight\n"
		       "       mmperf-agent {compaction|fault|khugepaged|lockwatch|profile} ...\n");
		opt_help(opts, stdout);
		return help ? 0 : 2;
	}
	if (!js_load(path, &agent.job, &err))
		return report_failure(&agent, &err);
	status = do_job(&agent);
	json_decref(agent.job);
	return status;
}
