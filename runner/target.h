/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_TARGET_H
#define RUNNER_TARGET_H

/* What is done on a test machine: looking, loading a kernel, jumping into it, going back. */

#include "base/hash.h"
#include "runner/ssh.h"

#define TARGET_ID_SIZE 129

struct target_state {
	char boot_id[37];
	char build_id[TARGET_ID_SIZE]; /* of the kernel that runs; empty: it tells none */
	char release[128];
	char rsdp[32]; /* ACPI's root pointer as EFI gave it; empty without EFI */
	char *command_line;
	bool tested; /* it was jumped into by an attempt, whose token is: */
	int64_t token;
	bool healthy;		   /* that attempt left it in good health */
	int loaded;		   /* kexec_loaded: 0, 1; -1: the kernel has no kexec */
	bool refuses;		   /* kexec_load_disabled */
	char agent[HASH_HEX_SIZE]; /* sha256 of the one that we left there; empty: none */
	char lockdown[32];	   /* none, integrity, confidentiality; empty: no such thing */
	int64_t free_bytes;	   /* where we put files */
	double uptime_s;
};

void target_state_release(struct target_state *state);

/* Where files go on machine NAME: its setting `target-dir`. */
const char *target_dir(const struct worker *worker, const char *machine);

/* Connects and looks, for at most timeout_s each; *state is released first. Also makes the directory for our files. */
bool target_look(struct ssh *ssh, const char *dir, double timeout_s, struct target_state *state,
		 struct err *err) _must_check;
/* The same as text that target_look() got; for tests. False: something that must be there is not. */
bool target_state_parse(const char *text, struct target_state *state, struct err *err) _must_check;
/* GNU build-id in the hexadecimal text of /sys/kernel/notes; empty when there is none. */
void target_build_id(const char *notes, char out[TARGET_ID_SIZE]);

/*
 * The tested kernel's command line, which names its attempt's token (0: none): that of the running kernel (reuse) without what belongs to a boot
 * loader or to an earlier jump, then words, then acpi_rsdp. A word of `words` replaces those of the
 * same key, but console= may be there several times.
 */
void target_command_line(const char *current, bool reuse, const char *words, const char *rsdp,
			 int64_t token, struct str *out);

/* False says what keeps this machine from loading a kernel, and what to do about it. */
bool target_can_load(const struct target_state *state, const char *machine, const char *dir,
		     struct err *err) _must_check;

struct target_kernel {
	const char *kernel;	   /* local path */
	const char *initrd;	   /* local path, or NULL */
	const char *remote_initrd; /* path on the machine, or NULL */
	const char
		*initrd_command; /* run there with $KERNEL and $RELEASE; prints a path; or NULL */
	const char *modules; /* archive of lib/modules/RELEASE, for the machine's disk; or NULL */
	const char *agent;   /* local path, to be there when the kernel is up; or NULL */
	const char *agent_there; /* of the machine's target_state */
	const char *command_line;
};
/* Pushes it with checksums, installs its modules in place of an earlier attempt's, and loads it, by -s and else by -c; how gets the one that worked, dmesg, at its end, the
 * log of the kernel that runs: its last words, should the jump end in silence. */
bool target_load(struct ssh *ssh, const char *dir, const struct target_kernel *kernel,
		 double timeout_s, char how[8], struct str *dmesg, struct err *err) _must_check;
/* The initrd that kernel asks for, made for the machine's own kernel: for whoever looks whether that works. */
bool target_try_initrd(struct ssh *ssh, const char *dir, const struct target_kernel *kernel,
		       double timeout_s, struct err *err) _must_check;
/* Jumps into what is loaded. direct: kexec -e behind a sync, without shutting down; else systemctl
 * kexec. The connection is closed. */
bool target_jump(struct ssh *ssh, bool direct, struct err *err) _must_check;

/* Pushes the agent (checksum too) unless the machine's target_state says that it is there, and fills script, which
 * brings the job's text and runs it. */
bool target_push_agent(struct ssh *ssh, const char *dir, const char *agent, const char *there,
		       const char *job, struct str *script, struct err *err) _must_check;
/* The kernel's log, appended to out. */
bool target_dmesg(struct ssh *ssh, struct str *out, struct err *err) _must_check;
/* Unloads what kexec has loaded, removes our files but the agent, and says that this boot is healthy. */
bool target_clean(struct ssh *ssh, const char *dir, struct err *err) _must_check;

enum target_reboot {
	TARGET_REBOOT, /* as a person would */
	TARGET_SYSRQ,  /* sync, remount read-only, restart: by the kernel alone */
};
/* Begins a reboot through the firmware, with nothing loaded that could turn it into a jump. */
bool target_reboot(struct ssh *ssh, enum target_reboot how, struct err *err) _must_check;

#endif
