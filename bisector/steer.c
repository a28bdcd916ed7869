// SPDX-License-Identifier: GPL-2.0-or-later
/* More boots, again, no more. */
#include "bisector/steer.h"

#include <string.h>

#include "base/log.h"
#include "db/bisection.h"
#include "db/request_work.h"
#include "db/work.h"

#define BOOTS_MAX 100000

static bool reopen(struct bisector *bisector, int64_t id, int more, struct err *err)
{
	bool found;

	if (!bisection_reopen(bisector->db, id, more, &found, err))
		return false;
	if (!found)
		return err_set(err, ERR_USAGE,
			       "bisection %lld is not there, or it has its answer; `mmperf bisect "
			       "show %lld` tells it",
			       (long long)id, (long long)id);
	log_info("bisection %lld: taken up by hand, %d more boots", (long long)id, more);
	return true;
}

static bool extend(struct bisector *bisector, int64_t id, const json_t *args, struct err *err)
{
	int64_t boots = js_i64_or(args, "boots", 0);

	if (boots < 1 || boots > BOOTS_MAX)
		return err_set(err, ERR_USAGE, "boots: from 1 to %d", BOOTS_MAX);
	return reopen(bisector, id, (int)boots, err);
}

static bool resume(struct bisector *bisector, int64_t id, const json_t *args _unused,
		   struct err *err)
{
	return reopen(bisector, id, 0, err);
}

static bool halt(struct bisector *bisector, int64_t id, const json_t *args _unused, struct err *err)
{
	static const char why[] = "it was cancelled by hand";

	return job_cancel(bisector->db, 0, id, 0, why, err) &&
	       bisection_cancel(bisector->db, id, why, err);
}

static const struct {
	const char *kind;
	bool (*run)(struct bisector *bisector, int64_t id, const json_t *args, struct err *err);
} kinds[] = {
	{"extend", extend},
	{"resume", resume},
	{"halt", halt},
};

bool steer_advance(struct bisector *bisector, const struct request *request, bool *mine,
		   struct err *err)
{
	int64_t id = js_i64_or(request->args, "bisection", 0);
	AUTO_JSON *result = json_object();
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && strcmp(kinds[i].kind, request->kind) != 0)
		i++;
	*mine = i < ARRAY_SIZE(kinds);
	if (!*mine)
		return true;
	js_set_i64(result, "bisection", id);
	return kinds[i].run(bisector, id, request->args, err) &&
	       request_finish(bisector->db, request->id, result, err);
}
