/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_MACHINE_H
#define RUNNER_MACHINE_H

/*
 * One boot on one machine. A driver (runner/machines/X.c, and its line in machine.c) is a table of
 * verbs, called in order: load, start, confirm, run, collect, recover. Each is resumable: called again
 * after it failed half way, it first undoes what is left over of its last try.
 *
 * A verb returns false only when the machine or we failed. A kernel that failed is a verdict: the
 * verb sets it by machine_verdict() and returns true, and the next verb is collect.
 */

#include "base/js.h"
#include "base/secret.h"
#include "runner/collect.h"
#include "runner/console.h"
#include "runner/console_watch.h"
#include "runner/net_lines.h"
#include "runner/quiet.h"
#include "runner/serial_lines.h"
#include "runner/worker.h"

struct machine {
	struct worker *worker;
	const struct machine_driver *driver;
	const char *name;     /* of its [machine "NAME"] settings */
	const char *kernel;   /* path of the kernel; NULL: the running one */
	const char *modules;  /* path of their archive; NULL: the kernel has none */
	const char *build_id; /* that it must have; NULL: any */
	const char *agent;    /* path of mmperf-agent */
	char nonce[SECRET_NONCE_SIZE];
	char *job_text;	  /* for the agent */
	char *lines_path; /* the agent's lines, as they come */
	char *console_path;
	struct collect *collect;
	int lines_fd;
	size_t console_from; /* what stands before in it belongs to earlier boots */
	struct console_watch watch;
	bool by_console; /* the agent's lines come out of the console */
	struct serial_lines serial;
	bool by_net; /* the agent calls by TCP, or answers by ssh */
	struct net_lines net;
	struct proc proc;    /* what must end with the boot */
	const char *outcome; /* of boots; NULL while nothing is decided */
	struct str reason;
	double started_s; /* clock_mono_s(); 0: never started */
	double guest_s;
	struct quiet quiet;
	double foreign_share; /* of the CPUs while it measured; negative: not known */
	void *state;	      /* the driver's */
};

struct machine_driver {
	const char *name;
	bool agent_is_init;
	const char *(*method)(const struct machine *m); /* direct, kexec, none */
	bool (*load)(struct machine *m, struct err *err);
	bool (*start)(struct machine *m, struct err *err);
	bool (*confirm)(struct machine *m, struct err *err);
	bool (*run)(struct machine *m, struct err *err);
	bool (*collect)(struct machine *m, struct err *err);
	bool (*recover)(struct machine *m, struct err *err);
	/* From settings alone. cpus: of the host that it keeps busy; 0 = none worth counting. */
	int (*cpus)(const struct settings *settings, const char *name);
	bool (*emulated)(const struct settings *settings, const char *name);
};

/* ERR_USAGE names those there are. */
bool machine_driver_find(const char *name, const struct machine_driver **out,
			 struct err *err) _must_check;

/* What the settings smt, lru-gen and swap of the machine ask for, as "knobs" of the agent's job; none when
 * all say keep. ERR_USAGE names a word that is none of theirs. */
bool machine_add_knobs(const struct conf *conf, const char *name, json_t *job,
		       struct err *err) _must_check;

/* json: the agent's job without nonce and init, which are added; taken. kernel, modules, build_id, agent
 * and worker are borrowed. */
void machine_init(struct machine *m, struct worker *worker, const struct machine_driver *driver,
		  json_t *job);
void machine_release(struct machine *m);
/* The verbs up to collect. Afterwards outcome is set, or it failed; machine_recover() has to follow either way. */
bool machine_boot(struct machine *m, struct err *err) _must_check;
/* False: the machine is not where the next boot can start from; that one will look after it first. */
bool machine_recover(struct machine *m, struct err *err) _must_check;

/* For drivers. */
void machine_verdict(struct machine *m, const char *outcome, const char *fmt, ...) _printf_(3, 4);
/* The verdict is what the console says, else `otherwise` with why and the last line. True. */
bool machine_diagnose(struct machine *m, const char *otherwise, const char *why);
/* From console_from on the console is listened to for this boot's end, and, by_console, for the agent's lines. */
void machine_listen(struct machine *m);
/* What this boot's console tells beside that; false when nothing was recorded. */
bool machine_console_facts(struct machine *m, struct console_facts *out);
/* m's own setting. */
const char *machine_str(const struct machine *m, const char *key);

enum machine_wait {
	MACHINE_HELLO,
	MACHINE_END
};
/*
 * Reads the agent's lines until the hello or end line, or until m->proc has ended, the console has said that the
 * kernel is dead, or timeout_s are over; then sets the verdict by what the console says. proc_ended (may be NULL) gets its exit
 * status, or stays -1.
 */
bool machine_follow(struct machine *m, enum machine_wait until, double timeout_s, int *exit_status,
		    struct err *err) _must_check;
/* The hello line must name the kernel that we loaded, freshly booted. */
bool machine_confirm(struct machine *m, bool fresh, struct err *err) _must_check;
/* Ends m->proc and counts the guest's time. */
void machine_stop(struct machine *m);

#endif
