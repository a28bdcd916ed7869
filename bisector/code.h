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

struct code_change {
	bool known;
	bool suspect;	   /* no hot function differs; without a hot one: none at all */
	size_t differ;	   /* functions of the kernel */
	size_t hot;	   /* 0: not known which are */
	size_t hot_differ; /* of those */
	char *names; /* of functions that differ, one a line, the hot ones first; not all of very many */
	char *reason; /* when not known */
};

void code_change_release(struct code_change *change);

/*
 * From two lists of lines "NAME DIGEST", sorted by name; a name may have several lines, all of which count. hot: names; those
 * that neither kernel has (of user space, of modules) are left out.
 */
void code_compare(const char *parent, const char *culprit, const struct strs *hot,
		  struct code_change *out);

/* The builds of culprit and parent. What is missing is a reason, no error. */
bool code_look(struct bisector *bisector, const struct bisection *bisection, int64_t parent_build,
	       int64_t culprit_build, struct code_change *out, struct err *err) _must_check;

#endif
