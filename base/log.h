/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * Programs log, modules return errors. One line: `subject: what`. On a terminal or file the line
 * carries the time; under systemd (JOURNAL_STREAM set) it carries the <N> level instead.
 */

#include "base/err.h"

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARN = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

void log_set_level(enum log_level level);
/* A name put before every line of this process ("runner"); the text must stay alive. */
void log_set_program(const char *name);
void log_error(const char *fmt, ...) _printf_(1, 2);
void log_warn(const char *fmt, ...) _printf_(1, 2);
void log_info(const char *fmt, ...) _printf_(1, 2);
void log_debug(const char *fmt, ...) _printf_(1, 2);

#endif
