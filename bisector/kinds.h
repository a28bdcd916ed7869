/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_KINDS_H
#define BISECTOR_KINDS_H

/* One function per kind of request: one step, inside a transaction of the caller. */

#include "bisector/asked.h"

bool kind_run(struct bisector *bisector, const struct request *request, struct asked *ask,
	      struct err *err) _must_check;
bool kind_compare(struct bisector *bisector, const struct request *request, struct asked *ask,
		  struct err *err) _must_check;
bool kind_bisect(struct bisector *bisector, const struct request *request, struct asked *ask,
		 struct err *err) _must_check;
bool kind_noise(struct bisector *bisector, const struct request *request, struct asked *ask,
		struct err *err) _must_check;

/* What a result says of every series: id, benchmark, pass, metric, unit, direction, judged. A new reference. */
json_t *kind_series(const struct bisector *bisector, const struct series *series);

#endif
