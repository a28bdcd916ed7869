// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests by hand. */
#include "bisector/request.h"

#include <string.h>

#include "base/log.h"
#include "bisector/asked.h"
#include "bisector/kinds.h"
#include "bisector/steer.h"
#include "db/bisection.h"
#include "db/request_work.h"

static const struct {
	const char *kind;
	bool (*advance)(struct bisector *bisector, const struct request *request, struct asked *ask,
			struct err *err);
} kinds[] = {
	{"bisect", kind_bisect},
	{"compare", kind_compare},
	{"noise", kind_noise},
	{"run", kind_run},
};

static bool advance(struct bisector *bisector, int64_t id, struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	CLEANUP(asked_release) struct asked ask = {0};
	CLEANUP(db_tx_end) struct db *tx = NULL;
	bool done;

	if (!db_tx_begin(bisector->db, &tx, err) ||
	    !request_read(bisector->db, id, &request, err) ||
	    !steer_advance(bisector, &request, &done, err))
		return false;
	if (done)
		return db_tx_commit(&tx, err);
	if (!asked_read(bisector, &request, &ask, err) || !request_start(bisector->db, id, err))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, request.kind) &&
		    !kinds[i].advance(bisector, &request, &ask, err))
			return false;
	return db_tx_commit(&tx, err);
}

/* ERR_USAGE and ERR_NOTFOUND are the person's to correct. */
static bool advance_or_fail(struct bisector *bisector, int64_t id, struct err *err)
{
	struct err stored;

	if (advance(bisector, id, err))
		return true;
	if (err->kind != ERR_USAGE && err->kind != ERR_NOTFOUND)
		return err_wrap(err, "request %lld", (long long)id);
	log_info("request %lld: failed: %s", (long long)id, err->msg);
	stored = *err;
	return request_fail(bisector->db, id, stored.msg, err);
}

static bool stop(struct bisector *bisector, int64_t id, struct err *err)
{
	static const char why[] = "the request was cancelled";
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct bisection bisection;

	if (!db_tx_begin(bisector->db, &tx, err) ||
	    !bisection_of(bisector->db, 0, id, &bisection, err) ||
	    !job_cancel(bisector->db, 0, bisection.id, id, why, err))
		return false;
	if (bisection.id && !bisection_cancel(bisector->db, bisection.id, why, err))
		return false;
	return db_tx_commit(&tx, err);
}

bool request_advance(struct bisector *bisector, struct err *err)
{
	AUTO_FREE int64_t *to_stop = NULL;
	AUTO_FREE int64_t *open = NULL;
	size_t n_stop, n_open;

	if (!requests_to_stop(bisector->db, &to_stop, &n_stop, err))
		return false;
	for (size_t i = 0; i < n_stop; i++)
		if (!stop(bisector, to_stop[i], err) && !bisector_tolerates(bisector, err))
			return false;
	if (!requests_open(bisector->db, &open, &n_open, err))
		return false;
	for (size_t i = 0; i < n_open; i++)
		if (!advance_or_fail(bisector, open[i], err) && !bisector_tolerates(bisector, err))
			return false;
	return true;
}
