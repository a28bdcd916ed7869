// SPDX-License-Identifier: GPL-2.0-or-later
/* What follows from the facts. */
#include "reports/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/number.h"
#include "stats/compare.h"
#include "stats/estimate.h"

bool report_is_lock(const struct report_series *series)
{
	return str_starts(series->metric, "lock.");
}

/* The half width of the interval is t(0.975) standard errors; a true change of t(0.975) + t(0.9)
 * of them is found 90 times of 100 (the usual normal-theory power argument). */
static double detectable(const struct report_series *series)
{
	double df = series->before_n + series->after_n - 2, t = 0;

	if (df < 1 || !isfinite(series->hi - series->lo))
		return NAN;
	t = estimate_t_quantile(0.975, df);
	return (series->hi - series->lo) / 2 / t * (t + estimate_t_quantile(0.9, df));
}

struct report_change report_change_of(const struct report_series *series)
{
	enum better better = better_parse(series->direction);
	double sign = better_sign(better);
	double a = 100 * compare_relative(sign * series->lo);
	double b = 100 * compare_relative(sign * series->hi);

	return (struct report_change){
		.pct = 100 * compare_relative(sign * series->effect),
		.lo_pct = fmin(a, b),
		.hi_pct = fmax(a, b),
		.mde_pct = 100 * compare_relative(detectable(series)),
		.word = !series->significant || better == BETTER_NONE ? ""
			: series->effect > 0			      ? "worse"
								      : "better",
	};
}

static bool is_timing(const struct report_series *series)
{
	return !report_is_lock(series) && !strcmp(series->pass, "clean") &&
	       better_parse(series->direction) != BETTER_NONE;
}

/* A lock wait grew, and no timing did: then the cost is below the highest upper limit of those. */
static void judge_contention(struct report *report)
{
	const struct report_facts *facts = &report->facts;
	bool waits = false, costs = false;

	report->cost = NULL;
	for (size_t i = 0; i < facts->n_series; i++) {
		const struct report_series *series = &facts->series[i];

		if (report_is_lock(series))
			waits |= series->significant && series->effect > 0;
		if (!is_timing(series))
			continue;
		costs |= series->significant && series->effect > 0;
		if (!report->cost || series->hi > report->cost->hi)
			report->cost = series;
	}
	report->contention_only = waits && !costs;
	if (!report->contention_only)
		report->cost = NULL;
	report->cost_below_pct =
		report->cost ? 100 * compare_relative(fmax(report->cost->hi, 0)) : NAN;
}

static void add_word(struct str *out, const char *option, const char *value)
{
	str_addf(out, " %s ", option);
	escape_shell(out, value);
}

static char *bisect_command(const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR out = str_new();

	str_addf(&out, "mmperf bisect --good %.12s --bad %.12s", facts->good.oid, facts->bad.oid);
	add_word(&out, "--bench", facts->suite);
	if (report->primary)
		add_word(&out, "--metric", report->primary->metric);
	return str_take(&out);
}

static char *compare_command(const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR out = str_new();

	str_addf(&out, "mmperf compare %.12s %.12s", facts->parent.oid, facts->culprit.oid);
	add_word(&out, "--bench", facts->suite);
	return str_take(&out);
}

static char *benchmark_line(const struct report *report)
{
	AUTO_STR out = str_new();

	str_add(&out, "./");
	str_add(&out, report->primary ? report->primary->benchmark : report->facts.suite);
	for (size_t i = 0; i < report->facts.params.n; i++) {
		const char *param = report->facts.params.v[i], *value = strchr(param, '=');
		AUTO_FREE char *name = xasprintf("--%.*s", (int)(value ? value - param : 0), param);

		if (value)
			add_word(&out, name, value + 1);
	}
	return str_take(&out);
}

static void by_hand(const struct report *report, struct strs *lines)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR fetch = str_new();
	AUTO_STR config = str_new();
	AUTO_FREE char *run = benchmark_line(report);

	str_add(&fetch, "git fetch ");
	escape_shell(&fetch, facts->url);
	if (facts->branch) {
		str_addc(&fetch, ' ');
		escape_shell(&fetch, facts->branch);
	}
	str_add(&config, "make allnoconfig KCONFIG_ALLCONFIG=");
	escape_shell(&config, facts->recipe);
	str_add(&config, ".config");
	strs_push(lines, fetch.s);
	strs_pushf(lines, "git checkout %.12s    # then the same with %.12s", facts->parent.oid,
		   facts->culprit.oid);
	strs_push(lines, config.s);
	strs_push(lines, "make -j$(nproc) bzImage");
	strs_push(lines,
		  "# boot it; there, with the static program that mmperf builds in build/bench:");
	strs_push(lines, run);
}

static void find_primary(struct report *report)
{
	const struct report_facts *facts = &report->facts;

	report->primary = facts->n_series ? &facts->series[0] : NULL;
	for (size_t i = 0; i < facts->n_series; i++) {
		if (facts->series[i].primary) {
			report->primary = &facts->series[i];
			break;
		}
	}
}

