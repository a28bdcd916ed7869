// SPDX-License-Identifier: GPL-2.0-or-later
/* OpenSSH. */
#include "runner/ssh.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define MAX_SAID   ((size_t)4 << 20)
#define CHECK_S	   0.02
#define MUX_WAIT_S 10.0
#define LOOK_S	   0.5

/* A machine that comes up loses what was sent to it before, and ssh waits seconds until it asks again: so another one
 * asks meanwhile, as long as none has got an answer. */
#define MAX_TRIES   3
#define TRY_AFTER_S 2.0

/* A remote shell of any kind reads this; the script itself is read by sh. */
#define AS_ROOT "exec sh -c 'if [ \"$(id -u)\" = 0 ]; then exec sh -s; fi; exec sudo -n sh -s'"

void ssh_init(struct ssh *ssh, struct worker *worker, const char *machine)
{
	const struct conf *conf = worker->settings->conf;
	const char *destination = conf_str(conf, "machine", machine, "ssh");

	*ssh = (struct ssh){
		.worker = worker,
		.destination = destination ? destination : machine,
		.config = conf_str(conf, "machine", machine, "ssh-config"),
		.known_hosts = conf_str(conf, "machine", machine, "known-hosts"),
		.master = PROC_NONE,
		.shell = SSH_SHELL_NONE,
	};
}

static void remove_dir(char **dir)
{
	struct err ignored;

	if (*dir && !fs_remove_tree(*dir, &ignored))
		rmdir(*dir);
	free(TAKE(*dir));
}

void ssh_disconnect(struct ssh *ssh)
{
	ssh_shell_close(&ssh->shell);
	proc_kill(&ssh->master, 0);
	remove_dir(&ssh->dir);
}

void ssh_release(struct ssh *ssh)
{
	ssh_disconnect(ssh);
	*ssh = (struct ssh){.master = PROC_NONE, .shell = SSH_SHELL_NONE};
}

static void push_option(struct strs *argv, const char *option)
{
	strs_pushl(argv, "-o", option, NULL);
}

