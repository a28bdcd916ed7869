/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

/* HTTP over libcurl: bounded in time and size. */

#include "base/str.h"

/* Once per process, before any thread. */
void http_init(void);
/* GET; appends the body to out. Errors name the URL and the status. */
bool http_get(const char *url, double timeout_s, size_t max, struct str *out,
	      struct err *err) _must_check;

#endif