void report_derive(struct report *report, const char *page_base)
{
	const struct report_series *primary;

	find_primary(report);
	primary = report->primary;
	report->metric = primary ? xasprintf("%s.%s", primary->benchmark, primary->metric)
				 : xstrdup("(no metric)");
	report->verdict =
		xstrdup(!primary || better_parse(primary->direction) == BETTER_NONE ? "change"
			: primary->effect > 0					    ? "regression"
					      : "improvement");
	judge_contention(report);
	if (page_base)
		report->page =
			xasprintf("%s%sregression-%lld.html", page_base,
				  str_ends(page_base, "/") ? "" : "/", (long long)report->facts.id);
	report->bisect_command = bisect_command(report);
	report->compare_command = compare_command(report);
	by_hand(report, &report->by_hand);
}

bool report_read(struct db *db, int64_t regression, const char *page_base, struct report *out,
		 struct err *err)
{
	*out = (struct report){0};
	if (!report_facts_read(db, regression, &out->facts, err))
		return false;
	report_derive(out, page_base);
	return true;
}

void report_release(struct report *report)
{
	report_facts_release(&report->facts);
	free(report->metric);
	free(report->verdict);
	free(report->page);
	free(report->bisect_command);
	free(report->compare_command);
	strs_release(&report->by_hand);
	*report = (struct report){0};
}

void report_add_where(const struct report_facts *facts, struct str *out)
{
	escape_text(out, facts->tree);
	if (facts->branch) {
		str_addc(out, '/');
		escape_text(out, facts->branch);
	}
}

/* A share as a whole number of percent; never "-0". */
static double whole_pct(double share)
{
	return rint(100 * share) + 0.0;
}

void report_add_revert(const struct report_facts *facts, struct str *out)
{
	if (!isfinite(facts->revert_effect)) {
		escape_text(out, facts->revert_reason ? facts->revert_reason : "not tried");
		return;
	}
	str_addf(out, "reverting it on the tip removes %.0f %% ", whole_pct(facts->revert_effect));
	if (isfinite(facts->revert_lo) && isfinite(facts->revert_hi))
		str_addf(out, "[%.0f, %.0f] of the change", whole_pct(facts->revert_lo),
			 whole_pct(facts->revert_hi));
	else
		str_add(out, "of the change, but too few boots tell it from any other share");
}

#define NAMES_SHOWN 8

static void add_names(const struct report_functions *f, struct str *out)
{
	size_t shown = f->names.n < NAMES_SHOWN ? f->names.n : NAMES_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		str_add(out, i ? ", " : ": ");
		escape_text(out, f->names.v[i]);
	}
	if ((size_t)f->differ > shown)
		str_addf(out, ", and %zu more", (size_t)f->differ - shown);
}

/* Of the functions that matter. */
static void add_hot(const struct report_functions *f, struct str *out)
{
	if (!f->hot)
		str_add(out,
			"; which of them the benchmark runs is not known without a profile of it");
	else if (!f->hot_differ)
		str_addf(out,
			 "; none of the %d where the benchmark spends its time (profile, lock "
			 "waits)",
			 f->hot);
	else
		str_addf(out,
			 "; the first %d of these are among the %d where the benchmark spends its "
			 "time",
			 f->hot_differ, f->hot);
}

void report_add_functions(const struct report_facts *facts, struct str *out)
{
	const struct report_functions *f = &facts->functions;

	if (!f->known) {
		if (f->reason)
			str_add(out, "not compared: ");
		escape_text(out, f->reason ? f->reason : "");
		return;
	}
	if (f->suspect)
		str_add(out, "LAYOUT SUSPECT: the commit may only have moved code. ");
	if (!f->differ) {
		str_add(out, "No function of the kernel differs from the parent's");
		return;
	}
	str_addf(out, "%d function%s from the parent's", f->differ,
		 f->differ == 1 ? " differs" : "s differ");
	add_names(f, out);
	add_hot(f, out);
}

void report_add_machine(const struct report_facts *facts, struct str *out)
{
	static const struct {
		const char *method, *words;
	} methods[] = {{"direct", "booted directly"},
		       {"kexec", "booted by kexec"},
		       {"initramfs", "booted by kexec into an initramfs"},
		       {"none", "its running kernel"}};

	escape_text(out, facts->class_name);
	str_add(out, " (");
	escape_text(out, facts->driver);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (!strcmp(methods[i].method, facts->method))
			str_addf(out, ", %s", methods[i].words);
	str_addf(out, ", %s)",
		 facts->emulated		  ? "emulated: a test bed, not an instrument"
		 : !strcmp(facts->driver, "qemu") ? "virtual machine"
						  : "bare metal");
}

void report_add_title(const struct report *report, struct str *out)
{
	const struct report_facts *facts = &report->facts;

	str_addc(out, '[');
	report_add_where(facts, out);
	str_addf(out, "] %.12s (\"", facts->culprit.oid);
	escape_text_cut(out, facts->culprit.subject, 60);
	str_add(out, "\"): ");
	escape_text(out, report->metric);
	if (report->primary) {
		str_addc(out, ' ');
		number_add_pct(out, report_change_of(report->primary).pct);
	}
	str_addf(out, " %s", report->verdict);
}
