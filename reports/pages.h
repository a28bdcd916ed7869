/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_PAGES_H
#define REPORTS_PAGES_H

/* The directory of pages: regression-ID.html for each regression, history.html, and index.html. */

#include "db/conn.h"

/*
 * Writes what is missing (all of them when afresh), and index and histories when they are not what they were,
 * each file whole or not at all. One page that cannot be written does not stop the others; the
 * first such error is returned after the rest is done.
 */
bool pages_update(struct db *db, const char *dir, const char *page_base, bool afresh,
		  struct err *err) _must_check;

#endif
