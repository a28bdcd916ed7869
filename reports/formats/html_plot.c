// SPDX-License-Identifier: GPL-2.0-or-later
/* Bisection as dots. */
#include "reports/formats/html_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/number.h"

enum {
	PLOT_WIDTH = 960,
	PLOT_LEFT = 76,
	PLOT_RIGHT = 14,
	DOTS_TOP = 22,
	DOTS_HEIGHT = 250,
	BARS_TOP = DOTS_TOP + DOTS_HEIGHT + 44,
	BARS_HEIGHT = 70,
	LABELS_TOP = BARS_TOP + BARS_HEIGHT + 14,
	PLOT_HEIGHT = LABELS_TOP + 56,
	MOST_LABELS = 48,
};

struct column {
	int64_t commit;
	const char *oid;
	const char *subject;
	const char *kind; /* good, base, commit, dropped, revert */
	double mass;	  /* NAN: no hypothesis */
	bool failed;
	bool after; /* the culprit or behind it */
	int dots;
};

struct plot {
	struct column *v;
	size_t n, cap;
	size_t culprit; /* column */
	double step;	/* width of a column */
	double low, high;
	bool logarithmic;
	const char *unit;
};

static struct column *add_column(struct plot *plot, const struct report_commit *commit,
				 const char *kind)
{
	struct column *column = array_push(plot->v, plot->n, plot->cap);

	*column = (struct column){.kind = kind, .mass = NAN};
	if (commit) {
		column->commit = commit->id;
		column->oid = commit->oid;
		column->subject = commit->subject;
	}
	return column;
}

static void add_hypotheses(struct plot *plot, const struct report_facts *facts, const char *kind)
{
	for (size_t i = 0; i < facts->n_hypotheses; i++) {
		const struct report_hypothesis *h = &facts->hypotheses[i];
		struct column *column;

		if (strcmp(h->kind, kind))
			continue;
		column = add_column(plot, NULL, kind);
		column->commit = h->commit;
		column->oid = h->oid;
		column->subject = h->subject;
		column->mass = h->mass;
		column->failed = h->failed;
		if (h->commit == facts->culprit.id)
			plot->culprit = plot->n - 1;
	}
}

/* After a rebase the new base as a whole is a hypothesis of its own. */
static bool is_hypothesis(const struct report_facts *facts, int64_t commit)
{
	for (size_t i = 0; i < facts->n_hypotheses; i++)
		if (facts->hypotheses[i].commit == commit &&
		    !strcmp(facts->hypotheses[i].kind, "commit"))
			return true;
	return false;
}

static bool has_revert(const struct report_facts *facts)
{
	for (size_t i = 0; i < facts->n_boots; i++)
		if (facts->boots[i].role && !strcmp(facts->boots[i].role, "revert"))
			return true;
	return false;
}

/* Good end, what a rebase dropped on the way to the common base, the base, and upwards. */
static void lay_out(struct plot *plot, const struct report_facts *facts)
{
	plot->culprit = SIZE_MAX;
	if (facts->good.id != facts->base.id)
		add_column(plot, &facts->good, "good");
	add_hypotheses(plot, facts, "dropped");
	if (!is_hypothesis(facts, facts->base.id))
		add_column(plot, &facts->base, "base");
	add_hypotheses(plot, facts, "commit");
	for (size_t i = plot->culprit; i < plot->n; i++)
		plot->v[i].after = true;
	if (has_revert(facts))
		add_column(plot, NULL, "revert");
	plot->step = (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT) / (double)plot->n;
}

static void widen(struct plot *plot, double value)
{
	if (!isfinite(value))
		return;
	plot->low = fmin(plot->low, value);
	plot->high = fmax(plot->high, value);
}

static void find_scale(struct plot *plot, const struct report *report)
{
	double pad = 0;

	plot->low = INFINITY;
	plot->high = -INFINITY;
	for (size_t i = 0; i < report->facts.n_boots; i++)
		widen(plot, report->facts.boots[i].value);
	if (report->primary) {
		widen(plot, report->primary->before_mean);
		widen(plot, report->primary->after_mean);
		plot->unit = report->primary->unit;
	}
	if (plot->low > plot->high)
		plot->low = plot->high = 1;
	plot->logarithmic = plot->low > 0 && plot->high > 12 * plot->low;
	if (plot->logarithmic) {
		plot->low /= 1.3;
		plot->high *= 1.3;
		return;
	}
	pad = plot->high > plot->low ? (plot->high - plot->low) * 0.1
				     : fabs(plot->high) * 0.1 + 1e-9;
	plot->low = plot->low >= 0 && plot->low < pad ? 0 : plot->low - pad;
	plot->high += pad;
}

