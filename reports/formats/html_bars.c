// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock bars, forest lines. */
#include "reports/formats/html_parts.h"

#include <math.h>

#include "reports/escape.h"
#include "reports/number.h"

enum {
	BARS_WIDTH = 960,
	BARS_LEFT = 150,
	BARS_SPACE = 520,
	ROW_HEIGHT = 46,
	MOST_CLASSES = 12
};

static double largest(const struct lock_changes *locks)
{
	double most = 0;

	for (size_t i = 0; i < locks->n; i++)
		most = fmax(most,
			    fmax(locks->v[i].wait_per_op_ns[0], locks->v[i].wait_per_op_ns[1]));
	return most > 0 ? most : 1;
}

static size_t classes_of(const struct lock_changes *locks)
{
	size_t n = 0;

	for (size_t i = 0; i < locks->n; i++)
		n += !locks->v[i].site;
	return n < MOST_CLASSES ? n : MOST_CLASSES;
}

static void add_bar(struct str *out, const struct lock_change *lock, int side, double y,
		    double most)
{
	double width = fmax(BARS_SPACE * lock->wait_per_op_ns[side] / most, 1);

	str_addf(out,
		 "<rect class=\"bar %s\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"13\" "
		 "rx=\"1.5\"/>",
		 side ? "after" : "before", BARS_LEFT, y, width);
	str_addf(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">%s", BARS_LEFT + width + 8,
		 y + 11, number_value(lock->wait_per_op_ns[side], "ns").s);
	if (isfinite(lock->spread_ns[side]) && lock->spread_ns[side] > 0)
		str_addf(out, " \xc2\xb1 %s", number_value(lock->spread_ns[side], "ns").s);
	str_addf(out, " (%s of thread time)</text>\n", number_share(lock->share[side]).s);
}

static void add_class(struct str *out, const struct lock_change *lock, size_t row, double most)
{
	double y = (double)(row * ROW_HEIGHT) + 8;

	str_addf(out, "<text class=\"name\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
		 BARS_LEFT - 12, y + 19);
	escape_html(out, lock->class_name);
	str_add(out, "</text>");
	add_bar(out, lock, 0, y, most);
	add_bar(out, lock, 1, y + 16, most);
}

void html_lock_bars(struct str *out, const struct lock_changes *locks)
{
	size_t classes = classes_of(locks), row = 0;
	double most = largest(locks);

	if (!classes)
		return;
	str_addf(out,
		 "<svg class=\"plot\" viewBox=\"0 0 %d %zu\" role=\"img\" "
		 "aria-label=\"lock wait per operation by class, before and after\">\n",
		 BARS_WIDTH, classes * ROW_HEIGHT + 4);
	for (size_t i = 0; i < locks->n && row < classes; i++)
		if (!locks->v[i].site)
			add_class(out, &locks->v[i], row++, most);
	str_add(out, "</svg>\n");
}

static double forest_x(double pct, double limit_pct)
{
	double x = 100 + 94 * pct / limit_pct;

	return fmin(fmax(x, 3), 197);
}

void html_forest(struct str *out, const struct report_change *change, double limit_pct)
{
	const char *side = change->word[0] == 'w' ? "after" : change->word[0] ? "before" : "other";

	str_add(out, "<svg class=\"forest\" viewBox=\"0 0 200 16\" aria-hidden=\"true\">"
		     "<line class=\"axis\" x1=\"100\" x2=\"100\" y1=\"0\" y2=\"16\"/>");
	if (isfinite(change->lo_pct) && isfinite(change->hi_pct))
		str_addf(out,
			 "<line class=\"whisker %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"8\" y2=\"8\"/>",
			 side, forest_x(change->lo_pct, limit_pct),
			 forest_x(change->hi_pct, limit_pct));
	if (isfinite(change->pct) && fabs(change->pct) > 1.02 * limit_pct)
		str_addf(out, "<path class=\"beyond %s\" d=\"M%d 3l%d 5l%d 5z\"/>", side,
			 change->pct > 0 ? 190 : 10, change->pct > 0 ? 8 : -8,
			 change->pct > 0 ? -8 : 8);
	else if (isfinite(change->pct))
		str_addf(out, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"8\" r=\"3.6\"/>", side,
			 forest_x(change->pct, limit_pct));
	str_add(out, "</svg>");
}
