/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

/* How a report can be said: one file under reports/formats/ and one line in the table for each. */

#include "reports/report.h"

struct report_format {
	const char *name; /* text, html, json */
	const char *mime;
	void (*write)(struct str *out, const struct report *report);
};

/* Ends with a zeroed entry. */
extern const struct report_format report_formats[];
/* NULL when there is none of that name. */
const struct report_format *report_format_find(const char *name);

void format_text_write(struct str *out, const struct report *report);
void format_html_write(struct str *out, const struct report *report);
void format_json_write(struct str *out, const struct report *report);

#endif
