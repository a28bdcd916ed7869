/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_SEARCH_H
#define BISECTOR_SEARCH_H

/*
 * One step of a bisection that searches: the posterior from rows, then an end or the next boots.
 * As many boots wait as machines of the class are up. While the best node is being built, a built
 * one that tells enough is booted.
 */

#include "bisector/bisector.h"
#include "db/bisection.h"

bool search_advance(struct bisector *bisector, const struct bisection *bisection,
		    struct err *err) _must_check;

#endif
