/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

/* One report: what the rows say, and what follows from it for a reader. The formats only print. */

#include "db/report.h"

struct report {
	struct report_facts facts;
	const struct report_series *primary; /* in facts.series; NULL when there is none */
	char *metric;			     /* of primary: "fault.latency" */
	char *verdict;			     /* regression, improvement, change */
	bool contention_only;		  /* lock waits got worse, no latency or throughput did */
	const struct report_series *cost; /* contention_only: the timing that could have shown it
					     and has the highest upper limit; NULL = none measured */
	double cost_below_pct;		  /* that limit: the cost is below it with 95 % */
	char *page; /* where the page can be read: URL or path; NULL = unknown */
	char *bisect_command;
	char *compare_command;
	struct strs by_hand; /* shell lines for somebody without mmperf */
};

/* A series' effect as a reader wants it: percent of the value, + is more. */
struct report_change {
	double pct, lo_pct, hi_pct;
	double mde_pct;	  /* smallest change found 90 times of 100; NAN = not known */
	const char *word; /* "worse", "better", "" without a direction or when not significant */
};

struct report_change report_change_of(const struct report_series *series);
/* Of series i and the clean passes: a lock wait is told by its name, "lock." in front. */
bool report_is_lock(const struct report_series *series);

/* page_base: [report] url or the pages directory; NULL = unknown. */
bool report_read(struct db *db, int64_t regression, const char *page_base, struct report *out,
		 struct err *err) _must_check;
/* The derived fields from facts, which report takes over. */
void report_derive(struct report *report, const char *page_base);
void report_release(struct report *report);

/* "tree/branch", or "tree". */
void report_add_where(const struct report_facts *facts, struct str *out);
/* "ci: qemu, direct boot, emulated": text is hostile only as far as settings are. */
/* "reverting it on the tip removes 93 % [85, 101] of the change", or why that is not known. */
void report_add_revert(const struct report_facts *facts, struct str *out);
/* "4 functions differ from the parent's: a, b, c and d; ...", or why that is not known; nothing when nobody looked. */
void report_add_functions(const struct report_facts *facts, struct str *out);
void report_add_machine(const struct report_facts *facts, struct str *out);
/* "[tree/branch] SHA12 ("subject"): fault.latency +12.3 % regression", subject cut. */
void report_add_title(const struct report *report, struct str *out);

#endif
