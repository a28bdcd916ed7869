/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_SSH_SHELL_H
#define RUNNER_SSH_SHELL_H

/*
 * A shell of root's on a test machine that stays open from script to script: a session with sudo takes a busy
 * machine longer than most of what it is asked for.
 */

#include "base/proc.h"
#include "base/secret.h"

struct ssh_shell {
	struct proc proc;
	int fd; /* its input and output; -1: it is closed */
	char mark
		[SECRET_NONCE_SIZE]; /* stands behind each script's output, as nobody there can guess */
	char *err_path;		     /* what ssh and sudo have to say */
};
#define SSH_SHELL_NONE                       \
	{                                    \
		.proc = PROC_NONE, .fd = -1, \
	}

/* argv: of ssh, with sh reading its input at the other end. err_path: a file that may be there already. */
bool ssh_shell_open(struct ssh_shell *shell, const struct strs *argv, const char *err_path,
		    struct err *err) _must_check;
void ssh_shell_close(struct ssh_shell *shell);
/* It is open, and has not ended by itself. */
bool ssh_shell_lives(struct ssh_shell *shell);

/* Gives it one script, whose exit ends that script alone; nothing in it reads the shell's input. What cannot be written is found
 * out by ssh_shell_hear(). */
void ssh_shell_ask(struct ssh_shell *shell, const char *script);
/*
 * Appends what has come to out, waiting for at most wait_s for it. True: the script is over, with *status; when the shell has
 * ended instead (255 of ssh: no connection), out has what ssh or sudo said, too, and the shell is closed.
 */
bool ssh_shell_hear(struct ssh_shell *shell, double wait_s, struct str *out, int *status);

/* Gives it the last script, whose output is the caller's from now on, as are *proc and *fd, which never blocks. The shell is
 * closed. */
void ssh_shell_hand_over(struct ssh_shell *shell, const char *script, struct proc *proc, int *fd);

#endif
