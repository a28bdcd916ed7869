// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages on disk. */
#include "reports/pages.h"

#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "reports/commits_page.h"
#include "reports/escape.h"
#include "reports/format.h"
#include "reports/formats/html_parts.h"
#include "reports/history_page.h"
#include "reports/number.h"

static bool write_page(struct db *db, const char *path, const char *page_base, int64_t id,
		       struct err *err)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();

	if (!report_read(db, id, page_base, &report, err))
		return false;
	format_html_write(&out, &report);
	return fs_write_atomic(path, out.s, out.len, 0644, err);
}

static double change_pct(const struct report_line *line)
{
	const struct report_series series = {
		.effect = line->effect, .direction = line->direction, .significant = true};

	return report_change_of(&series).pct;
}

static void index_row(struct str *out, const struct report_line *line)
{
	const char *side = line->effect > 0 ? "worse" : "better";

	str_addf(out, "<tr><td class=\"num\">%s</td><td>", line->created);
	escape_html(out, line->tree);
	if (line->branch) {
		str_addc(out, '/');
		escape_html(out, line->branch);
	}
	str_addf(out, "</td><td><a href=\"regression-%lld.html\">%.12s</a> ", (long long)line->id,
		 line->oid);
	escape_html(out, line->subject);
	str_add(out, "</td><td>");
	escape_html(out, line->metric);
	str_addf(out, "</td><td class=\"num %s\">%s</td><td class=\"num\">",
		 strcmp(line->direction, "none") ? side : "", number_pct(change_pct(line)).s);
	number_add_probability(out, line->posterior);
	str_addf(out, "</td><td>%s%s</td></tr>\n", line->state, line->emulated ? ", emulated" : "");
}

static void index_text(struct str *out, const struct report_lines *lines)
{
	html_open(out, "mmperf: regressions");
	str_addf(out,
		 "<h1>Regressions</h1>\n<p class=\"dim\">%zu, newest first. Each was bisected and "
		 "then proved by fresh boots of the commit and its parent. "
		 "<a href=\"history.html\">What each head would have shown</a>, "
		 "<a href=\"commits.html\">each commit</a></p>\n",
		 lines->n);
	str_add(out,
		"<div class=\"scroll\"><table>\n<tr><th>found</th><th>branch</th><th>commit</th>"
		"<th>metric</th><th class=\"num\">change</th><th class=\"num\">posterior</th>"
		"<th>state</th></tr>\n");
	for (size_t i = 0; i < lines->n; i++)
		index_row(out, &lines->v[i]);
	str_add(out, "</table></div>\n");
	html_close(out);
}

/* An unchanged page is left alone, so that its time tells when something happened. */
static bool write_changed(const char *dir, const char *name, const struct str *now, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_STR before = str_new();
	struct err ignored = {0};

	if (fs_read(path, 64 << 20, &before, &ignored) && !strcmp(before.s, now->s))
		return true;
	return fs_write_atomic(path, now->s, now->len, 0644, err);
}

static bool write_index(const char *dir, const struct report_lines *lines, struct err *err)
{
	AUTO_STR now = str_new();

	index_text(&now, lines);
	return write_changed(dir, "index.html", &now, err);
}

static bool write_history(struct db *db, const char *dir, struct err *err)
{
	AUTO_STR now = str_new();

	return history_page(db, &now, err) && write_changed(dir, "history.html", &now, err);
}

static bool write_commits(struct db *db, const char *dir, struct err *err)
{
	AUTO_STR now = str_new();

	return commits_page(db, &now, err) && write_changed(dir, "commits.html", &now, err);
}

bool pages_update(struct db *db, const char *dir, const char *page_base, bool afresh,
		  struct err *err)
{
	CLEANUP(report_lines_release) struct report_lines lines = {0};
	struct err first = {0};

	if (!fs_mkdirs(dir, 0755, err) || !report_lines_read(db, &lines, err))
		return false;
	for (size_t i = 0; i < lines.n; i++) {
		AUTO_FREE char *path =
			xasprintf("%s/regression-%lld.html", dir, (long long)lines.v[i].id);
		struct err one = {0};

		if (!afresh && fs_exists(path))
			continue;
		if (!write_page(db, path, page_base, lines.v[i].id, &one) && first.kind == ERR_NONE)
			first = one;
		if (first.kind == ERR_DBDOWN)
			break;
	}
	if (first.kind == ERR_NONE)
		return write_index(dir, &lines, err) && write_history(db, dir, err) &&
		       write_commits(db, dir, err);
	*err = first;
	return false;
}
