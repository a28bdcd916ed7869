/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PROC_H
#define BASE_PROC_H

/*
 * Child processes: argv vectors, never a shell string; own process group; every descriptor but
 * 0-2 (and the ones passed on purpose) closed; the whole group ends with the child, at the
 * timeout, and when we die, however we die (SIGTERM, then SIGKILL).
 *
 *   struct proc_spec spec = {.timeout_s = 60};
 *   strs_pushl(&spec.argv, "git", "gc", NULL);
 *   if (!proc_run(&spec, &result, err)) ...       could not start, or timed out
 *   if (result.status) ...                        ran and said no
 */

#include "base/str.h"

#include <sys/types.h>

struct proc_spec {
	struct strs argv;
	struct strs env;      /* "NAME=value" put over the inherited environment */
	bool env_clear;	      /* start from an empty environment instead */
	const char *cwd;      /* NULL = ours */
	const char *out_path; /* stdout and stderr are appended to this file; NULL = captured by
				 proc_run(), ours in proc_start() */
	const char *err_path; /* stderr is appended to this file; NULL = it goes with stdout */
	const char *user;     /* run as this user when proc_may_switch(); NULL = stay */
	bool no_network;   /* as sandbox_cut_network(); an empty network namespace where we may */
	bool keep_rights;  /* it is our own program: our ambient capabilities stay with it */
	const char *cpus;  /* CPU list such as "0-1"; NULL = all of ours */
	int nice;	   /* added to ours */
	double timeout_s;  /* 0 = none */
	size_t max_output; /* captured bytes kept (the last ones); 0 = 1 MiB */
	int pass_fd;	   /* handed to the child as descriptor 3; 0 = none */
	int stdio_fd;	   /* becomes the child's 0, 1 and 2: a terminal, say; 0 = none */
	const char *stdin_text; /* NULL = /dev/null */
	const int *stop; /* polled: non-zero ends the child early (signal flag); NULL = never */
};

struct proc_result {
	int status;	/* exit status, or 128 + signal */
	struct str out; /* stdout and stderr as they came, unless out_path was set */
	bool timed_out;
	double seconds; /* wall clock */
	double cpu_s;	/* user + system, of the child and what it waited for */
};

void proc_spec_release(struct proc_spec *spec);
void proc_result_release(struct proc_result *result);

/* Runs to its end. False only when the child could not be started, timed out (ERR_TIMEOUT), or was
 * stopped. result is always filled, with the output so far, and always to be released. */
bool proc_run(const struct proc_spec *spec, struct proc_result *result,
	      struct err *err) _must_check;

/* A child that goes on beside us. */
struct proc {
	pid_t pid; /* 0 when not running; also its process group */
	int pidfd;
	pid_t watcher; /* private */
};
#define PROC_NONE                     \
	{                             \
		.pid = 0, .pidfd = -1 \
	}

/* timeout_s, max_output and stop of spec are not looked at. */
bool proc_start(const struct proc_spec *spec, struct proc *proc, struct err *err) _must_check;
/* True when it has ended (status filled as in proc_result); waits up to timeout_s (0 = look). */
bool proc_wait(struct proc *proc, double timeout_s, int *status);
/* SIGTERM to the group, SIGKILL after grace_s, reaps. Fine on an ended or empty proc. */
void proc_kill(struct proc *proc, double grace_s);
void proc_release(struct proc *proc); /* proc_kill() with a grace of 2 s */

/* Whether we may become other users: as root does, or a service with those two capabilities. */
bool proc_may_switch(void);

/* Path of the running executable's directory; the caller frees it. */
char *proc_self_dir(void);
/* First PATH entry that holds an executable name; NULL when none. The caller frees it. */
char *proc_which(const char *name);

#endif
