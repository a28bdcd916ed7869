// SPDX-License-Identifier: GPL-2.0-or-later
/* What would have been seen. */
#include "reports/history_page.h"

#include <math.h>

#include "base/js.h"
#include "db/status.h"
#include "reports/escape.h"
#include "reports/formats/html_parts.h"
#include "reports/number.h"
#include "reports/twins.h"

/* A log ratio as percent; a dash where there is none. */
static struct number_text percent(const json_t *row, const char *key)
{
	return number_pct(100 * expm1(js_f64_or(row, key, NAN)));
}

static void cell(struct str *out, const json_t *row, const char *key)
{
	str_add(out, "<td>");
	escape_html(out, js_str_or(row, key, "-"));
	str_add(out, "</td>");
}

/* Said beside the metric, since it touches every number of it. */
static void metric_cell(struct str *out, const json_t *row)
{
	double upper = js_f64_or(row, "mode_upper", NAN);

	str_add(out, "<td>");
	escape_html(out, js_str_or(row, "metric", "-"));
	if (isfinite(upper))
		str_addf(out, "<br/><span class=\"dim\">two heaps: %s of the boots %s</span>",
			 number_share(upper).s, percent(row, "mode_apart").s);
	str_add(out, "</td>");
}

static void series_row(struct str *out, const json_t *row)
{
	str_add(out, "<tr class=\"class\"><td>");
	escape_html(out, js_str_or(row, "tree", "-"));
	str_addc(out, '/');
	escape_html(out, js_str_or(row, "branch", "-"));
	str_add(out, "</td>");
	cell(out, row, "class");
	cell(out, row, "benchmark");
	metric_cell(out, row);
	str_addf(out,
		 "<td class=\"num\">%lld</td><td class=\"num\">%lld</td><td class=\"num\">%s</td>"
		 "<td>%.12s</td><td class=\"num\">%s</td></tr>\n",
		 (long long)js_i64_or(row, "heads", 0), (long long)js_i64_or(row, "levels", 0),
		 percent(row, "step").s, js_str_or(row, "step_at", "-"), percent(row, "down_to").s);
}

static void head_row(struct str *out, const json_t *head)
{
	const char *found = js_str_or(head, "found", NULL);

	str_addf(out, "<tr><td class=\"site\" colspan=\"7\">%.12s ", js_str_or(head, "oid", "-"));
	escape_html(out, js_str_or(head, "subject", ""));
	str_add(out, "</td><td>");
	escape_html(out, found ? found : "nothing");
	str_addf(out, "</td><td class=\"num\">%s</td></tr>\n", percent(head, "down_to").s);
}

static void alarms_text(struct str *out, const json_t *alarms)
{
	str_addf(out,
		 "<p>Of %lld clusters of series that were suspected within seven days %lld were "
		 "confirmed; noise alone would have confirmed %.2g of them on average, at "
		 "most.</p>\n",
		 (long long)js_i64_or(alarms, "clusters", 0),
		 (long long)js_i64_or(alarms, "confirmed", 0),
		 js_f64_or(alarms, "expected_false", 0));
}

static void twins_text(struct str *out, json_t *twins)
{
	twins_add_rates(twins);
	str_add(out, "<p>");
	twins_say(out, twins);
	str_add(out, ".</p>\n");
}

static void page_text(struct str *out, const json_t *histories, const json_t *alarms)
{
	const json_t *row, *head;
	size_t i, k;

	html_open(out, "mmperf: what each head would have shown");
	str_add(out, "<p class=\"dim\"><a href=\"index.html\">all regressions</a></p>\n"
		     "<h1>What each head would have shown</h1>\n");
	alarms_text(out, alarms);
	twins_text(out, json_object_get(alarms, "twins"));
	str_add(out,
		"<p>Series are divided into levels each night. Down to: the change that would have "
		"been seen 9 times in 10, lasting within three heads for a series, at once for a "
		"head; + is worse. A dash: too little was measured before.</p>\n"
		"<div class=\"scroll\"><table>\n<tr><th>branch</th><th>class</th><th>benchmark</th>"
		"<th>metric</th><th class=\"num\">heads</th><th class=\"num\">levels</th>"
		"<th class=\"num\">last step</th><th>at / found</th><th class=\"num\">down to</th>"
		"</tr>\n");
	json_array_foreach(histories, i, row)
	{
		series_row(out, row);
		json_array_foreach(json_object_get(row, "commits"), k, head)
		{
			head_row(out, head);
		}
	}
	str_add(out, "</table></div>\n");
	html_close(out);
}

bool history_page(struct db *db, struct str *out, struct err *err)
{
	AUTO_JSON *histories = NULL, *alarms = NULL;

	if (!status_histories(db, &histories, err) || !status_alarms(db, &alarms, err))
		return err_wrap(err, "history page");
	page_text(out, histories, alarms);
	return true;
}
