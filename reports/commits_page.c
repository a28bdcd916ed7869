// SPDX-License-Identifier: GPL-2.0-or-later
/* Every commit. */
#include "reports/commits_page.h"

#include <math.h>
#include <string.h>

#include "base/js.h"
#include "db/span.h"
#include "reports/escape.h"
#include "reports/formats/html_parts.h"
#include "reports/number.h"

static bool same_commit(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"tree", "branch", "oid"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(js_str_or(a, keys[i], ""), js_str_or(b, keys[i], "")) != 0)
			return false;
	return true;
}

static void commit_begin(struct str *out, const json_t *row)
{
	str_add(out, "<tr><td>");
	escape_html(out, js_str_or(row, "tree", "-"));
	str_addc(out, '/');
	escape_html(out, js_str_or(row, "branch", "-"));
	str_addf(out, "</td><td>%.12s ", js_str_or(row, "oid", "-"));
	escape_html(out, js_str_or(row, "subject", ""));
	str_add(out, "</td><td>");
}

/* "fault_ns +2.1 % (with 3 others)", or what became of what was found. */
static void series_part(struct str *out, const json_t *row)
{
	double down_to = js_f64_or(row, "down_to", NAN);
	long long beside = js_i64_or(row, "beside", 0);
	const char *found = js_str_or(row, "found", NULL);

	escape_html(out, js_str_or(row, "class", "-"));
	str_addc(out, ' ');
	escape_html(out, js_str_or(row, "metric", "-"));
	if (down_to == 0)
		str_add(out, " same kernel");
	else
		str_addf(out, " %s", number_pct(100 * expm1(down_to)).s);
	if (beside)
		str_addf(out, " with %lld other%s", beside, beside > 1 ? "s" : "");
	if (found) {
		str_add(out, " <b>");
		escape_html(out, found);
		str_add(out, "</b>");
	}
}

static void table(struct str *out, const json_t *rows)
{
	const json_t *row, *last = NULL;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!last || !same_commit(last, row)) {
			str_add(out, last ? "</td></tr>\n" : "");
			commit_begin(out, row);
		} else {
			str_add(out, "; ");
		}
		series_part(out, row);
		last = row;
	}
	str_add(out, last ? "</td></tr>\n" : "");
}

bool commits_page(struct db *db, struct str *out, struct err *err)
{
	AUTO_JSON *rows = NULL;

	if (!span_commits(db, NULL, &rows, err))
		return err_wrap(err, "page of commits");
	html_open(out, "mmperf: down to what nothing happened in each commit");
	str_add(out,
		"<p class=\"dim\"><a href=\"index.html\">all regressions</a>, "
		"<a href=\"history.html\">heads</a></p>\n"
		"<h1>Down to what nothing happened in each commit</h1>\n"
		"<p>Of each branch's newest snapshot, newest commit first, made anew each night. A "
		"change for the worse of this size would have been suspected 9 times in 10. "
		"Commits "
		"that were not measured themselves lie between two that were, and only show "
		"together. "
		"Bold: what became of a suspicion. A dash: too little was measured.</p>\n"
		"<div class=\"scroll\"><table>\n<tr><th>branch</th><th>commit</th>"
		"<th>nothing down to</th></tr>\n");
	table(out, rows);
	str_add(out, "</table></div>\n");
	html_close(out);
	return true;
}
