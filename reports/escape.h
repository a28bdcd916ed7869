/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_ESCAPE_H
#define REPORTS_ESCAPE_H

/*
 * Hostile text to where it lands. Each of these first makes it one line of valid UTF-8 in which
 * control characters (also U+0080-U+009F) and characters that turn the direction of text are
 * shown as escapes: \n, \x1b, \u202e. NULL appends nothing.
 */

#include "base/str.h"

/* Plain text: terminals, mail bodies. */
void escape_text(struct str *out, const char *s);
/* At most max characters (code points), then "...". */
void escape_text_cut(struct str *out, const char *s, size_t max);
/* HTML and SVG: text and quoted attribute values. */
void escape_html(struct str *out, const char *s);
/* href: the URL when it is http(s) and only of URL characters, else "#". */
void escape_href(struct str *out, const char *url);
/* One word of a POSIX shell command. */
void escape_shell(struct str *out, const char *s);

#endif
