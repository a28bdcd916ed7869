// SPDX-License-Identifier: GPL-2.0-or-later
/* Report as mail text. */
#include "reports/format.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/lock_table.h"
#include "reports/number.h"
#include "reports/table.h"

enum {
	TEXT_WIDTH = 78,
	MAX_SITES = 6,
	MAX_HYPOTHESES = 6
};

#define CONSTANT 1e-9 /* width of an interval of natural logarithms that is rounding alone */

static void add_field(struct str *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	str_addf(out, "%-14s", name);
	table_wrap(out, value, TEXT_WIDTH, "              ");
}

static void add_commit(struct str *out, const char *name, const struct report_commit *commit)
{
	str_addf(out, "%-8s%s (\"", name, commit->oid);
	escape_text_cut(out, commit->subject, 200);
	str_add(out, "\")\n");
}

/* "12.3 % " in front of the verdict, which tells the direction. */
static void add_size(struct str *out, double pct)
{
	if (fabs(pct) < 900)
		str_addf(out, "%.*f %% ", fabs(pct) < 0.1 ? 2 : 1, fabs(pct));
}

static void add_head(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	const struct report_series *primary = report->primary;

	str_add(out, "Hello,\n\nmmperf measured a ");
	if (primary)
		add_size(out, report_change_of(primary).pct);
	str_addf(out, "%s of ", report->verdict);
	escape_text(out, report->metric);
	if (primary) {
		str_add(out, "\n(");
		number_add(out, primary->before_mean, primary->unit);
		str_add(out, " -> ");
		number_add(out, primary->after_mean, primary->unit);
		str_addc(out, ')');
	}
	str_add(out, " on:\n\n");
	add_commit(out, "commit:", &facts->culprit);
	str_add(out, "author: ");
	escape_text(out, facts->culprit.author_name);
	str_add(out, " <");
	escape_text(out, facts->culprit.author_email);
	str_add(out, ">\n");
	if (facts->culprit.link) {
		str_add(out, "link:   ");
		escape_text(out, facts->culprit.link);
		str_addc(out, '\n');
	}
	add_commit(out, "parent:", &facts->parent);
	str_add(out, "tree:   ");
	report_add_where(facts, out);
	str_add(out, ", ");
	escape_text(out, facts->url);
	str_add(out, "\n\n");
}

/* Facts with a dot in their name are settings of the kernel, dozens of them: the page has those. */
static char *machine_facts(const struct strs *environment)
{
	AUTO_STR out = str_new();
	size_t left = 0;

	for (size_t i = 0; i < environment->n; i++) {
		const char *fact = environment->v[i];

		if (memchr(fact, '.', strcspn(fact, "="))) {
			left++;
			continue;
		}
		str_add(&out, out.len ? ", " : "");
		escape_text(&out, fact);
	}
	if (left)
		str_addf(&out, "%s%zu knobs (on the page)", out.len ? ", " : "", left);
	return str_take(&out);
}

static char *joined(const struct strs *texts)
{
	AUTO_FREE char *all = strs_join(texts, ", ");
	AUTO_STR out = str_new();

	escape_text(&out, all);
	return str_take(&out);
}

static void add_setup(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_FREE char *params = joined(&facts->params);
	AUTO_FREE char *environment = machine_facts(&facts->environment);
	AUTO_STR suite = str_new();
	AUTO_STR recipe = str_new();
	AUTO_STR toolchain = str_new();
	AUTO_STR machine = str_new();

	escape_text(&suite, facts->suite);
	if (*params)
		str_addf(&suite, ": %s", params);
	escape_text(&recipe, facts->recipe);
	str_addf(&recipe, ", version %d", facts->recipe_version);
	escape_text(&toolchain, facts->toolchain);
	report_add_machine(facts, &machine);
	add_field(out, "suite:", suite.s);
	add_field(out, "config:", recipe.s);
	add_field(out, "compiler:", toolchain.s);
	add_field(out, "test machine:", machine.s);
	add_field(out, "environment:", environment);
}

static size_t count_commits(const struct report_facts *facts)
{
	size_t n = 0;

	for (size_t i = 0; i < facts->n_hypotheses; i++)
		n += facts->hypotheses[i].commit != 0;
	return n;
}

