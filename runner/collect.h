/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_COLLECT_H
#define RUNNER_COLLECT_H

/*
 * The agent's lines (docs/protocol.md), read as they come. They are hostile: the first line that breaks
 * a rule ends the reading with an error that quotes it.
 */

#include "db/result.h"

struct collect;

/* nonce: that of the job; lines of another job are refused. */
struct collect *collect_new(const char *nonce);
void collect_free(struct collect *collect);
void collect_free_ptr(struct collect **collect);

/* Any piece of the stream. After an error every further call fails with the same one. */
bool collect_feed(struct collect *collect, const char *data, size_t n, struct err *err) _must_check;
/* The hello line has come: boot_uuid and build_id of the result are filled. */
bool collect_greeted(const struct collect *collect);
/* The end line has come. */
bool collect_ended(const struct collect *collect);
/* What the hello line said; NULL before it. */
const char *collect_build_id(const struct collect *collect);
const char *collect_boot_uuid(const struct collect *collect);
/* When nothing more is fed: borrowed; all that has come, without a run that has not ended. */
struct result *collect_result(struct collect *collect);
/* Borrowed: the agent's latest log text; empty when there is none. */
const char *collect_last_log(const struct collect *collect);

#endif
