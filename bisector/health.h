/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_HEALTH_H
#define BISECTOR_HEALTH_H

/*
 * Whether machines are what they were. A canary (the class's known-good image, one short suite) runs each
 * day, after each recovery, and as a probe of machines that were quarantined by the service. Each of its
 * numbers is held against the machine's own earlier canaries; two in a row that are off take the machine
 * out, one that is not brings it back. Every tenth boot of a kexec machine adds one through firmware, so that
 * kexec's own offset is known.
 */

#include "bisector/bisector.h"
#include "db/health.h"

bool health_advance(struct bisector *bisector, struct err *err) _must_check;

struct drift {
	double percent; /* off the mean of its history */
	double p;	/* two-sided, of one more number of that history */
	size_t n;	/* the history: fewer than HEALTH_HISTORY is none */
};

#define HEALTH_HISTORY 5

/* values[0] is the newest, the others its history; logs are taken of value + floor. False: nothing can
 * be said. The interval for one more number of a normal sample: t with n - 1 degrees of freedom,
 * standard error sd * sqrt(1 + 1/n). */
bool health_drift(const double *values, size_t n, double floor, struct drift *out) _must_check;

#endif
