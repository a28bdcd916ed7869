/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_PAGES_H
#define REPORTS_PAGES_H

/* The directory of pages: regression-ID.html for each regression, and index.html. */

#include "db/conn.h"

/*
 * Writes what is missing (all of them when afresh) and the index when a page or a state is new,
 * each file whole or not at all. One page that cannot be written does not stop the others; the
 * first such error is returned after the rest is done.
 */
bool pages_update(struct db *db, const char *dir, const char *page_base, bool afresh,
		  struct err *err) _must_check;

#endif
