// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines for operators. */
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"

static enum log_level max_level = LOG_LEVEL_INFO;
static const char *program;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_program(const char *name)
{
	program = name;
}

/*
 * JOURNAL_STREAM is inherited by programs whose stderr is a file or a pipe of ours, so the
 * variable alone does not say that the journal reads this stream: it must name its inode.
 */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

static const char *level_word(enum log_level level)
{
	switch (level) {
	case LOG_LEVEL_ERROR:
		return "error: ";
	case LOG_LEVEL_WARN:
		return "warning: ";
	case LOG_LEVEL_DEBUG:
		return "debug: ";
	case LOG_LEVEL_INFO:
		break;
	}
	return "";
}

/* Text of commits and machines may carry newlines and escapes that would forge a line. */
static void flatten(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
}

static _printf_(2, 0) void emit(enum log_level level, const char *fmt, va_list ap)
{
	AUTO_STR line = str_new();
	bool ok;

	if (level > max_level)
		return;
	if (stderr_is_journal()) {
		str_addf(&line, "<%d>", level);
	} else {
		clock_add_utc(&line, clock_wall_s());
		str_addc(&line, ' ');
		if (program)
			str_addf(&line, "%s: ", program);
		str_add(&line, level_word(level));
	}
	str_vaddf(&line, fmt, ap);
	flatten(line.s);
	str_addc(&line, '\n');
	/* There is nobody left to tell when this fails. */
	ok = fs_write_fd(STDERR_FILENO, line.s, line.len);
	(void)ok;
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_WARN, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_DEBUG, fmt, ap);
	va_end(ap);
}
