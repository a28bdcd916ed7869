// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors of many clusters. */
#include "bisector/level.h"

#include <math.h>

#include "db/candidate.h"

bool level_read(struct bisector *bisector, int64_t leader, struct level *out, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	CLEANUP(candidate_week_release) struct candidate_week week = {0};

	if (!candidate_week_read(bisector->db, leader, &week, err))
		return false;
	*out = (struct level){
		.alpha = week.own,
		.given = isfinite(week.own),
		.clusters = week.n + 1,
		.spent = week.spent,
	};
	if (!out->given)
		out->alpha =
			evalue_spend(conf_f64(conf, "detect", NULL, "alpha"),
				     conf_f64(conf, "detect", NULL, "false-mails"), week.spent);
	out->needed = fmax(
		-log(out->alpha),
		evalue_bh_bar(week.log_e, week.n, conf_f64(conf, "detect", NULL, "false-share")));
	return true;
}