static double y_of(const struct plot *plot, double value)
{
	double part = plot->logarithmic ? log(value / plot->low) / log(plot->high / plot->low)
					: (value - plot->low) / (plot->high - plot->low);

	return DOTS_TOP + DOTS_HEIGHT * (1 - part);
}

static double x_of(const struct plot *plot, size_t column)
{
	return PLOT_LEFT + plot->step * ((double)column + 0.5);
}

static void add_tick(struct str *out, const struct plot *plot, double value)
{
	double y = y_of(plot, value);

	if (y < DOTS_TOP || y > DOTS_TOP + DOTS_HEIGHT)
		return;
	str_addf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
		 PLOT_LEFT, PLOT_WIDTH - PLOT_RIGHT, y, y);
	str_addf(out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		 PLOT_LEFT - 8, y + 4, number_value(value, plot->unit).s);
}

/* 1, 2, 5 times a power of ten; on a logarithmic scale the same within each decade. */
static void add_ticks(struct str *out, const struct plot *plot)
{
	static const double steps[] = {1, 2, 5, 10};
	double rough = (plot->high - plot->low) / 4, unit = pow(10, floor(log10(rough)));
	double step = 10 * unit;

	if (plot->logarithmic) {
		for (double d = pow(10, floor(log10(plot->low))); d <= plot->high; d *= 10)
			for (size_t i = 0; i < 3; i++)
				add_tick(out, plot, d * steps[i]);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i] * unit >= rough) {
			step = steps[i] * unit;
			break;
		}
	}
	for (double v = ceil(plot->low / step) * step; v <= plot->high; v += step)
		add_tick(out, plot, fabs(v) < step / 1e6 ? 0 : v);
}

