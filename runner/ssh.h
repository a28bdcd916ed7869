/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_SSH_H
#define RUNNER_SSH_H

/*
 * A test machine by OpenSSH: the user's ssh_config, keys and jump hosts, one control connection, host
 * keys that must be known beforehand, never a password. Each action needs the worker's lease.
 */

#include "runner/ssh_shell.h"
#include "runner/worker.h"

struct ssh {
	struct worker *worker;
	const char *destination, *config,
		*known_hosts; /* of the settings; the last two may be NULL */
	char *dir;	      /* holds the control socket; NULL before it */
	struct proc master;
	struct ssh_shell shell;	 /* of root's, once a script was run */
	bool (*over)(void *arg); /* asked while it connects: true ends that; NULL: never */
	void *over_arg;
};

/* From [machine "NAME"]; connects to nothing yet. */
void ssh_init(struct ssh *ssh, struct worker *worker, const char *machine);
/* Ends the connection; usable again. */
void ssh_disconnect(struct ssh *ssh);
void ssh_release(struct ssh *ssh);

/*
 * Tries to open the control connection, for a machine that may be coming up; fine when it is open.
 * ERR_FAILED: it does not answer (it may be booting); ERR_USAGE: waiting will not help, such as a
 * wrong key: the text says what will.
 */
bool ssh_connect(struct ssh *ssh, double timeout_s, struct err *err) _must_check;

/*
 * Runs script by sh as root (sudo -n unless the login user is root), in one session with those before it. out gets what it
 * said, also when it fails: status is its exit status, 255 when the connection broke. False: it could not be
 * run, or ran into the timeout (ERR_TIMEOUT).
 */
bool ssh_script(struct ssh *ssh, const char *script, double timeout_s, struct str *out, int *status,
		struct err *err) _must_check;
/* Copies local files into a directory that the login user can write, under their own names. */
bool ssh_push(struct ssh *ssh, const struct strs *locals, const char *dir, double timeout_s,
	      struct err *err) _must_check;
/* Runs script as the last one of that session, beside us: *proc is its end and *fd, which never blocks, what it says, both the
 * caller's. */
bool ssh_start(struct ssh *ssh, const char *script, struct proc *proc, int *fd,
	       struct err *err) _must_check;

/* Adds NAME='VALUE' and a newline, safe for any shell of POSIX. */
void ssh_assign(struct str *script, const char *name, const char *value);
/* What ssh or sudo said, in words that tell what to do. ERR_USAGE when waiting will not help, else
 * ERR_FAILED; returns false. */
bool ssh_explain(const struct ssh *ssh, const char *said, struct err *err);

#endif
