// SPDX-License-Identifier: GPL-2.0-or-later
/* Consoles behind programs that want a terminal: ipmitool's serial over LAN, conserver, any other. */
#include "runner/consoles/drivers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "runner/power/ipmi.h"

#define DEACTIVATE_S 25.0

/* Raw, so that nothing of the console is changed on its way or sent back as an echo. */
static bool open_terminal(int *master, int *slave, struct err *err)
{
	AUTO_CLOSE int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	AUTO_CLOSE int theirs = -1;
	struct termios mode;
	char name[64];

	if (ours < 0 || grantpt(ours) || unlockpt(ours) || ptsname_r(ours, name, sizeof(name)))
		return err_sys(err, "cannot make a terminal");
	theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0 || tcgetattr(theirs, &mode))
		return err_sys(err, "cannot open the terminal %s", name);
	cfmakeraw(&mode);
	if (tcsetattr(theirs, TCSANOW, &mode))
		return err_sys(err, "cannot set up the terminal %s", name);
	*master = TAKE_FD(ours);
	*slave = TAKE_FD(theirs);
	return true;
}

bool console_on_terminal(struct console_link *link, struct proc_spec *spec, struct err *err)
{
	AUTO_CLOSE int master = -1, slave = -1;

	if (!open_terminal(&master, &slave, err))
		return false;
	spec->stdio_fd = slave;
	if (!proc_start(spec, &link->proc, err))
		return false;
	link->fd = TAKE_FD(master);
	return true;
}

static bool installed(const char *program, const char *package, struct err *err)
{
	AUTO_FREE char *found = proc_which(program);

	return found ||
	       err_set(err, ERR_USAGE, "%s is not installed (package %s)", program, package);
}

/* IPMI serial over LAN -------------------------------------------------------------------------- */

static bool sol_check(const struct console_link *link, struct err *err)
{
	return ipmi_check(link->settings, link->machine, err);
}

/* A session of a dead client holds the line ("SOL payload already active") until it is ended; that
 * there is none is ipmitool's usual complaint. */
static void deactivate(const struct console_link *link)
{
	const char *const words[] = {"sol", "deactivate", NULL};
	CLEANUP(ipmi_wipe) struct proc_spec spec = {.timeout_s = DEACTIVATE_S};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	struct err err = {0};

	if (!ipmi_command(link->settings, link->machine, words, &spec, &err) ||
	    !proc_run(&spec, &result, &err))
		log_debug("machine %s: sol deactivate: %s", link->machine, err.msg);
}

static bool sol_connect(struct console_link *link, struct err *err)
{
	const char *const words[] = {"sol", "activate", NULL};
	CLEANUP(ipmi_wipe) struct proc_spec spec = {0};

	deactivate(link);
	return ipmi_command(link->settings, link->machine, words, &spec, err) &&
	       console_on_terminal(link, &spec, err);
}

/* What ipmitool says when the BMC has given it the line; link->state is how much of it has come. */
static const char greeting[] = "SOL Session operational";

static void sol_take(struct console_link *link, const char *bytes, size_t n, struct str *out)
{
	str_addn(out, bytes, n);
	for (size_t i = 0; i < n && greeting[link->state]; i++)
		link->state = bytes[i] == greeting[link->state] ? link->state + 1
								: bytes[i] == greeting[0];
}

/* ipmitool's escape is heard at the beginning of a line only. */
static bool sol_sysrq(struct console_link *link, char key, struct err *err)
{
	const char order[] = {'\r', '~', 'B', key};

	if (greeting[link->state])
		return err_set(err, ERR_FAILED, "the BMC has not opened the line yet");
	return console_send(link, order, sizeof(order), err);
}

/* conserver -------------------------------------------------------------------------------------- */

/* HOST[:PORT]/NAME in its parts; the caller frees them. */
static bool split_conserver(const char *place, char **host, char **port, char **name,
			    struct err *err)
{
	const char *slash = strchr(place, '/');
	AUTO_FREE char *server = NULL;

	if (!slash || slash == place || !slash[1])
		return err_set(err, ERR_USAGE, "\"%s\" is not HOST[:PORT]/CONSOLE", place);
	server = xstrndup(place, (size_t)(slash - place));
	*port = NULL;
	if (!strchr(server, ':'))
		*host = TAKE(server);
	else if (!console_split_place(server, host, port, err))
		return false;
	*name = xstrdup(slash + 1);
	return true;
}

static bool conserver_check(const struct console_link *link, struct err *err)
{
	AUTO_FREE char *host = NULL, *port = NULL, *name = NULL;

	return split_conserver(link->place, &host, &port, &name, err) &&
	       installed("console", "conserver-client", err);
}

static bool conserver_connect(struct console_link *link, struct err *err)
{
	AUTO_FREE char *host = NULL, *port = NULL, *name = NULL;
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};

	if (!split_conserver(link->place, &host, &port, &name, err))
		return false;
	strs_pushl(&spec.argv, "console", "-n", "-M", host, NULL);
	if (port)
		strs_pushl(&spec.argv, "-p", port, NULL);
	strs_push(&spec.argv, name);
	return console_on_terminal(link, &spec, err);
}

/* ^Ecl0: break; heard only by the client that has the console for writing. */
static bool conserver_sysrq(struct console_link *link, char key, struct err *err)
{
	const char order[] = {'\005', 'c', 'l', '0', key};

	return console_send(link, order, sizeof(order), err);
}

/* Any program ------------------------------------------------------------------------------------ */

static bool exec_check(const struct console_link *link, struct err *err)
{
	const char *command =
		conf_str(link->settings->conf, "machine", link->machine, "console-command");
	AUTO_STRS words = STRS_INIT;

	strs_split(&words, command ? command : "", " \t");
	if (!words.n)
		return err_set(err, ERR_USAGE, "set console-command in [machine \"%s\"]",
			       link->machine);
	return strchr(words.v[0], '/') || installed(words.v[0], "unknown", err);
}

static bool exec_connect(struct console_link *link, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};

	strs_split(&spec.argv,
		   conf_str(link->settings->conf, "machine", link->machine, "console-command"),
		   " \t");
	strs_pushf(&spec.env, "MMPERF_MACHINE=%s", link->machine);
	return console_on_terminal(link, &spec, err);
}

const struct console_driver console_ipmi = {
	.scheme = "ipmi",
	.check = sol_check,
	.connect = sol_connect,
	.take = sol_take,
	.sysrq = sol_sysrq,
};

const struct console_driver console_conserver = {
	.scheme = "conserver",
	.check = conserver_check,
	.connect = conserver_connect,
	.sysrq = conserver_sysrq,
};

const struct console_driver console_exec = {
	.scheme = "exec",
	.check = exec_check,
	.connect = exec_connect,
};