static void add_level(struct str *out, const struct plot *plot, size_t from, size_t to,
		      double value, const char *side)
{
	double y = y_of(plot, value), x1 = PLOT_LEFT + plot->step * (double)from;
	double x2 = PLOT_LEFT + plot->step * (double)to;

	str_addf(out,
		 "<line class=\"level %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		 side, x1, x2, y, y);
}

static void add_levels(struct str *out, const struct plot *plot, const struct report *report)
{
	size_t end = plot->n;

	if (!report->primary || plot->culprit == SIZE_MAX)
		return;
	str_addf(out, "<rect class=\"mark\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
		 PLOT_LEFT + plot->step * (double)plot->culprit, DOTS_TOP - 14, plot->step,
		 LABELS_TOP - DOTS_TOP + 4);
	add_level(out, plot, 0, plot->culprit, report->primary->before_mean, "before");
	if (!strcmp(plot->v[end - 1].kind, "revert"))
		end--;
	add_level(out, plot, plot->culprit, end, report->primary->after_mean, "after");
}

static struct column *column_of(struct plot *plot, const struct report_boot *boot)
{
	bool revert = boot->role && !strcmp(boot->role, "revert");

	for (size_t i = 0; i < plot->n; i++) {
		if (revert ? !strcmp(plot->v[i].kind, "revert") : plot->v[i].commit == boot->commit)
			return &plot->v[i];
	}
	return NULL;
}

static void add_cross(struct str *out, double x, double y, const char *why)
{
	str_addf(out, "<path class=\"cross\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"><title>", x - 4, y - 4);
	escape_html(out, why);
	str_add(out, "</title></path>\n");
}

static void add_boot(struct str *out, struct plot *plot, const struct report_boot *boot)
{
	static const double places[] = {0, -0.22, 0.22, -0.11, 0.11, -0.32, 0.32};
	struct column *column = column_of(plot, boot);
	bool prove = !strcmp(boot->purpose, "prove");
	double x;

	if (!column)
		return;
	x = x_of(plot, (size_t)(column - plot->v)) +
	    fmin(plot->step, 46) * places[(size_t)column->dots++ % ARRAY_SIZE(places)];
	if (!isfinite(boot->value)) {
		if (strcmp(boot->outcome, "ok"))
			add_cross(out, x, DOTS_TOP + DOTS_HEIGHT + 12, boot->outcome);
		return;
	}
	str_addf(out,
		 "<circle class=\"%s %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>%s boot: %s"
		 "</title></circle>\n",
		 prove ? "ring" : "dot", column->after ? "after" : "before", x,
		 y_of(plot, boot->value), prove ? "4.2" : "3.6", prove ? "proof" : "search",
		 number_value(boot->value, plot->unit).s);
}

static void column_title(struct str *out, const struct column *column)
{
	str_add(out, "<title>");
	if (column->oid)
		str_addf(out, "%.12s ", column->oid);
	else
		str_add(out, "tip without the culprit");
	escape_html(out, column->subject);
	if (isfinite(column->mass)) {
		str_add(out, ": posterior ");
		if (column->mass > 0 && column->mass < 0.0001)
			str_add(out, "below 0.0001");
		else
			str_addf(out, "%.4f", column->mass);
	}
	str_add(out, "</title>");
}

static void add_bar(struct str *out, const struct plot *plot, size_t i)
{
	const struct column *column = &plot->v[i];
	double width = fmin(plot->step * 0.7, 34), height = BARS_HEIGHT * column->mass;

	if (!isfinite(column->mass))
		return;
	height = column->mass > 1e-3 ? fmax(height, 1.5) : 0;
	str_addf(out,
		 "<rect class=\"bar %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
		 i == plot->culprit ? "after" : "other", x_of(plot, i) - width / 2,
		 BARS_TOP + BARS_HEIGHT - height, width, height);
	column_title(out, column);
	str_add(out, "</rect>\n");
	if (i == plot->culprit)
		str_addf(out,
			 "<text class=\"mass\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f"
			 "</text>\n",
			 x_of(plot, i), BARS_TOP + BARS_HEIGHT - height - 5,
			 column->mass < 1 && column->mass > 0.9999 ? 6 : 4, column->mass);
	if (column->failed)
		add_cross(out, x_of(plot, i), DOTS_TOP + DOTS_HEIGHT + 12, "does not build");
}

static void add_label(struct str *out, const struct plot *plot, size_t i)
{
	const struct column *column = &plot->v[i];
	size_t every = plot->n / MOST_LABELS + 1;
	double x = x_of(plot, i) + 3;

	if (i % every && i != plot->culprit)
		return;
	if (i != plot->culprit && plot->culprit != SIZE_MAX && every > 1 &&
	    i + every > plot->culprit && i < plot->culprit + every)
		return;
	str_addf(out,
		 "<text class=\"label%s\" transform=\"translate(%.1f %d) rotate(-50)\" "
		 "text-anchor=\"end\">",
		 i == plot->culprit ? " culprit" : "", x, LABELS_TOP);
	if (column->oid)
		str_addf(out, "%.7s", column->oid);
	else
		str_add(out, "reverted");
	column_title(out, column);
	str_add(out, "</text>\n");
}

static void add_posterior(struct str *out, const struct plot *plot)
{
	str_addf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", PLOT_LEFT,
		 PLOT_WIDTH - PLOT_RIGHT, BARS_TOP + BARS_HEIGHT, BARS_TOP + BARS_HEIGHT);
	str_addf(out,
		 "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">posterior</text>\n",
		 PLOT_LEFT - 8, BARS_TOP + BARS_HEIGHT / 2 + 4);
	for (size_t i = 0; i < plot->n; i++) {
		add_bar(out, plot, i);
		add_label(out, plot, i);
	}
}

void html_bisection_plot(struct str *out, const struct report *report)
{
	struct plot plot = {0};

	lay_out(&plot, &report->facts);
	find_scale(&plot, report);
	str_addf(out,
		 "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
		 "aria-label=\"value of every boot by commit, and the posterior of each "
		 "commit\">\n",
		 PLOT_WIDTH, PLOT_HEIGHT);
	add_ticks(out, &plot);
	add_levels(out, &plot, report);
	for (size_t i = 0; i < report->facts.n_boots; i++)
		add_boot(out, &plot, &report->facts.boots[i]);
	add_posterior(out, &plot);
	str_add(out, "</svg>\n");
	free(plot.v);
}

void html_bisection_legend(struct str *out, const struct report *report)
{
	str_add(out,
		"<p class=\"legend\">"
		"<svg class=\"key\" viewBox=\"0 0 12 12\"><circle class=\"dot before\" cx=\"6\" "
		"cy=\"6\" r=\"3.6\"/></svg>a boot of the search "
		"<svg class=\"key\" viewBox=\"0 0 12 12\"><circle class=\"ring before\" cx=\"6\" "
		"cy=\"6\" r=\"4.2\"/></svg>a fresh boot of the proof "
		"<svg class=\"key\" viewBox=\"0 0 12 12\"><path class=\"cross\" "
		"d=\"M2 2l8 8m0 -8l-8 8\"/></svg>did not build or boot. Lines: the proof's "
		"geometric means. Left to right: history. Vertical: ");
	escape_html(out, report->metric);
	str_add(out, ".</p>\n");
}
