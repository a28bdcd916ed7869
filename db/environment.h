/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_ENVIRONMENT_H
#define DB_ENVIRONMENT_H

/* What two environments differ in, by name. */

#include "base/js.h"
#include "db/conn.h"

/* A new reference: [{"what": "knobs./proc/sys/vm/laptop_mode", "before", "after"}]; values as text, a
 * dash where one side lacks it. Equal environments give an empty list. */
json_t *environment_differences(const json_t *before, const json_t *after);

/* "microcode: 0x1 -> 0x2, spinlocks: native -> test-and-set", at most `most` of them, then how many
 * more; appended to out. */
void environment_differences_text(const json_t *differences, size_t most, struct str *out);

/* A setup that was just made: when its machine class had another one of the same method, recipe and
 * toolchain before, stores in what their environments differ. */
bool setup_note_change(struct db *db, int64_t setup, struct err *err) _must_check;

/* What the machines of a series call themselves (uname -m); NULL when it is not known. The caller
 * frees *machine. */
bool series_machine(struct db *db, int64_t series, char **machine, struct err *err) _must_check;

#endif
