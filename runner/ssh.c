// SPDX-License-Identifier: GPL-2.0-or-later
/* OpenSSH. */
#include "runner/ssh.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define MAX_SAID   ((size_t)4 << 20)
#define CHECK_S	   0.1
#define MUX_WAIT_S 10.0

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
	};
}

void ssh_disconnect(struct ssh *ssh)
{
	struct err ignored;

	proc_kill(&ssh->master, 0);
	if (ssh->dir && !fs_remove_tree(ssh->dir, &ignored))
		rmdir(ssh->dir);
	free(TAKE(ssh->dir));
}

void ssh_release(struct ssh *ssh)
{
	ssh_disconnect(ssh);
	*ssh = (struct ssh){.master = PROC_NONE};
}

static void push_option(struct strs *argv, const char *option)
{
	strs_pushl(argv, "-o", option, NULL);
}

/* Nothing may ask a question, and nothing may learn a host key by itself. */
static void push_options(const struct ssh *ssh, const char *log_level, struct strs *argv)
{
	static const char *const fixed[] = {
		"BatchMode=yes",
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
	strs_push(argv, "-o");
	strs_pushf(argv, "LogLevel=%s", log_level);
	if (ssh->known_hosts) {
		strs_push(argv, "-o");
		strs_pushf(argv, "UserKnownHostsFile=%s", ssh->known_hosts);
	}
	if (ssh->dir) {
		strs_push(argv, "-o");
		strs_pushf(argv, "ControlPath=%s/c", ssh->dir);
	}
}

void ssh_argv(const struct ssh *ssh, bool quiet, struct strs *argv)
{
	strs_push(argv, "ssh");
	push_options(ssh, quiet ? "QUIET" : "ERROR", argv);
	strs_pushl(argv, "-o", "ControlMaster=no", "-T", ssh->destination, AS_ROOT, NULL);
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
	push_options(ssh, "ERROR", &spec.argv);
	strs_pushl(&spec.argv, "-O", "check", ssh->destination, NULL);
	return run(ssh, &spec, MUX_WAIT_S, &out, &status, err) && status == 0;
}

static bool start_master(struct ssh *ssh, const char *log, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.out_path = log};
	char dir[] = "/tmp/mmperf-ssh-XXXXXX";

	/* Not in the attempt's directory: a socket's path may have 107 characters. */
	if (!mkdtemp(dir))
		return err_sys(err, "cannot make %s", dir);
	ssh->dir = xstrdup(dir);
	strs_push(&spec.argv, "ssh");
	push_options(ssh, "ERROR", &spec.argv);
	strs_pushl(&spec.argv, "-o", "ControlMaster=yes", "-N", "-T", ssh->destination, NULL);
	return proc_start(&spec, &ssh->master, err);
}

static bool wait_for_master(struct ssh *ssh, double timeout_s, const char *log, struct err *err)
{
	AUTO_FREE char *socket = xasprintf("%s/c", ssh->dir);
	double end = clock_mono_s() + timeout_s;
	AUTO_STR said = str_new();
	struct err ignored;
	int status;

	for (;;) {
		if (proc_wait(&ssh->master, CHECK_S, &status))
			break;
		if (fs_exists(socket))
			return true;
		if (!worker_tick(ssh->worker, err))
			return false;
		if (clock_mono_s() > end)
			break;
	}
	if (!fs_read(log, MAX_SAID, &said, &ignored))
		str_clear(&said);
	return ssh_explain(ssh, said.s, err);
}

bool ssh_connect(struct ssh *ssh, double timeout_s, struct err *err)
{
	AUTO_FREE char *log = xasprintf("%s/ssh.master", ssh->worker->dir);
	struct err ignored;
	bool ok;

	if (ssh->dir && master_answers(ssh, &ignored))
		return true;
	ssh_disconnect(ssh);
	unlink(log);
	ok = worker_hold(ssh->worker, WORKER_HOLD_S, err) && start_master(ssh, log, err) &&
	     wait_for_master(ssh, timeout_s, log, err);
	if (!ok)
		ssh_disconnect(ssh);
	return ok;
}

bool ssh_script(struct ssh *ssh, const char *script, double timeout_s, struct str *out, int *status,
		struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.stdin_text = script};

	ssh_argv(ssh, false, &spec.argv);
	return run(ssh, &spec, timeout_s, out, status, err) ||
	       err_wrap(err, "machine %s", ssh->destination);
}

bool ssh_push(struct ssh *ssh, const char *local, const char *remote, double timeout_s,
	      struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_STR out = str_new();
	int status = -1;

	strs_pushl(&spec.argv, "scp", "-q", NULL);
	push_options(ssh, "ERROR", &spec.argv);
	strs_pushl(&spec.argv, "-o", "ControlMaster=no", "--", local, NULL);
	strs_pushf(&spec.argv, "%s:%s", ssh->destination, remote);
	if (!run(ssh, &spec, timeout_s, &out, &status, err))
		return err_wrap(err, "copying to machine %s", ssh->destination);
	if (status == 0)
		return true;
	ssh_explain(ssh, out.s, err);
	return err_wrap(err, "copying %s", remote);
}