static void add_confidence(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR text = str_new();
	AUTO_STR revert = str_new();
	AUTO_STR code = str_new();

	str_add(&text, "posterior ");
	number_add_probability(&text, facts->posterior);
	str_addf(&text, " among %zu candidate commits after %d boots;", count_commits(facts),
		 facts->search_boots);
	if (report->primary)
		str_addf(&text, " then proved by %d + %d fresh boots that the search did not use",
			 report->primary->before_n, report->primary->after_n);
	add_field(out, "confidence:", text.s);
	report_add_revert(facts, &revert);
	add_field(out, "revert:", revert.s);
	report_add_functions(facts, &code);
	add_field(out, "code:", code.s);
}

static void add_contention(struct str *out, const struct report *report)
{
	AUTO_STR text = str_new();

	if (!report->contention_only)
		return;
	str_add(&text, "Contention only: lock waits grew, but no latency or throughput got "
		       "significantly worse");
	if (report->cost) {
		struct report_change change = report_change_of(report->cost);

		str_addf(&text,
			 " (cost below %.1f %%, from %s.%s: 95 %% interval %s; a change of "
			 "%.1f %% would have been found)",
			 report->cost_below_pct, report->cost->benchmark, report->cost->metric,
			 number_interval(change.lo_pct, change.hi_pct).s, change.mde_pct);
	}
	str_addc(&text, '.');
	str_addc(out, '\n');
	table_wrap(out, text.s, TEXT_WIDTH, "");
}

static void add_tags(struct str *out, const struct report *report)
{
	if (report->page) {
		str_add(out, "\nPage with plots: ");
		escape_text(out, report->page);
		str_addc(out, '\n');
	}
	if (strcmp(report->verdict, "regression") || report->facts.emulated)
		return;
	str_add(out,
		"\nIf a separate commit fixes this (not just a new version of the same patch), "
		"please\ncredit the report in it:\n| Reported-by: mmperf\n");
	if (report->page && str_starts(report->page, "http")) {
		str_add(out, "| Closes: ");
		escape_text(out, report->page);
		str_addc(out, '\n');
	}
}

static void series_name(struct str *out, const struct report_series *series,
			const struct report *report)
{
	escape_text(out, series->benchmark);
	str_addc(out, '.');
	escape_text(out, series->metric);
	if (series->params && report->primary && report->primary->params &&
	    strcmp(series->params, report->primary->params)) {
		str_addc(out, ' ');
		escape_text(out, series->params);
	}
}

static void moved_row(struct table *table, const struct report *report,
		      const struct report_series *series)
{
	struct report_change change = report_change_of(series);
	AUTO_FREE char *n = xasprintf("%d+%d", series->before_n, series->after_n);
	AUTO_STR name = str_new();

	series_name(&name, series, report);
	TABLE_ROW(table, name.s, number_value(series->before_mean, series->unit).s,
		  number_value(series->after_mean, series->unit).s, number_pct(change.pct).s,
		  number_interval(change.lo_pct, change.hi_pct).s, n, change.word);
}

static void add_moved(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_TABLE table = {.columns = 7, .left = "     l"};

	TABLE_ROW(&table, "metric", "parent", "commit", "change", "95 % interval", "n", "");
	for (size_t i = 0; i < facts->n_series; i++)
		if (facts->series[i].significant || facts->series[i].primary)
			moved_row(&table, report, &facts->series[i]);
	str_add(out, "\nWhat moved (geometric means of n boots):\n\n");
	table_print(&table, "  ", out);
}

static bool is_unmoved(const struct report_series *series)
{
	return !series->significant && !series->primary;
}

/* The same in every boot of both: counts of what the benchmark does, locks that nobody waited for. */
static bool is_constant(const struct report_series *series)
{
	return series->hi - series->lo < CONSTANT;
}

static void unmoved_row(struct table *table, const struct report *report,
			const struct report_series *series)
{
	struct report_change change = report_change_of(series);
	AUTO_FREE char *n = xasprintf("%d+%d", series->before_n, series->after_n);
	AUTO_STR name = str_new();

	series_name(&name, series, report);
	TABLE_ROW(table, name.s, number_value(series->before_mean, series->unit).s,
		  number_value(series->after_mean, series->unit).s,
		  number_interval(change.lo_pct, change.hi_pct).s, n, number_pct(change.mde_pct).s);
}

