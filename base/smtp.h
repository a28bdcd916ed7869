/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SMTP_H
#define BASE_SMTP_H

/* Sending one mail over libcurl. */

#include "base/str.h"

struct smtp_server {
	const char *url;	   /* smtp://host:587 or smtps://host */
	const char *user;	   /* NULL = no authentication */
	const char *password_file; /* mode 0600, read at each send; NULL = none */
	bool starttls;		   /* require STARTTLS on smtp:// */
	const char *ca_file;	   /* NULL = the system's */
	double timeout_s;
};

enum smtp_outcome {
	SMTP_SENT, /* the server took the message */
	SMTP_REFUSED, /* certainly not taken: no connection, refused before or at the end of DATA (4xx/5xx) */
	SMTP_UNSURE, /* the connection broke after DATA began: nobody knows */
};

/* message: the full RFC 5322 text with CRLF line ends. err is filled unless SMTP_SENT; ERR_USAGE
 * when trying again as it is will hardly help (5xx, settings). */
enum smtp_outcome smtp_send(const struct smtp_server *server, const char *from,
			    const struct strs *to, const struct str *message,
			    struct err *err) _must_check;

#endif
