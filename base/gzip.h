/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

/* Compressed files (RFC 1952), as zcat reads them. */

#include "base/str.h"

/* The same bytes give the same file: no name and no time goes in. */
bool gzip_file(const char *from, const char *to, struct err *err) _must_check;
/* Appends what is in the file, compressed or not; more than max bytes is an error. */
bool gzip_read(const char *path, size_t max, struct str *out, struct err *err) _must_check;

#endif
