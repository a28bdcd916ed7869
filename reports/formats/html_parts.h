/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_FORMATS_HTML_PARTS_H
#define REPORTS_FORMATS_HTML_PARTS_H

/* The drawings of the page: inline SVG, coloured by the page's style sheet. */

#include "reports/report.h"

/* Start and style sheet; title is plain text. The page needs nothing from elsewhere and runs no
 * script. */
void html_open(struct str *out, const char *title);
void html_close(struct str *out);

/* Every boot of the bisection as a dot over its commit, levels before and after, posterior below. */
void html_bisection_plot(struct str *out, const struct report *report);
/* What a reader needs to read it. */
void html_bisection_legend(struct str *out, const struct report *report);
/* Wait per operation of each lock class, before over after. */
void html_lock_bars(struct str *out, const struct lock_changes *locks);
/* One line of a forest plot: interval and effect between -limit_pct and +limit_pct. */
void html_forest(struct str *out, const struct report_change *change, double limit_pct);

#endif
