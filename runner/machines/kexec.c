// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A real machine, by ssh and kexec. Its own root file system and its own kernel stay: the tested kernel is
 * loaded from whatever healthy kernel runs and never becomes the one that firmware starts, so that
 * every reset leads home. Each attempt begins by finding out in what state the machine is.
 */
#include "runner/machines/drivers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "db/machine_event.h"
#include "runner/initramfs.h"
#include "runner/keep.h"
#include "runner/recover.h"

/* Pushing and loading: 40 MB over a slow link, and a kernel that is checked and relocated. */
#define LOAD_S	300.0
/* The first look; a machine that is up answers sooner. */
#define FIRST_S 30.0
/* Behind a direct jump the old boot goes on for a moment: who asked it would wait for an answer in vain. */
#define GONE_S	0.35

struct kexec {
	struct ssh ssh;
	struct power *power;
	struct console_source *console;
	struct target_state before; /* of the kernel that we jump from */
	struct target_state now;
	bool left; /* the machine may run something else than a healthy kernel */
};

static const char *setting(const struct machine *m, const char *key)
{
	const char *value = machine_str(m, key);

	return value && *value ? value : NULL;
}

static double seconds(const struct machine *m, const char *key)
{
	return conf_f64(m->worker->settings->conf, "machine", m->name, key);
}

static bool set_out(struct machine *m, struct err *err)
{
	const struct power_guard guard = {recovery_may, m->worker};
	const struct settings *settings = m->worker->settings;
	struct kexec *k = m->state;

	if (k)
		return true;
	k = m->state = xcalloc(1, sizeof(*k));
	ssh_init(&k->ssh, m->worker, m->name);
	return power_open(settings, m->name, &guard, &k->power, err) &&
	       console_source_open(settings, m->name, m->console_path, &k->console, err);
}

static void forget(struct machine *m)
{
	struct kexec *k = m->state;

	if (!k)
		return;
	ssh_release(&k->ssh);
	power_free(k->power);
	console_source_free(k->console);
	target_state_release(&k->before);
	target_state_release(&k->now);
	free(TAKE(m->state));
}

/* A canary that goes through firmware: what that gives is another setup's. */
static bool by_firmware(const struct machine *m)
{
	const char *role = m->worker->lease.job.role;

	return role && !strcmp(role, "firmware");
}

/* The agent is process 1 of an initramfs of ours: the tested kernel never sees the machine's disks or network. */
static bool in_initramfs(const struct machine *m)
{
	return !strcmp(machine_str(m, "root"), "initramfs");
}

/* ... and calls us instead of speaking on the serial line. */
static bool by_network(const struct machine *m)
{
	return in_initramfs(m) && strcmp(machine_str(m, "results"), "console") != 0;
}

static bool wants_modules(const struct machine *m)
{
	return conf_bool(m->worker->settings->conf, "machine", m->name, "modules");
}

static const char *kexec_method(const struct machine *m)
{
	if (by_firmware(m))
		return "firmware";
	return in_initramfs(m) ? "initramfs" : "kexec";
}

/* So that a canary follows. A database that is away hears of it by the boot's outcome alone. */
static void tell_recovery(struct machine *m, const char *steps)
{
	struct err ignored;

	if (m->worker->db &&
	    !machine_event_add(m->worker->db, m->name, "recovered", steps, &ignored))
		log_warn("machine %s: %s", m->name, ignored.msg);
}

/* Whoever measured in an initramfs restarts the machine by itself: that is no recovery. */
static bool as_planned(const struct machine *m)
{
	return in_initramfs(m) && collect_ended(m->collect) &&
	       (!m->outcome || !strcmp(m->outcome, "ok"));
}

/* Back to the machine's own kernel, in another boot than not_boot; *state gets what is found. */
static bool go_home(struct machine *m, const char *not_boot, struct target_state *state,
		    struct err *err)
{
	CLEANUP(recovery_release) struct recovery r;
	struct kexec *k = m->state;

	recovery_init(&r, &k->ssh, m->name);
	r.power = k->power;
	r.console = k->console;
	if (!recovery_run(&r, not_boot, err))
		return false;
	log_info("machine %s: back with its own kernel %s by: %s", m->name, r.state.release,
		 r.steps.s);
	if (!as_planned(m))
		tell_recovery(m, r.steps.s);
	target_state_release(state);
	*state = r.state;
	r.state = (struct target_state){0};
	return true;
}

/* Whatever an attempt before this one left: a dead machine is brought back first, and a tested kernel
 * that was not left in good health is no place to jump from. */