static void add_unmoved(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_TABLE table = {.columns = 6};

	TABLE_ROW(&table, "metric", "parent", "commit", "95 % interval", "n", "would have seen");
	for (size_t i = 0; i < facts->n_series; i++)
		if (is_unmoved(&facts->series[i]) && !is_constant(&facts->series[i]))
			unmoved_row(&table, report, &facts->series[i]);
	if (table.cells.n == table.columns)
		return;
	str_add(out,
		"\nWhat did not, and the change that would have been found 9 times of 10:\n\n");
	table_print(&table, "  ", out);
}

static void add_constant(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR names = str_new();

	for (size_t i = 0; i < facts->n_series; i++) {
		const struct report_series *series = &facts->series[i];

		if (!is_unmoved(series) || !is_constant(series))
			continue;
		str_add(&names, names.len ? ", " : "");
		series_name(&names, series, report);
		str_addf(&names, " (%s)", number_value(series->after_mean, series->unit).s);
	}
	if (!names.len)
		return;
	str_add(out, "\nThe same in every boot of both:\n\n  ");
	table_wrap(out, names.s, TEXT_WIDTH, "  ");
}

static void add_locks(struct str *out, const struct report *report)
{
	str_addc(out, '\n');
	lock_table_print(out, &report->facts.locks, "parent", "commit");
}

/* The heaviest first; ties and the rest stay in history's order. */
static const struct report_hypothesis *next_by_mass(const struct report_facts *facts, bool *used)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < facts->n_hypotheses; i++)
		if (!used[i] &&
		    (best == SIZE_MAX || facts->hypotheses[i].mass > facts->hypotheses[best].mass))
			best = i;
	if (best == SIZE_MAX)
		return NULL;
	used[best] = true;
	return &facts->hypotheses[best];
}

static void add_posterior(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_FREE bool *used = xcalloc(facts->n_hypotheses, sizeof(*used));
	AUTO_TABLE table = {.columns = 3, .left = "ll"};
	double rest = 1;

	for (int i = 0; i < MAX_HYPOTHESES; i++) {
		const struct report_hypothesis *h = next_by_mass(facts, used);
		AUTO_STR mass = str_new();
		AUTO_STR subject = str_new();
		char sha[13];

		if (!h || (i > 1 && h->mass < 1e-4))
			break;
		number_add_probability(&mass, h->mass);
		rest -= h->mass;
		str_add(&subject, !strcmp(h->kind, "dropped") ? "dropped: " : "");
		escape_text_cut(&subject, h->oid ? h->subject : "no commit: nothing changed", 60);
		snprintf(sha, sizeof(sha), "%.12s", h->oid ? h->oid : "-");
		TABLE_ROW(&table, mass.s, sha, subject.s);
	}
	str_add(out, "\nPosterior of the search:\n\n");
	table_print(&table, "  ", out);
	if (rest > 1e-4)
		str_addf(out, "  %.4f  all others\n", rest);
}

static void add_reproduce(struct str *out, const struct report *report)
{
	str_addf(out,
		 "\nReproduce with mmperf:\n\n  %s\n  %s\n\nwithout it (the recipe is on the "
		 "page and in `mmperf report %lld --json`):\n\n",
		 report->compare_command, report->bisect_command, (long long)report->facts.id);
	for (size_t i = 0; i < report->by_hand.n; i++)
		str_addf(out, "  %s\n", report->by_hand.v[i]);
}

void format_text_write(struct str *out, const struct report *report)
{
	add_head(out, report);
	add_setup(out, report);
	add_confidence(out, report);
	add_contention(out, report);
	add_tags(out, report);
	add_moved(out, report);
	add_unmoved(out, report);
	add_constant(out, report);
	add_locks(out, report);
	add_posterior(out, report);
	add_reproduce(out, report);
	str_add(out, "\n-- \nmmperf " MMPERF_VERSION ": performance CI for the mm tree\n");
}
