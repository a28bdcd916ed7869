// SPDX-License-Identifier: GPL-2.0-or-later
/* The standing A/A, for people. */
#include "reports/twins.h"

#include <math.h>

#include "stats/estimate.h"
#include "stats/proportion.h"

static void add_rate(json_t *twins, const char *what)
{
	double n = (double)js_i64_or(twins, "judged", 0), lo = NAN, hi = NAN;
	struct share share = {.p = NAN, .n = n, .effect = 1};
	AUTO_FREE char *share_key = xasprintf("%s_share", what);
	AUTO_FREE char *lo_key = xasprintf("%s_lo", what);
	AUTO_FREE char *hi_key = xasprintf("%s_hi", what);

	if (n > 0) {
		share.p = (double)js_i64_or(twins, what, 0) / n;
		proportion_wilson(&share, estimate_normal_quantile(0.975), &lo, &hi);
		lo = fmax(lo, 0); /* rounding */
	}
	js_set_f64(twins, share_key, share.p);
	js_set_f64(twins, lo_key, lo);
	js_set_f64(twins, hi_key, hi);
}

void twins_add_rates(json_t *twins)
{
	add_rate(twins, "suspected");
	add_rate(twins, "confirmed");
}

static void say_rate(struct str *out, const json_t *twins, const char *what)
{
	AUTO_FREE char *share_key = xasprintf("%s_share", what);
	AUTO_FREE char *lo_key = xasprintf("%s_lo", what);
	AUTO_FREE char *hi_key = xasprintf("%s_hi", what);

	str_addf(out, "%lld (%.1f %% [%.1f, %.1f]) ", (long long)js_i64_or(twins, what, 0),
		 100 * js_f64_or(twins, share_key, NAN), 100 * js_f64_or(twins, lo_key, NAN),
		 100 * js_f64_or(twins, hi_key, NAN));
}

void twins_say(struct str *out, const json_t *twins)
{
	long long judged = js_i64_or(twins, "judged", 0), open = js_i64_or(twins, "open", 0);

	str_add(out, "standing A/A: ");
	if (!judged) {
		str_add(out, "no head was fed in again with another layout yet");
	} else {
		str_addf(out, "of %lld head%s fed in again with another layout ", judged,
			 judged > 1 ? "s" : "");
		say_rate(out, twins, "suspected");
		str_add(out, "were suspected and ");
		say_rate(out, twins, "confirmed");
		str_addf(out, "confirmed; of %lld of their series %lld were suspected",
			 (long long)js_i64_or(twins, "series", 0),
			 (long long)js_i64_or(twins, "series_suspected", 0));
	}
	if (open)
		str_addf(out, "; %lld more %s being confirmed", open, open > 1 ? "are" : "is");
}
