/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_HISTORY_PAGE_H
#define REPORTS_HISTORY_PAGE_H

/* The page that says what was not found: every series over the heads of its branch, and down to what change each head
 * showed nothing. */

#include "base/str.h"
#include "db/conn.h"

/* The whole page, appended to out. */
bool history_page(struct db *db, struct str *out, struct err *err) _must_check;

#endif
