/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_MAIL_H
#define REPORTS_MAIL_H

/* One mail as RFC 5322 text. */

#include "base/str.h"

#include <stdint.h>

struct mail {
	const char *from;	 /* "Name <address>" */
	const struct strs *to;	 /* the same; none = undisclosed recipients */
	const struct strs *cc;	 /* may be NULL */
	const char *subject;	 /* UTF-8; hostile */
	const char *body;	 /* UTF-8 lines; control characters are replaced */
	const char *message_id;	 /* without <> */
	const char *in_reply_to; /* of the patch, without <>; hostile, left out when malformed */
	int64_t date_s;
	int64_t regression; /* 0: it is about something else */
};

/* CRLF line ends; body as it is when it is ASCII in short lines, else quoted-printable. Fails only
 * on a malformed address or Message-ID. */
bool mail_build(const struct mail *mail, struct str *out, struct err *err) _must_check;
/* A fresh Message-ID without <>: "mmperf.12.0123456789ab.RANDOM@domain of from". */
bool mail_new_id(const char *from, int64_t regression, const char *oid, char **out,
		 struct err *err) _must_check;

#endif
