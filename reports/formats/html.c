// SPDX-License-Identifier: GPL-2.0-or-later
/* Report as page. */
#include "reports/format.h"

#include <math.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/formats/html_parts.h"
#include "reports/number.h"

static void add_item(struct str *out, const char *name, const char *value)
{
	str_addf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void add_headline(struct str *out, const struct report *report)
{
	const struct report_series *primary = report->primary;
	struct report_change change;
	AUTO_STR levels = str_new();
	AUTO_STR posterior = str_new();
	AUTO_STR boots = str_new();

	if (!primary)
		return;
	change = report_change_of(primary);
	str_addf(out,
		 "<div class=\"headline %s\"><span class=\"big\">%s<small>%s</small></span>\n<dl>",
		 change.word, number_pct(change.pct).s, report->verdict);
	str_add(&levels, number_value(primary->before_mean, primary->unit).s);
	str_addf(&levels, " \xe2\x86\x92 %s", number_value(primary->after_mean, primary->unit).s);
	number_add_probability(&posterior, report->facts.posterior);
	str_addf(&boots, "%d search, %d + %d proof", report->facts.search_boots, primary->before_n,
		 primary->after_n);
	str_add(out, "<div><dt>metric</dt><dd>");
	escape_html(out, report->metric);
	str_add(out, "</dd></div>\n");
	add_item(out, "parent \xe2\x86\x92 commit", levels.s);
	add_item(out, "95 % interval", number_interval(change.lo_pct, change.hi_pct).s);
	add_item(out, "posterior", posterior.s);
	add_item(out, "boots", boots.s);
	str_add(out, "</dl></div>\n");
}

static void add_notes(struct str *out, const struct report *report)
{
	if (report->contention_only) {
		str_add(out, "<p class=\"note\"><b>Contention only.</b> Lock waits grew, but no "
			     "latency or throughput got significantly worse");
		if (report->cost) {
			str_addf(out, ": the cost is below %.1f %% (", report->cost_below_pct);
			escape_html(out, report->cost->metric);
			str_addf(out, "; a change of %.1f %% would have been found)",
				 report_change_of(report->cost).mde_pct);
		}
		str_add(out, ".</p>\n");
	}
	if (report->facts.functions.suspect) {
		AUTO_STR code = str_new();

		report_add_functions(&report->facts, &code);
		str_add(out, "<p class=\"note\">");
		escape_html(out, code.s);
		str_add(out, ".</p>\n");
	}
	if (report->facts.emulated)
		str_add(out, "<p class=\"note\"><b>Emulated machine.</b> A test bed, not an "
			     "instrument: on it a lock wait is mostly a virtual CPU that was "
			     "preempted. For the lab's own eyes.</p>\n");
}

static void add_head(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR where = str_new();

	report_add_where(facts, &where);
	str_add(out, "<p class=\"dim\"><a href=\"index.html\">all regressions</a> / ");
	escape_html(out, where.s);
	str_addf(out, " / %s %lld, %s</p>\n<h1>", report->verdict, (long long)facts->id,
		 facts->created);
	escape_html(out, facts->culprit.subject);
	str_addf(out, "</h1>\n<p><code>%s</code> by ", facts->culprit.oid);
	escape_html(out, facts->culprit.author_name);
	str_add(out, " &lt;");
	escape_html(out, facts->culprit.author_email);
	str_add(out, "&gt;");
	if (facts->culprit.link) {
		str_add(out, ", <a rel=\"noreferrer\" href=\"");
		escape_href(out, facts->culprit.link);
		str_add(out, "\">");
		escape_html(out, facts->culprit.link);
		str_add(out, "</a>");
	}
	str_addf(out, "</p>\n<p class=\"dim\">parent <code>%.12s</code> ", facts->parent.oid);
	escape_html(out, facts->parent.subject);
	str_add(out, "</p>\n");
}

/* Wide enough for every interval, but not so wide that one broad one hides the rest. */
static double forest_limit(const struct report *report)
{
	double limit = report->primary ? 2.5 * fabs(report_change_of(report->primary).pct) : 10;
	double most = 0;

	for (size_t i = 0; i < report->facts.n_series; i++) {
		struct report_change change = report_change_of(&report->facts.series[i]);

		if (isfinite(change.lo_pct) && isfinite(change.hi_pct))
			most = fmax(most, fmax(fabs(change.lo_pct), fabs(change.hi_pct)));
	}
	limit = fmin(fmax(limit, 5), most > 0 ? most : limit);
	return limit > 0 ? limit : 1;
}

/* usual: the parameters of the primary series, which the setup tells once. */
static void add_series_row(struct str *out, const struct report_series *series, const char *usual,
			   double limit_pct)
{
	struct report_change change = report_change_of(series);

	str_add(out, "<tr><td>");
	escape_html(out, series->benchmark);
	str_addc(out, '.');
	escape_html(out, series->metric);
	if (series->params && (!usual || strcmp(series->params, usual))) {
		str_add(out, "<br/><span class=\"dim\">");
		escape_html(out, series->params);
		str_add(out, "</span>");
	}
	str_addf(out, "</td><td class=\"num\">%s</td>",
		 number_value(series->before_mean, series->unit).s);
	str_addf(out, "<td class=\"num\">%s</td>",
		 number_value(series->after_mean, series->unit).s);
	str_addf(out, "<td class=\"num %s\">%s%s</td><td class=\"num\">%s</td><td>", change.word,
		 number_pct(change.pct).s, series->significant ? " *" : "",
		 number_interval(change.lo_pct, change.hi_pct).s);
	html_forest(out, &change, limit_pct);
	str_addf(out, "</td><td class=\"num\">%d+%d</td><td class=\"num\">%s</td></tr>\n",
		 series->before_n, series->after_n, number_pct(change.mde_pct).s);
}

static void add_series(struct str *out, const struct report *report)
{
	double limit_pct = forest_limit(report);

	str_add(out, "<h2>What moved, and what did not</h2>\n<div class=\"scroll\"><table>\n<tr>"
		     "<th>metric</th><th class=\"num\">parent</th><th class=\"num\">commit</th>"
		     "<th class=\"num\">change</th><th class=\"num\">95 % interval</th>");
	str_addf(out,
		 "<th>\xc2\xb1 %.3g %%</th><th class=\"num\">n</th>"
		 "<th class=\"num\">detectable</th></tr>\n",
		 limit_pct);
	for (size_t i = 0; i < report->facts.n_series; i++)
		add_series_row(out, &report->facts.series[i],
			       report->primary ? report->primary->params : NULL, limit_pct);
	str_add(out,
		"</table></div>\n<p class=\"legend\">Geometric means of n fresh boots, in random "
		"order, that neither the suspicion nor the search used. * significant: the "
		"interval excludes 0. Detectable: what such a test finds 9 times of "
		"10.</p>\n");
}

static void add_lock_row(struct str *out, const struct lock_change *lock)
{
	const double *wait = lock->wait_per_op_ns;

	str_add(out, lock->site ? "<tr><td class=\"site\">" : "<tr class=\"class\"><td>");
	escape_html(out, lock->site ? lock->site : lock->class_name);
	str_addf(out, "</td><td class=\"num\">%s</td>", number_value(wait[0], "ns").s);
	str_addf(out, "<td class=\"num\">%s</td><td class=\"num\">%s</td>",
		 number_value(wait[1], "ns").s,
		 wait[0] > 0 ? number_pct(100 * (wait[1] / wait[0] - 1)).s : "new");
	str_addf(out, "<td class=\"num\">%s \xe2\x86\x92 %s</td>", number_share(lock->share[0]).s,
		 number_share(lock->share[1]).s);
	str_addf(out, "<td class=\"num\">%s \xe2\x86\x92 %s</td>",
		 number_value(lock->count[0], "count").s, number_value(lock->count[1], "count").s);
	str_addf(out, "<td class=\"num\">%s \xe2\x86\x92 %s</td></tr>\n",
		 number_value(lock->max_ns[0], "ns").s, number_value(lock->max_ns[1], "ns").s);
}

static void add_locks(struct str *out, const struct report *report)
{
	const struct lock_changes *locks = &report->facts.locks;

	str_add(out, "<h2>Lock waits per operation</h2>\n");
	if (locks->doubt || !locks->n) {
		str_add(out, "<p class=\"note\">");
		escape_html(out, locks->doubt ? locks->doubt
					      : "None were seen, or no boot of the proof looked.");
		str_add(out, "</p>\n");
	}
	if (!locks->n)
		return;
	str_add(out, "<div class=\"scroll\">");
	html_lock_bars(out, locks);
	str_add(out, "</div><p class=\"legend\"><svg class=\"key\" viewBox=\"0 0 12 12\"><rect "
		     "class=\"bar before\" width=\"12\" height=\"12\"/></svg>parent <svg "
		     "class=\"key\" viewBox=\"0 0 12 12\"><rect class=\"bar after\" width=\"12\" "
		     "height=\"12\"/></svg>commit. ");
	str_addf(out,
		 "Instrumented runs of %d + %d boots, summed over threads; \xc2\xb1 is the "
		 "deviation between boots.</p>\n<div class=\"scroll\"><table>\n",
		 locks->boots[0], locks->boots[1]);
	str_add(out, "<tr><th>class, call site</th><th class=\"num\">parent</th>"
		     "<th class=\"num\">commit</th><th class=\"num\">change</th>"
		     "<th class=\"num\">share of thread time</th><th class=\"num\">events per "
		     "boot</th><th class=\"num\">longest</th></tr>\n");
	for (size_t i = 0; i < locks->n; i++)
		add_lock_row(out, &locks->v[i]);
	str_add(out, "</table></div>\n");
}

static void add_fact(struct str *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	str_addf(out, "<tr><th>%s</th><td>", name);
	escape_html(out, value);
	str_add(out, "</td></tr>\n");
}

static void add_setup(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_FREE char *params = strs_join(&facts->params, ", ");
	AUTO_FREE char *environment = strs_join(&facts->environment, ", ");
	AUTO_FREE char *recipe = xasprintf("%s, version %d", facts->recipe, facts->recipe_version);
	AUTO_STR machine = str_new();
	AUTO_STR where = str_new();
	AUTO_STR revert = str_new();
	AUTO_STR code = str_new();

	report_add_revert(facts, &revert);
	report_add_functions(facts, &code);
	report_add_machine(facts, &machine);
	report_add_where(facts, &where);
	str_addf(&where, ", %s", facts->url);
	str_add(out, "<h2>Setup</h2>\n<table class=\"facts\">\n");
	add_fact(out, "tree", where.s);
	add_fact(out, "suite", facts->suite);
	add_fact(out, "parameters", params);
	add_fact(out, "test machine", machine.s);
	add_fact(out, "environment", environment);
	add_fact(out, "kernel config", recipe);
	add_fact(out, "compiler", facts->toolchain);
	add_fact(out, "revert", revert.s);
	add_fact(out, "code", code.s);
	str_add(out, "</table>\n");
}

static void add_reproduce(struct str *out, const struct report *report)
{
	str_add(out, "<h2>Reproduce</h2>\n<pre>");
	escape_html(out, report->compare_command);
	str_addc(out, '\n');
	escape_html(out, report->bisect_command);
	str_add(out, "</pre>\n<p>Without mmperf:</p>\n<pre>");
	for (size_t i = 0; i < report->by_hand.n; i++) {
		escape_html(out, report->by_hand.v[i]);
		str_addc(out, '\n');
	}
	str_add(out, "</pre>\n<details><summary>The recipe, ");
	escape_html(out, report->facts.recipe);
	str_add(out, ".config</summary>\n<pre>");
	for (const char *line = report->facts.recipe_text; line && *line;) {
		size_t n = strcspn(line, "\n");
		AUTO_FREE char *one = xstrndup(line, n);

		escape_html(out, one);
		str_addc(out, '\n');
		line += n + (line[n] == '\n');
	}
	str_add(out, "</pre></details>\n");
}

void format_html_write(struct str *out, const struct report *report)
{
	AUTO_STR title = str_new();

	report_add_title(report, &title);
	html_open(out, title.s);
	add_head(out, report);
	add_headline(out, report);
	add_notes(out, report);
	str_add(out, "<h2>Bisection</h2>\n<div class=\"scroll\">");
	html_bisection_plot(out, report);
	str_add(out, "</div>\n");
	html_bisection_legend(out, report);
	add_series(out, report);
	add_locks(out, report);
	add_setup(out, report);
	add_reproduce(out, report);
	html_close(out);
}