static bool find_machine(struct machine *m, struct err *err)
{
	struct kexec *k = m->state;

	if (target_look(&k->ssh, target_dir(m->worker, m->name), FIRST_S, &k->before, err)) {
		if (!k->before.tested || k->before.healthy)
			return true;
		log_info("machine %s: an attempt left it in kernel %s", m->name, k->before.release);
	} else if (err->kind != ERR_FAILED && err->kind != ERR_TIMEOUT) {
		return false;
	} else {
		log_info("machine %s: %s", m->name, err->msg);
	}
	return go_home(m, k->before.boot_id, &k->before, err);
}

/* The machine's own kernel, fresh from its firmware, is what the jump starts from. */
static bool restart(struct machine *m, struct err *err)
{
	struct kexec *k = m->state;
	AUTO_FREE char *was = xstrdup(k->before.boot_id);
	struct err why;

	if (!worker_hold(m->worker, WORKER_HOLD_S, err))
		return false;
	if (target_reboot(&k->ssh, TARGET_REBOOT, &why) &&
	    recovery_wait(&k->ssh, target_dir(m->worker, m->name), was,
			  seconds(m, "reboot-timeout"), NULL, &k->before, &why) &&
	    !k->before.tested)
		return true;
	return go_home(m, was, &k->before, err);
}

/* What shall end a kernel that would otherwise go on, or hang; admin-guide/kernel-parameters.rst and, for what has a sysctl
 * only, admin-guide/sysctl/kernel.rst. */
static const struct {
	const char *name, *word;
} panics[] = {
	{"oops", "oops=panic"},
	{"softlockup", "softlockup_panic=1"},
	{"hung-task", "hung_task_panic=1"},
	{"rcu-stall", "sysctl.kernel.panic_on_rcu_stall=1"},
};

/* Adds the words of panic-on; false: one is not known. */
static bool add_panics(const struct machine *m, struct str *words, struct err *err)
{
	AUTO_STRS on = STRS_INIT;

	strs_split(&on, machine_str(m, "panic-on"), " ,\t");
	for (size_t i = 0; i < on.n; i++) {
		size_t p = 0;

		while (p < ARRAY_SIZE(panics) && strcmp(panics[p].name, on.v[i]) != 0)
			p++;
		if (p == ARRAY_SIZE(panics))
			return err_set(
				err, ERR_USAGE,
				"machine %s: panic-on has \"%s\"; it may have oops, softlockup, "
				"hung-task, rcu-stall",
				m->name, on.v[i]);
		str_addf(words, " %s", panics[p].word);
	}
	return true;
}

static bool command_line(const struct machine *m, const struct target_state *before,
			 struct str *out, struct err *err)
{
	const struct conf *conf = m->worker->settings->conf;
	const char *more = setting(m, "append"), *rsdp = setting(m, "acpi-rsdp");
	AUTO_STR words = str_new();

	str_addf(&words, "panic=%lld", (long long)conf_i64(conf, "machine", m->name, "panic"));
	if (!add_panics(m, &words, err))
		return false;
	str_addf(&words, " %s", more ? more : "");
	if (rsdp && !strcmp(rsdp, "auto"))
		rsdp = before->rsdp;
	if (in_initramfs(m))
		str_add(&words, " rdinit=/init printk.devkmsg=on");
	target_command_line(before->command_line,
			    conf_bool(conf, "machine", m->name, "reuse-cmdline"), words.s, rsdp,
			    m->worker->lease.token, out);
	return true;
}

/* As a file of the attempt. */
static void keep_text(struct machine *m, const char *name, const struct str *text)
{
	AUTO_FREE char *path = xasprintf("%s/%s", m->worker->dir, name);
	struct err err;

	if (!fs_write_atomic(path, text->s, text->len, 0644, &err))
		log_warn("machine %s: its kernel log cannot be kept: %s", m->name, err.msg);
}

/* Not all that a kernel logs goes to its console. */
static void keep_dmesg(struct machine *m)
{
	struct kexec *k = m->state;
	AUTO_STR text = str_new();
	struct err err;

	if (target_dmesg(&k->ssh, &text, &err))
		keep_text(m, KEEP_DMESG, &text);
	else
		log_warn("machine %s: its kernel log could not be fetched: %s", m->name, err.msg);
}

/* Nobody heard the tested kernel; what the one before it said is all the evidence there is. */
static void show_last_words(struct machine *m)
{
	AUTO_FREE char *path = xasprintf("%s/dmesg-before", m->worker->dir);

	if (rename(path, m->console_path))
		log_debug("machine %s: no kernel log from before the jump", m->name);
}

/* The agent's own deadline comes after ours: it is for the case that we are gone. */
#define DEADMAN_SPARE_S 60.0

