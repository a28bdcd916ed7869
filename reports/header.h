/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_HEADER_H
#define REPORTS_HEADER_H

/* Header fields of a mail (RFC 5322, RFC 2047), from hostile text. Lines end with CRLF. */

#include "base/str.h"

/* Unstructured text (Subject): plain and folded when it is printable ASCII that no reader could
 * take for an encoded word, else as encoded words. Control characters are shown, never sent. */
void header_add_text(struct str *out, const char *name, const char *value);

/* "a.b@example.org": dot-atom and host name only, no quoting, no routing. */
bool header_address_ok(const char *address);
/* "Name <address>", "address" or "<address>" to its parts; either the caller frees. *name is empty
 * when there is none. */
bool header_mailbox_parse(const char *text, char **name, char **address,
			  struct err *err) _must_check;
/* "To: Name <a@b>, c@d": mailboxes in the form that header_mailbox_parse() takes. */
bool header_add_mailboxes(struct str *out, const char *name, const struct strs *mailboxes,
			  struct err *err) _must_check;

/* Without <>. Printable ASCII around one @, at most 200 characters. */
bool header_message_id_ok(const char *id);

#endif
