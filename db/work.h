/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_WORK_H
#define DB_WORK_H

/* Builds, classes and jobs as the bisector sees them: what is asked for, and how far it is. */

#include "db/conn.h"

enum build_state {
	BUILD_ABSENT,  /* nobody asked for it */
	BUILD_PENDING, /* its job is queued or running */
	BUILD_BUILT,
	BUILD_FAILED, /* the tree does not compile: final */
	BUILD_BROKEN, /* its job failed for another reason, such as a full disk */
};

struct build_look {
	int64_t id;
	enum build_state state;
	int64_t image; /* when built */
	bool clean_verified;
	char error[256]; /* first line; empty when there is none */
};

/* What must be equal for two commits to be the same build. */
struct build_key {
	const char *tree_oid;
	int64_t recipe;
	int64_t toolchain;
	int64_t layout_seed; /* 0 = the plain layout */
};

bool build_look(struct db *db, const struct build_key *key, struct build_look *out,
		struct err *err) _must_check;
/* Asks for it unless somebody did: the builds row, its job "build:ID", and a priority that is at
 * least this one. commit: whose tree it is. */
bool build_ensure(struct db *db, const struct build_key *key, int64_t commit, int priority,
		  const char *purpose, struct build_look *out, struct err *err) _must_check;

/* A commit's build, in one layout. */
struct built {
	int64_t commit;
	int64_t build; /* 0 when absent */
	int64_t image;
	enum build_state state;
};
/* One per given commit, in the given order, in the plain layout or in that of its seed; the caller frees *out. */
bool builds_of_commits(struct db *db, const int64_t *commits, size_t n, int64_t recipe,
		       int64_t toolchain, struct built **out, struct err *err) _must_check;
bool builds_of_layouts(struct db *db, const int64_t *commits, const int64_t *seeds, size_t n,
		       int64_t recipe, int64_t toolchain, struct built **out,
		       struct err *err) _must_check;

struct class_info {
	int64_t id;
	char *name;
	bool emulated;
	bool running; /* measures the kernel that its machines run, and boots no image */
	int machines; /* whatever their state */
	int up;
	int queued; /* boot jobs that wait for one of them */
};

struct classes {
	struct class_info *v;
	size_t n;
	size_t cap;
};

void classes_release(struct classes *classes);
/* Classes that have machines. */
bool classes_read(struct db *db, struct classes *out, struct err *err) _must_check;
/* Those of them that boot images. */
bool classes_read_booting(struct db *db, struct classes *out, struct err *err) _must_check;

/* Toolchain of the host that was seen last; 0 while no host has told its own. */
bool toolchain_current(struct db *db, int64_t *id, struct err *err) _must_check;

struct work_job {
	int64_t id;
	char *key;
	char *kind;
	char *state;
	char *role;
	int64_t commit;
	int64_t image;
	int64_t build;
	bool ended;	 /* done, failed or cancelled */
	bool kernel_bad; /* failed, and its last attempt says that the kernel did it */
	char *error;
};

struct work_jobs {
	struct work_job *v;
	size_t n;
	size_t cap;
};

void work_jobs_release(struct work_jobs *jobs);
/* Jobs of a candidate, bisection or request (0 = do not care) and a purpose (NULL = any), by id. */
bool work_jobs_read(struct db *db, int64_t candidate, int64_t bisection, int64_t request,
		    const char *purpose, struct work_jobs *out, struct err *err) _must_check;

/* Routine boots of one image in one class, for one suite. */
struct routine {
	int64_t suite;
	int alive; /* queued, running or done */
	int open;  /* queued or running */
	int failed;
};

struct routines {
	struct routine *v;
	size_t n;
	size_t cap;
	int jobs;	 /* all of them, for the next key */
	bool unbootable; /* the kernel failed and no boot of it in this class ever succeeded */
};

void routines_release(struct routines *routines);
bool routines_read(struct db *db, int64_t image, int64_t class_id, struct routines *out,
		   struct err *err) _must_check;
/* Of these images, those that do not boot in this class; *out is the caller's to free. */
bool unbootable_images(struct db *db, int64_t class_id, const int64_t *images, size_t n,
		       int64_t **out, size_t *n_out, struct err *err) _must_check;
/* Of these images, those that have routine boots or never can have; likewise. */
bool routine_images(struct db *db, const int64_t *images, size_t n, int64_t **out, size_t *n_out,
		    struct err *err) _must_check;
/* Something waits that a person or a decision asked for: requests, confirmations, bisections. */
bool work_is_urgent(struct db *db, bool *urgent, struct err *err) _must_check;
/* Medians of the last of both; NAN while that is not known. */
bool work_times(struct db *db, double *boot_s, double *build_s, struct err *err) _must_check;

/* A build as it went over a host's worktree. */
struct made_build {
	char *tree_oid;
	int64_t host;
	bool incremental;
	double seconds; /* of its whole attempt; NAN: it runs, did not end well, or was a rebuild */
};

struct made_builds {
	struct made_build *v;
	size_t n;
	size_t cap;
};

void made_builds_release(struct made_builds *made);
/* The last of a recipe, newest first. Those that a cache answered never came to the worktree, and are
 * left out. */
bool made_builds_read(struct db *db, int64_t recipe, struct made_builds *out,
		      struct err *err) _must_check;

#endif