/* Where the agent shall call, from now on. */
static bool await_call(struct machine *m, json_t *job, struct err *err)
{
	static const char scheme[] = "tcp://";
	const char *place = machine_str(m, "results");
	AUTO_FREE char *address = NULL;
	int port;

	if (!str_starts(place, scheme))
		return err_set(err, ERR_USAGE,
			       "machine %s: results is \"%s\"; it may be console or "
			       "tcp://ADDRESS[:PORT]",
			       m->name, place);
	if (!net_lines_listen(&m->net, place + strlen(scheme), &address, &port, err))
		return err_wrap(err, "machine %s: results", m->name);
	js_set_str(job, "address", address);
	js_set_i64(job, "port", port);
	return true;
}

/* The job, with what guards the machine while the tested kernel runs; the caller frees it. */
static bool job_text(struct machine *m, char **out, struct err *err)
{
	AUTO_JSON *job = NULL;

	if (!js_parse(m->job_text, strlen(m->job_text), &job, err))
		return false;
	js_set_i64(job, "watchdog_s", (int64_t)seconds(m, "watchdog"));
	js_set_f64(job, "deadman_s", seconds(m, "run-timeout") + DEADMAN_SPARE_S);
	if (in_initramfs(m)) {
		js_set_bool(job, "init", true);
		js_set_str(job, "lines", by_network(m) ? "tcp" : "kmsg");
		js_set_bool(job, "restart", true);
	}
	if (by_network(m) && !await_call(m, job, err))
		return false;
	*out = js_text(job);
	return true;
}

/* The agent and its job as the tested kernel's whole user space, but for what the settings put in front. */
static bool write_initramfs(struct machine *m, const char *path, struct err *err)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	const char *before = setting(m, "initrd");
	AUTO_FREE char *job = NULL;

	initramfs_init(&fs);
	if ((before && !initramfs_behind(&fs, before, err)) || !job_text(m, &job, err) ||
	    !initramfs_base(&fs, m->agent, err))
		return false;
	initramfs_file(&fs, "job.json", 0600, job, strlen(job));
	initramfs_end(&fs);
	return fs_write_atomic(path, fs.bytes.s, fs.bytes.len, 0600, err);
}

static bool load(struct machine *m, const char *command_line, struct err *err)
{
	AUTO_FREE char *ramfs = xasprintf("%s/initramfs", m->worker->dir);
	struct target_kernel kernel = {.kernel = m->kernel, .command_line = command_line};
	struct kexec *k = m->state;
	AUTO_STR dmesg = str_new();
	char how[8] = "";

	if (in_initramfs(m)) {
		kernel.initrd = ramfs;
		if (!write_initramfs(m, ramfs, err))
			return false;
	} else {
		kernel.initrd = setting(m, "initrd");
		kernel.remote_initrd = setting(m, "target-initrd");
		kernel.initrd_command = setting(m, "initrd-command");
		kernel.modules = wants_modules(m) ? m->modules : NULL;
		kernel.agent = m->agent;
		kernel.agent_there = k->before.agent;
	}
	if (!target_load(&k->ssh, target_dir(m->worker, m->name), &kernel, LOAD_S, how, &dmesg,
			 err))
		return false;
	keep_text(m, "dmesg-before", &dmesg);
	log_debug("machine %s: loaded by kexec %s: %s", m->name, how, command_line);
	return true;
}

/* Settings that contradict each other, or the image. */
static bool settings_fit(const struct machine *m, struct err *err)
{
	const struct kexec *k = m->state;

	if (!in_initramfs(m) && strcmp(machine_str(m, "root"), "own") != 0)
		return err_set(err, ERR_USAGE,
			       "machine %s: root is \"%s\"; it may be own or initramfs", m->name,
			       machine_str(m, "root"));
	if (in_initramfs(m) && !by_network(m) && !k->console)
		return err_set(
			err, ERR_USAGE,
			"machine %s has root = initramfs, whose results come by the serial line: "
			"set console, or results",
			m->name);
	if (!in_initramfs(m) && wants_modules(m) && !m->modules)
		return err_set(err, ERR_USAGE,
			       "machine %s has modules = true, and the kernel was built without: "
			       "set CONFIG_MODULES=y in its recipe, or modules = false",
			       m->name);
	return true;
}

static bool kexec_load(struct machine *m, struct err *err)
{
	AUTO_STR line = str_new();
	struct kexec *k;

	if (!m->kernel)
		return err_set(err, ERR_USAGE,
			       "machine %s boots images only; the running kernel is measured by "
			       "machines of driver local",
			       m->name);
	if (!set_out(m, err))
		return false;
	k = m->state;
	/* the console has connected meanwhile, and said what it had in store */
	if (!settings_fit(m, err) || !find_machine(m, err) ||
	    (by_firmware(m) && !restart(m, err)) ||
	    !console_source_mark(k->console, "before the jump", &m->console_from, err) ||
	    !target_can_load(&k->before, m->name, target_dir(m->worker, m->name), err))
		return false;
	return command_line(m, &k->before, &line, err) && load(m, line.s, err);
}

