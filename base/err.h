/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * An error is one line that a user understands: what happened, where, what to do.
 * A function that can fail returns bool and takes `struct err *err` last. It fills err exactly
 * once; callers may put context in front with err_wrap(). Outputs are untouched on failure.
 */

#include <stdarg.h>
#include <stdbool.h>

#define _must_check    __attribute__((warn_unused_result))
#define _printf_(f, a) __attribute__((format(printf, f, a)))
#define _unused	       __attribute__((unused))

enum err_kind {
	ERR_NONE,
	ERR_FAILED,   /* the outside world said no: disk, network, another program */
	ERR_USAGE,    /* the person asked for something impossible; exit status 2 */
	ERR_NOTFOUND, /* the thing named does not exist; exit status 2 from the command line */
	ERR_TIMEOUT,
	ERR_CONFLICT, /* a lease was lost or a unique row exists already */
	ERR_DBDOWN,   /* the database does not answer: retry later */
};

struct err {
	enum err_kind kind;
	char msg[1024];
};

/* All return false, so that `return err_set(err, ...)` reads well. err may not be NULL. */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) _printf_(3, 4);
/* As err_set() with ERR_FAILED, and ": strerror(errno)" behind. */
bool err_sys(struct err *err, const char *fmt, ...) _printf_(2, 3);
/* Puts "context: " in front of the message already there; the kind stays. */
bool err_wrap(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Exit status for a command that failed with err: 2 for what the user must correct, else 1. */
int err_exit_status(const struct err *err);

#endif
