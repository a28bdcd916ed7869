// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of formats. */
#include "reports/format.h"

#include <string.h>

const struct report_format report_formats[] = {
	{"html", "text/html; charset=utf-8", format_html_write},
	{"json", "application/json", format_json_write},
	{"text", "text/plain; charset=utf-8", format_text_write},
	{0},
};

const struct report_format *report_format_find(const char *name)
{
	for (const struct report_format *format = report_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