/* Only our own jump leaves our token; without it the kernel that we loaded gave up on its way. */
static bool is_our_boot(struct machine *m, const struct target_state *now)
{
	if (now->tested && now->token == m->worker->lease.token)
		return true;
	return !machine_diagnose(m, "no_boot", "the machine restarted into its own kernel");
}

static bool start_agent(struct machine *m, struct err *err)
{
	AUTO_FREE char *job = NULL;
	struct kexec *k = m->state;
	AUTO_STR script = str_new();
	int fd;

	if (!job_text(m, &job, err) ||
	    !target_push_agent(&k->ssh, target_dir(m->worker, m->name), m->agent, k->now.agent, job,
			       &script, err) ||
	    !ssh_start(&k->ssh, script.s, &m->proc, &fd, err))
		return false;
	net_lines_adopt(&m->net, fd);
	m->by_net = true;
	return machine_follow(m, MACHINE_HELLO, seconds(m, "boot-timeout"), NULL, err);
}

/* A kernel that came up to user space and has no network is no kernel that got worse: its configuration does
 * not fit this machine. */
static bool no_answer(struct machine *m, const char *why)
{
	struct console_facts facts;
	bool heard = machine_console_facts(m, &facts);
	AUTO_FREE char *text =
		xasprintf("%s; %s", why, heard ? console_sight(&facts) : "it has no console");
	bool came_up = facts.inits && facts.banners <= 1;

	machine_diagnose(m, "no_boot", text);
	if (came_up && !strcmp(m->outcome, "no_boot"))
		m->outcome = "infra";
	return true;
}

static bool start_initramfs(struct machine *m, struct err *err)
{
	struct console_facts facts;

	m->by_net = by_network(m);
	m->by_console = !m->by_net;
	if (!machine_follow(m, MACHINE_HELLO, seconds(m, "boot-timeout"), NULL, err))
		return false;
	machine_console_facts(m, &facts);
	if (m->by_net && facts.inits && m->outcome && !strcmp(m->outcome, "no_boot"))
		m->outcome = "infra";
	return true;
}

static bool kexec_start(struct machine *m, struct err *err)
{
	bool direct = !strcmp(machine_str(m, "jump"), "direct");
	struct kexec *k = m->state;

	k->left = true;
	m->started_s = clock_mono_s();
	if (!console_source_mark(k->console, "the jump", &m->console_from, err) ||
	    !target_jump(&k->ssh, direct, err))
		return false;
	machine_listen(m);
	if (direct)
		clock_sleep_s(GONE_S);
	if (in_initramfs(m))
		return start_initramfs(m, err);
	if (!recovery_wait(&k->ssh, target_dir(m->worker, m->name), k->before.boot_id,
			   seconds(m, "boot-timeout"), &m->watch, &k->now, err)) {
		return err->kind == ERR_TIMEOUT && no_answer(m, err->msg);
	}
	return !is_our_boot(m, &k->now) || start_agent(m, err);
}

static bool kexec_confirm(struct machine *m, struct err *err)
{
	return machine_confirm(m, true, err);
}

static bool kexec_run(struct machine *m, struct err *err)
{
	return machine_follow(m, MACHINE_END, seconds(m, "run-timeout"), NULL, err);
}

static bool kexec_collect(struct machine *m, struct err *err _unused)
{
	struct kexec *k = m->state;

	machine_stop(m);
	if (m->outcome) {
		if (!k->console)
			show_last_words(m);
		return true;
	}
	if (!in_initramfs(m))
		keep_dmesg(m);
	k->left = in_initramfs(m) || !collect_ended(m->collect);
	return true;
}

/* A healthy tested kernel may stay: the next jump starts from it. */
static bool kexec_recover(struct machine *m, struct err *err)
{
	struct kexec *k = m->state;
	struct err ignored;
	bool ok = true;

	machine_stop(m);
	if (!k)
		return true;
	if (k->left)
		ok = go_home(m, k->before.boot_id, &k->now, err);
	else if (k->ssh.dir && !target_clean(&k->ssh, target_dir(m->worker, m->name), &ignored))
		log_warn("machine %s: %s", m->name, ignored.msg);
	forget(m);
	return ok;
}

static int kexec_cpus(const struct settings *settings _unused, const char *name _unused)
{
	return 0;
}

static bool kexec_emulated(const struct settings *settings, const char *name)
{
	return conf_bool(settings->conf, "machine", name, "emulated");
}

const struct machine_driver machine_kexec = {
	.name = "kexec",
	.method = kexec_method,
	.load = kexec_load,
	.start = kexec_start,
	.confirm = kexec_confirm,
	.run = kexec_run,
	.collect = kexec_collect,
	.recover = kexec_recover,
	.cpus = kexec_cpus,
	.emulated = kexec_emulated,
};
