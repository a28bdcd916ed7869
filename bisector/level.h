/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_LEVEL_H
#define BISECTOR_LEVEL_H

/* How sure the confirmation of a cluster must be, beside all the other clusters of a week. */

#include "bisector/bisector.h"

struct level {
	double alpha;	 /* chance that it is confirmed when nothing changed; given once */
	double needed;	 /* log e-value: 1 / alpha, or what e-BH asks for beside the others */
	bool given;	 /* before this call */
	size_t clusters; /* of the last seven days, this one included */
	double spent;	 /* expected false alarms of the others, at most */
};

/*
 * For the leader of a cluster. alpha is detect.alpha, lowered when the week's clusters use up detect.false-mails
 * (evalue_spend()); once given it stays, since what was looked at with it cannot be taken back. needed may
 * rise and fall with what the other clusters come to (evalue_bh_bar(), detect.false-share).
 */
bool level_read(struct bisector *bisector, int64_t leader, struct level *out,
		struct err *err) _must_check;

#endif
