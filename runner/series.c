// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding patch series. */
#include "runner/series.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_SERIES 1000

/* N of a first patch; 0 for every other commit. */
static size_t series_length(const char *body)
{
	static const char title[] = "Patch series \"", count[] = "This patch (of ";
	const char *found;
	long n;

	while (*body == '\n' || *body == ' ')
		body++;
	if (!str_starts(body, title))
		return 0;
	found = strstr(body, count);
	n = found ? strtol(found + sizeof(count) - 1, NULL, 10) : 0;
	return n > 0 && n <= LONGEST_SERIES ? (size_t)n : 0;
}

static bool is_fix(const char *subject)
{
	const char *last = NULL;

	for (const char *p = subject; (p = strstr(p, "-fix")); p++)
		last = p + strlen("-fix");
	return last && last[strspn(last, "-0123456789")] == '\0';
}

void series_groups(const struct tree_text *texts, size_t n, int *group_first)
{
	size_t left = 0; /* patches of the series that are still to come */

	for (size_t i = 0; i < n; i++) {
		size_t length = i ? series_length(texts[i].body) : 0;
		bool inside = left && !length;

		group_first[i] = inside ? group_first[i - 1] : (int)i;
		if (length)
			left = length - 1;
		else if (inside && !is_fix(texts[i].subject))
			left--;
	}
}
