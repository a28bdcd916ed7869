/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_VERDICT_H
#define BISECTOR_VERDICT_H

/* How a search ends, and what it says then. */

#include "bisector/evidence.h"

/* Ends the search, or sends it to its proof, when the posterior allows; *ended tells. */
bool verdict_try(struct bisector *bisector, const struct evidence *evidence, bool *ended,
		 struct err *err) _must_check;

/* "0123456789ab (subject)", of a hypothesis; "no change" for n = 0. */
void verdict_name(const struct evidence *evidence, size_t hypothesis, struct str *out);

#endif
