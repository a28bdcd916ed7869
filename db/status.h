/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_STATUS_H
#define DB_STATUS_H

/*
 * What is going on, for people and scripts: each call gives a new JSON value, shown as it is by
 * --json and as a table otherwise. Times are UTC texts, spans are seconds, effects are log ratios
 * in which > 0 is worse. Texts from commits and machines are hostile.
 */

#include "base/js.h"
#include "db/conn.h"

/* [{name, class, driver, emulated, host, state, note, failures, doing, doing_s, seen_s}] */
bool status_machines(struct db *db, json_t **out, struct err *err) _must_check;
/* [{kind, purpose, queued, running}], open jobs only */
bool status_queue(struct db *db, json_t **out, struct err *err) _must_check;
/* {built, failed, pending, images, boots, snapshots, outbox_queued, outbox_unsure,
 * outbox_sent} */
bool status_totals(struct db *db, json_t **out, struct err *err) _must_check;
/* What was suspected in the last seven days, {clusters, confirmed, refuted, confirming, expected_false}: the
 * last is how many of them noise alone would have confirmed, at most and on average. "twins", the standing A/A
 * (db/twin.h), apart from them and since ever: {judged, open, suspected, confirmed, series, series_suspected}; judged,
 * suspected and confirmed are twins, open those whose confirmation goes on and that no other number counts. */
bool status_alarms(struct db *db, json_t **out, struct err *err) _must_check;
/* Series over the heads of a branch: levels, their last step (log ratio, > 0 is worse), and the lasting
 * change that would be seen within three heads (log ratio, null: none). mode_apart and mode_upper: its boots lie in
 * two heaps so far apart (log ratio; null: in one), such a share of them in the worse one. Its newest ten heads in "commits", the
 * newest first: [{oid, subject, found, down_to}], found = what became of the candidate that it raised (null: nothing
 * was found), down_to = the change that it alone would have shown. */
bool status_histories(struct db *db, json_t **out, struct err *err) _must_check;
/* [{id, tree, class, suite, metric, state, outcome, reason, good, bad, culprit, boots, budget,
 * best, best_subject, posterior, age_s}], newest first; only those that run when current. */
bool status_bisections(struct db *db, bool current, json_t **out, struct err *err) _must_check;
/* One of them, with "hypotheses" [{n, kind, oid, subject, prior, mass,
 * series_mass, series_patches (of its patch series; null: no patch of bad's line), boots}] and "steps" [{n,
 * oid, reason, state, outcome}]. */
bool status_bisection(struct db *db, int64_t id, json_t **out, struct err *err) _must_check;
/*
 * [{host, work_s, building_s, measuring_s, idle_s, idle_share}] over the last window_s: work_s is
 * the time in which some job was open, idle_s the part of it in which the host had no attempt.
 */
bool status_utilisation(struct db *db, double window_s, json_t **out, struct err *err) _must_check;
/* [{what, outcome, count, last}]: builds and boots that went wrong in the last window_s */
bool status_failures(struct db *db, double window_s, json_t **out, struct err *err) _must_check;
/* [{at, kind, text}], oldest first, at most limit (the newest ones), later than after (a UTC text
 * as in "at"; NULL = any). */
bool status_log(struct db *db, int64_t limit, const char *after, json_t **out,
		struct err *err) _must_check;
/* UTC text of now - ago_s, as status_log() takes it; the caller frees it. */
bool status_time(struct db *db, double ago_s, char **out, struct err *err) _must_check;

/* True when nothing is queued, running, to be confirmed, searched, told or mailed, each branch's
 * head has its build (when there is a machine class to boot it), and nothing has ended in the last five seconds. */
bool status_idle(struct db *db, bool *idle, struct err *err) _must_check;
/* Whether TREE/BRANCH has a snapshot. */
bool status_followed(struct db *db, const char *tree, const char *branch, bool *yes,
		     struct err *err) _must_check;

bool status_machine_set(struct db *db, const char *machine, const char *state, const char *note,
			struct err *err) _must_check;

#endif
