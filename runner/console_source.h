/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CONSOLE_SOURCE_H
#define RUNNER_CONSOLE_SOURCE_H

/*
 * A machine's console, from machine.console to a file. While it is open a process of its own
 * (runner/console_record.h) appends to the file whatever comes, so that nothing is missed while we
 * wait for other things; it ends with us. A connection that is lost is made again, however long that
 * takes, and the gap is said in the file: a lost console is no crash.
 */

#include "db/settings.h"

struct console_source;

/* *out is NULL for a machine without a console, and all functions below take that. ERR_USAGE when
 * settings are wrong or a secret cannot be read. The file is made; an old one is appended to. */
bool console_source_open(const struct settings *settings, const char *machine, const char *path,
			 struct console_source **out, struct err *err) _must_check;
void console_source_free(struct console_source *c);
void console_source_free_ptr(struct console_source **c);

/*
 * Begins a new part of the file with a line that says what it is, and gives the position behind it:
 * the cursor of an attempt. What stands before belongs to earlier boots and is blamed on none. What
 * the source still had in store (serial servers replay) is taken first.
 */
bool console_source_mark(struct console_source *c, const char *what, size_t *cursor,
			 struct err *err) _must_check;
/* Appends what has come since cursor, at most max bytes, and moves it. Nothing new is no error. */
bool console_source_read(struct console_source *c, size_t *cursor, size_t max, struct str *out,
			 struct err *err) _must_check;
/* A break and this key: sysrq over the serial line. ERR_NOTFOUND when the source only listens, and
 * ERR_FAILED while it is not connected. */
bool console_source_sysrq(struct console_source *c, char key, struct err *err) _must_check;

#endif
