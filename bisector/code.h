/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_CODE_H
#define BISECTOR_CODE_H

/*
 * What a culprit changed in the kernel's code. A commit that left alone all that a benchmark spends its time in can only have
 * moved it: then the effect is suspected to be the layout's, not the commit's.
 */

#include "base/str.h"
#include "bisector/bisector.h"
#include "db/bisection.h"
#include "db/regression.h"

/*
 * From two lists of lines "NAME DIGEST", sorted by name; a name may have several lines, all of which count. hot: names; those
 * that neither kernel has (of user space, of modules) are left out.
 */
void code_compare(const char *parent, const char *culprit, const struct strs *hot,
		  struct regression_functions *out);

/* The builds of culprit and parent. What is missing is a reason, no error. */
bool code_look(struct bisector *bisector, const struct bisection *bisection, int64_t parent_build,
	       int64_t culprit_build, struct regression_functions *out,
	       struct err *err) _must_check;

#endif
