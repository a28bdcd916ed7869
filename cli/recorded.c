// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded noise. */
#include "cli/recorded.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "db/estimate.h"
#include "db/tape.h"
#include "stats/compare.h"

#define BOOTS_MOST 20000
#define DF_LEAST   20 /* the deviation is then known within 16 % */

void recorded_release(struct recorded *recorded)
{
	tape_release(&recorded->tape);
}

/* What has no logarithm is left out. */
static void record(const struct tape_boots *boots, const struct series *series, struct tape *tape)
{
	AUTO_FREE int64_t *image = xcalloc(boots->n + 1, sizeof(*image));
	AUTO_FREE double *y = xcalloc(boots->n + 1, sizeof(*y));
	double sign = better_sign(better_parse(series->direction));
	size_t n = 0;

	for (size_t i = 0; i < boots->n; i++) {
		double value = boots->value[i] + series->floor;

		if (!isfinite(value) || !(value > 0))
			continue;
		image[n] = boots->image[i];
		y[n++] = sign * log(value);
	}
	tape_record(tape, image, y, n);
}

static bool fill(struct session *session, const struct recorded_wish *wish,
		 const struct series *series, const char *command, struct recorded *out,
		 struct err *err)
{
	const struct settings *settings;
	struct worth worth;

	if (out->tape.df < DF_LEAST)
		return err_set(err, ERR_USAGE,
			       "%s: %s was booted too seldom to replay: two boots of a kernel tell "
			       "of noise, and %d more than there are kernels are wanted, not %.0f",
			       command, wish->metric, DF_LEAST, out->tape.df);
	if (!session_settings(session, &settings, err))
		return false;
	worth = settings_worth(settings);
	out->min_effect = worth_of(&worth, series->metric) / out->tape.sd;
	out->change = log1p(wish->change_pct / 100) / out->tape.sd;
	snprintf(out->what, sizeof(out->what), "%zu boots of %s %s in class %s, deviation %.2g %%",
		 out->tape.n, series->benchmark, series->metric, wish->class_name,
		 100 * expm1(out->tape.sd));
	return true;
}

bool recorded_read(struct session *session, const struct recorded_wish *wish, const char *command,
		   struct recorded *out, struct err *err)
{
	const struct tape_query query = {wish->metric, wish->class_name, wish->benchmark};
	CLEANUP(tape_boots_release) struct tape_boots boots = {0};
	CLEANUP(series_list_release) struct series_list series = {0};
	struct recorded_wish told = *wish;
	struct db *db;

	*out = (struct recorded){.change = NAN};
	if (!wish->metric && (wish->class_name || wish->benchmark || isfinite(wish->change_pct)))
		return err_set(err, ERR_USAGE, "%s: --change, --class and --bench want --from-db",
			       command);
	if (!wish->metric)
		return true;
	if (isfinite(wish->change_pct) && wish->change_pct <= 0)
		return err_set(err, ERR_USAGE,
			       "%s: --change is a percentage to the worse, more than 0", command);
	if (!session_db(session, &db, err) ||
	    !tape_boots_read(db, &query, BOOTS_MOST, &boots, err) ||
	    !series_read(db, &boots.series, 1, &series, err))
		return false;
	record(&boots, &series.v[0], &out->tape);
	told.class_name = boots.class_name;
	return fill(session, &told, &series.v[0], command, out, err);
}

json_t *recorded_json(const struct recorded *recorded)
{
	json_t *doc;

	if (!recorded->tape.n)
		return json_null();
	doc = json_object();
	js_set_str(doc, "what", recorded->what);
	js_set_i64(doc, "boots", (int64_t)recorded->tape.n);
	js_set_i64(doc, "kernels", (int64_t)recorded->tape.images);
	js_set_f64(doc, "sd", recorded->tape.sd);
	js_set_f64(doc, "change", recorded->change);
	js_set_f64(doc, "min_effect", recorded->min_effect);
	return doc;
}
