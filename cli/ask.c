// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing requests by hand. */
#include "cli/ask.h"

#include <stdlib.h>

#include "cli/wait.h"
#include "db/known.h"

void ask_release(struct ask *ask)
{
	strs_release(&ask->suites);
	free(ask->class_name);
	*ask = (struct ask){0};
}

bool ask_check(struct session *session, struct ask *ask, struct err *err)
{
	struct db *db;

	if (ask->boots < 0 || ask->boots > 1000)
		return err_set(err, ERR_USAGE, "--boots wants a number from 1 to 1000");
	if (!session_db(session, &db, err))
		return false;
	for (size_t i = 0; i < ask->suites.n; i++)
		if (!known_suite(db, ask->suites.v[i], err))
			return false;
	return known_class(db, ask->class_word, ask->running, ask->no_wait, &ask->class_id,
			   &ask->class_name, err);
}

void ask_set_args(const struct ask *ask, json_t *args)
{
	json_t *suites = json_array();

	for (size_t i = 0; i < ask->suites.n; i++)
		json_array_append_new(suites, json_string(ask->suites.v[i]));
	if (ask->suites.n)
		js_set_new(args, "suites", suites);
	else
		json_decref(suites);
	js_set_str(args, "class", ask->class_name);
	if (ask->boots)
		js_set_i64(args, "boots", ask->boots);
}

bool ask_and_wait(struct session *session, const struct ask *ask, const char *kind,
		  const json_t *args, struct request *out, bool *ended, struct err *err)
{
	AUTO_FREE char *user = session_user();
	struct db *db;
	int64_t id;

	*ended = false;
	if (!session_db(session, &db, err) || !request_add(db, kind, args, user, &id, err))
		return false;
	if (ask->no_wait) {
		wait_print_queued(session, kind, id);
		return true;
	}
	*ended = wait_for_request(session, id, out, err);
	return *ended;
}
