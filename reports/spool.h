/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_SPOOL_H
#define REPORTS_SPOOL_H

/* Mails as files: DIR/MESSAGE-ID.eml, each written once, with the line ends of a Unix mail. */

#include "base/str.h"

/* True when that mail is there. */
bool spool_has(const char *dir, const char *message_id);
/* Written beside and linked into place: the whole mail or none; a mail that is there stays as it
 * is and counts as written. Makes the directory. */
bool spool_put(const char *dir, const char *message_id, const char *message,
	       struct err *err) _must_check;
/* DIR/MESSAGE-ID.eml; the caller frees it. */
char *spool_path(const char *dir, const char *message_id);

#endif
