/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_ASK_H
#define CLI_ASK_H

/* The options that requests by hand share, checked before a row is written. */

#include "cli/session.h"
#include "db/request.h"

struct ask {
	struct strs suites;	/* --bench */
	const char *class_word; /* --class; NULL = the only one */
	long long boots;	/* --boots; 0 = the settings' */
	bool running;		/* the machine's running kernel, and no commit */
	bool no_wait;
	int64_t class_id; /* of ask_check() */
	char *class_name; /* of ask_check() */
};

void ask_release(struct ask *ask);
/* Suites and class are known and a machine of the class is up (or no_wait). */
bool ask_check(struct session *session, struct ask *ask, struct err *err) _must_check;
/* "suites", "class", "boots" as docs/requests.md has them. */
void ask_set_args(const struct ask *ask, json_t *args);
/* Writes the request and, unless no_wait, waits for its end; *ended tells that out was filled. */
bool ask_and_wait(struct session *session, const struct ask *ask, const char *kind,
		  const json_t *args, struct request *out, bool *ended,
		  struct err *err) _must_check;

#endif