/* Nothing may ask a question, and nothing may learn a host key by itself. */
static void push_options(const struct ssh *ssh, const char *dir, struct strs *argv)
{
	static const char *const fixed[] = {
		"BatchMode=yes",
		"LogLevel=ERROR",
		"StrictHostKeyChecking=yes",
		"UpdateHostKeys=no",
		"PasswordAuthentication=no",
		"PermitLocalCommand=no",
		"KbdInteractiveAuthentication=no",
		"ForwardAgent=no",
		"ForwardX11=no",
		"ClearAllForwardings=yes",
		"ConnectTimeout=5",
		/* A loaded emulated guest was silent for 20 s and lived. */
		"ServerAliveInterval=10",
		"ServerAliveCountMax=6",
	};

	if (ssh->config)
		strs_pushl(argv, "-F", ssh->config, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		push_option(argv, fixed[i]);
	if (ssh->known_hosts) {
		strs_push(argv, "-o");
		strs_pushf(argv, "UserKnownHostsFile=%s", ssh->known_hosts);
	}
	if (dir) {
		strs_push(argv, "-o");
		strs_pushf(argv, "ControlPath=%s/c", dir);
	}
}

void ssh_assign(struct str *script, const char *name, const char *value)
{
	str_addf(script, "%s='", name);
	for (; *value; value++)
		if (*value == '\'')
			str_add(script, "'\\''");
		else
			str_addc(script, *value);
	str_add(script, "'\n");
}

/* The first that is found in what ssh said; hopeless: waiting will not help. */
static const struct {
	const char *said;
	bool hopeless;
	const char *means;
} faults[] = {
	{"HOST IDENTIFICATION HAS CHANGED", true,
	 "its host key is not the pinned one: if the machine was installed anew, put its new key "
	 "into "
	 "the known-hosts file; if it was not, somebody else answers in its place"},
	{"Host key verification failed", true,
	 "its host key is not known: read the key at the machine's own console (ssh-keygen -l -f "
	 "/etc/ssh/ssh_host_ed25519_key.pub), and put it into the known-hosts file"},
	{"UNPROTECTED PRIVATE KEY FILE", true,
	 "our key's file may be read by others: chmod 600 it"},
	{"Bad owner or permissions", true,
	 "ssh's settings file may be written by others: chmod 600 it"},
	{"Permission denied (", true,
	 "it refuses our key: put the public key of the user who runs mmperf-runner into "
	 "authorized_keys of the login user there"},
	{"Could not resolve", true,
	 "its name is not known: set ssh = USER@ADDRESS, or a Host of ssh_config"},
	{"Can't open user config file", true, "the file of ssh-config cannot be read"},
	{"Bad configuration option", true, "the file of ssh-config is wrong"},
	{"a password is required", true,
	 "sudo asks for a password: allow the login user NOPASSWD: ALL in /etc/sudoers.d"},
	{"is not in the sudoers file", true,
	 "the login user may not use sudo: allow it NOPASSWD: ALL in /etc/sudoers.d"},
	{"sudo: not found", true, "it has no sudo: install it, or log in as root"},
	{"sudo: command not found", true, "it has no sudo: install it, or log in as root"},
	{"Connection refused", false, "nothing listens on its ssh port"},
	{"timed out", false, "it does not answer"},
	{"No route to host", false, "there is no way to it"},
};

bool ssh_explain(const struct ssh *ssh, const char *said, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(said);
	const char *line = str_trim(copy), *last = strrchr(line, '\n');

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (strstr(said, faults[i].said))
			return err_set(err, faults[i].hopeless ? ERR_USAGE : ERR_FAILED,
				       "ssh to %s: %s", ssh->destination, faults[i].means);
	return err_set(err, ERR_FAILED, "ssh to %s: %s", ssh->destination,
		       *line ? (last ? last + 1 : line) : "it does not answer");
}

static char *said_path(const struct ssh *ssh)
{
	return xasprintf("%s/ssh.out", ssh->worker->dir);
}

/* Runs spec with its output in *out. */
static bool run(struct ssh *ssh, struct proc_spec *spec, double timeout_s, struct str *out,
		int *status, struct err *err)
{
	AUTO_FREE char *path = said_path(ssh);
	struct err ignored;
	bool ok;

	unlink(path);
	spec->out_path = path;
	ok = worker_hold(ssh->worker, WORKER_HOLD_S, err) &&
	     worker_run(ssh->worker, spec, timeout_s, status, err);
	if (!fs_read(path, MAX_SAID, out, &ignored))
		str_clear(out);
	unlink(path);
	return ok;
}

static bool master_answers(struct ssh *ssh, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_STR out = str_new();
	int status = -1;

	strs_push(&spec.argv, "ssh");
	push_options(ssh, ssh->dir, &spec.argv);
	strs_pushl(&spec.argv, "-O", "check", ssh->destination, NULL);
	return run(ssh, &spec, MUX_WAIT_S, &out, &status, err) && status == 0;
}

/* Each has a directory of its own, for its control socket and what it says. Not in the attempt's: a socket's path may
 * have 107 characters. */
struct asking {
	char *dir;
	struct proc master;
};

struct tries {
	struct asking v[MAX_TRIES];
	double next_s;	 /* when another one may begin */
	struct str said; /* by the last that gave up */
};

static void tries_release(struct tries *tries)
{
	for (size_t i = 0; i < MAX_TRIES; i++) {
		proc_kill(&tries->v[i].master, 0);
		remove_dir(&tries->v[i].dir);
	}
	str_release(&tries->said);
}

static bool start_try(const struct ssh *ssh, struct asking *t, struct err *err)
{
	char dir[] = "/tmp/mmperf-ssh-XXXXXX";
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_FREE char *log = NULL;

	if (!mkdtemp(dir))
		return err_sys(err, "cannot make %s", dir);
	t->dir = xstrdup(dir);
	spec.out_path = log = xasprintf("%s/said", dir);
	strs_push(&spec.argv, "ssh");
	push_options(ssh, dir, &spec.argv);
	strs_pushl(&spec.argv, "-o", "ControlMaster=yes", "-N", "-T", ssh->destination, NULL);
	return proc_start(&spec, &t->master, err);
}

/* True: it is open. Else *t is empty again when it gave up. */
static bool look_at_try(struct tries *tries, struct asking *t)
{
	AUTO_FREE char *socket = xasprintf("%s/c", t->dir), *log = xasprintf("%s/said", t->dir);
	struct err ignored;
	int status;

	if (!proc_wait(&t->master, 0, &status))
		return fs_exists(socket);
	str_clear(&tries->said);
	if (!fs_read(log, MAX_SAID, &tries->said, &ignored))
		str_clear(&tries->said);
	remove_dir(&t->dir);
	return false;
}

/* True: one is open, and ssh's own. */
static bool look_at_tries(struct ssh *ssh, struct tries *tries, size_t *live)
{
	*live = 0;
	for (size_t i = 0; i < MAX_TRIES; i++) {
		struct asking *t = &tries->v[i];

		if (!t->dir)
			continue;
		if (look_at_try(tries, t)) {
			ssh->dir = TAKE(t->dir);
			ssh->master = t->master;
			t->master = (struct proc)PROC_NONE;
			return true;
		}
		*live += t->dir != NULL;
	}
	return false;
}

static bool start_another(const struct ssh *ssh, struct tries *tries, struct err *err)
{
	double now = clock_mono_s();

	for (size_t i = 0; now >= tries->next_s && i < MAX_TRIES; i++)
		if (!tries->v[i].dir) {
			tries->next_s = now + TRY_AFTER_S;
			return start_try(ssh, &tries->v[i], err);
		}
	return true;
}

static bool open_master(struct ssh *ssh, double timeout_s, struct err *err)
{
	CLEANUP(tries_release) struct tries tries = {.said = str_new()};
	double end = clock_mono_s() + timeout_s;
	size_t live;

	for (size_t i = 0; i < MAX_TRIES; i++)
		tries.v[i].master = (struct proc)PROC_NONE;
	for (;;) {
		if (!start_another(ssh, &tries, err))
			return false;
		if (look_at_tries(ssh, &tries, &live))
			return true;
		if (!worker_tick(ssh->worker, err))
			return false;
		if (!live || clock_mono_s() > end || (ssh->over && ssh->over(ssh->over_arg)))
			return ssh_explain(ssh, tries.said.s, err);
		clock_sleep_s(CHECK_S);
	}
}

bool ssh_connect(struct ssh *ssh, double timeout_s, struct err *err)
{
	struct err ignored;

	if (ssh->dir && master_answers(ssh, &ignored))
		return true;
	ssh_disconnect(ssh);
	return worker_hold(ssh->worker, WORKER_HOLD_S, err) && open_master(ssh, timeout_s, err);
}

/* What ssh says lies beside the control socket; without a connection, in the attempt's directory. */
static bool open_shell(struct ssh *ssh, struct err *err)
{
	AUTO_FREE char *said = xasprintf("%s/ssh.shell", ssh->dir ? ssh->dir : ssh->worker->dir);
	AUTO_STRS argv = STRS_INIT;

	if (!worker_hold(ssh->worker, WORKER_HOLD_S, err))
		return false;
	if (ssh_shell_lives(&ssh->shell))
		return true;
	strs_push(&argv, "ssh");
	push_options(ssh, ssh->dir, &argv);
	strs_pushl(&argv, "-o", "ControlMaster=no", "-T", ssh->destination, AS_ROOT, NULL);
	return ssh_shell_open(&ssh->shell, &argv, said, err);
}

bool ssh_script(struct ssh *ssh, const char *script, double timeout_s, struct str *out, int *status,
		struct err *err)
{
	double end = clock_mono_s() + timeout_s;
	bool ok = open_shell(ssh, err);

	if (ok)
		ssh_shell_ask(&ssh->shell, script);
	while (ok && !ssh_shell_hear(&ssh->shell, LOOK_S, out, status)) {
		ok = worker_tick(ssh->worker, err);
		if (ok && clock_mono_s() > end)
			ok = err_set(err, ERR_TIMEOUT, "a script did not end within %g s",
				     timeout_s);
	}
	if (ok)
		return true;
	ssh_shell_close(&ssh->shell);
	return err_wrap(err, "machine %s", ssh->destination);
}

bool ssh_start(struct ssh *ssh, const char *script, struct proc *proc, int *fd, struct err *err)
{
	if (!open_shell(ssh, err))
		return err_wrap(err, "machine %s", ssh->destination);
	ssh_shell_hand_over(&ssh->shell, script, proc, fd);
	return true;
}

bool ssh_push(struct ssh *ssh, const struct strs *locals, const char *dir, double timeout_s,
	      struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_STR out = str_new();
	int status = -1;

	strs_pushl(&spec.argv, "scp", "-q", NULL);
	push_options(ssh, ssh->dir, &spec.argv);
	strs_pushl(&spec.argv, "-o", "ControlMaster=no", "--", NULL);
	for (size_t i = 0; i < locals->n; i++)
		strs_push(&spec.argv, locals->v[i]);
	strs_pushf(&spec.argv, "%s:%s/", ssh->destination, dir);
	if (!run(ssh, &spec, timeout_s, &out, &status, err))
		return err_wrap(err, "copying to machine %s", ssh->destination);
	if (status == 0)
		return true;
	ssh_explain(ssh, out.s, err);
	return err_wrap(err, "copying to %s", dir);
}
