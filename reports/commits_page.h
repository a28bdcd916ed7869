/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_COMMITS_PAGE_H
#define REPORTS_COMMITS_PAGE_H

/* The page of all commits: down to what change nothing happened in each, series by series. */

#include "base/str.h"
#include "db/conn.h"

bool commits_page(struct db *db, struct str *out, struct err *err) _must_check;

#endif
