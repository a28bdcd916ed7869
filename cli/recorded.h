/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_RECORDED_H
#define CLI_RECORDED_H

/* Simulations over noise that a lab's own boots recorded. */

#include "cli/session.h"
#include "stats/tape.h"

struct recorded_wish {
	const char *metric; /* --from-db; NULL: noise is made up */
	const char *class_name, *benchmark;
	double change_pct; /* --change; NAN: in deviations, as without a database */
};

struct recorded {
	struct tape tape;
	double min_effect; /* smallest change worth reporting, by the settings, in deviations of a boot */
	double change;	/* of the wish, likewise; NAN: not said */
	char what[200]; /* "3012 boots of fault fault_ns on class skl, deviation 0.8 %" */
};

void recorded_release(struct recorded *recorded);
/* Reads the boots when the wish has a metric; else only checks that nothing is asked that needs them. `command` begins the texts
 * of errors. */
bool recorded_read(struct session *session, const struct recorded_wish *wish, const char *command,
		   struct recorded *out, struct err *err) _must_check;
/* What was replayed, for --json: null when noise was made up. */
json_t *recorded_json(const struct recorded *recorded);

#endif
