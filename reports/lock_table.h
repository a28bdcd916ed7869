/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_LOCK_TABLE_H
#define REPORTS_LOCK_TABLE_H

/* Lock waits of two sides as text and as JSON. */

#include "base/js.h"
#include "db/locks.h"

/* A sentence, then classes and their heaviest call sites; before and after head the columns. */
void lock_table_print(struct str *out, const struct lock_changes *locks, const char *before,
		      const char *after);
/* A new reference. */
json_t *lock_table_json(const struct lock_changes *locks);

#endif
