// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors as one line of text. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	err->kind = kind;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return false;
}

bool err_sys(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t n;

	err->kind = ERR_FAILED;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", strerror(saved));
	return false;
}

bool err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[sizeof(err->msg)];
	va_list ap;
	size_t n;

	memcpy(inner, err->msg, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", inner);
	return false;
}

int err_exit_status(const struct err *err)
{
	return err->kind == ERR_USAGE || err->kind == ERR_NOTFOUND ? 2 : 1;
}
