// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared small questions. */
#include "bisector/bisector.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "stats/compare.h"

bool bisector_knows(const struct bisector *bisector, const struct bisector_memo *memo)
{
	for (size_t i = 0; i < BISECTOR_MEMOS && i < bisector->n_memos; i++)
		if (bisector->memos[i].kind == memo->kind &&
		    !memcmp(bisector->memos[i].key, memo->key, sizeof(memo->key)))
			return true;
	return false;
}

void bisector_remember(struct bisector *bisector, const struct bisector_memo *memo)
{
	bisector->memos[bisector->n_memos++ % BISECTOR_MEMOS] = *memo;
}

static bool admits(const struct conf *conf, const char *suite, const char *key, const char *value)
{
	const struct strs *list = conf_list(conf, "suite", suite, key);

	return !value || !list->n || strs_has(list, value);
}

size_t bisector_suites(const struct bisector *bisector, const char *tree, const char *class_name,
		       int64_t **ids)
{
	const struct conf *conf = bisector->settings->conf;
	size_t n = 0;

	*ids = xcalloc(bisector->suites.n, sizeof(**ids));
	for (size_t i = 0; i < bisector->suites.n; i++) {
		const struct suite *suite = &bisector->suites.v[i];

		if (conf_has(conf, "suite", suite->name) &&
		    admits(conf, suite->name, "tree", tree) &&
		    admits(conf, suite->name, "class", class_name))
			(*ids)[n++] = suite->id;
	}
	return n;
}

const struct suite *bisector_suite(const struct bisector *bisector, int64_t id)
{
	for (size_t i = 0; i < bisector->suites.n; i++)
		if (bisector->suites.v[i].id == id)
			return &bisector->suites.v[i];
	return NULL;
}

bool bisector_recipe(const struct bisector *bisector, const char *tree, int64_t *recipe,
		     struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	const char *name =
		conf_has(conf, "tree", tree) ? conf_str(conf, "tree", tree, "recipe") : NULL;

	if (!name)
		return err_set(err, ERR_USAGE,
			       "tree %s: the settings have no [tree \"%s\"] with a recipe", tree,
			       tree);
	return recipe_latest(bisector->db, name, recipe, err);
}

bool bisector_judges(const struct bisector *bisector, const struct series *series)
{
	static const char *const locks[] = {
		"lock.deferred_split.wait_per_op",
		"lock.lruvec.wait_per_op",
		"lock.mmap_lock.wait_per_op",
		"lock.zone.wait_per_op",
	};
	const struct suite *suite = bisector_suite(bisector, series->suite);

	if (!strcmp(series->direction, "none"))
		return false;
	if (suite && suite->judge.n)
		return strs_has(&suite->judge, series->metric);
	if (series->emulated && series->real_cpus)
		return false;
	if (!str_starts(series->metric, "lock."))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		if (!strcmp(series->metric, locks[i]))
			return true;
	return false;
}

double bisector_min_effect(const struct bisector *bisector, const char *metric)
{
	struct worth worth = settings_worth(bisector->settings);

	return worth_of(&worth, metric);
}

bool bisector_tolerates(struct bisector *bisector, const struct err *err)
{
	if (err->kind == ERR_DBDOWN)
		return false;
	if (strcmp(bisector->last_trouble, err->msg))
		log_error("%s", err->msg);
	memcpy(bisector->last_trouble, err->msg, sizeof(bisector->last_trouble));
	return true;
}

double bisector_percent(const struct series *series, double effect)
{
	return 100 * expm1(better_sign(better_parse(series->direction)) * effect);
}

uint64_t bisector_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = clock_mono_ns();
	return seed >> 1; /* fits a bigint */
}

size_t bisector_values(const struct estimates *estimates, const struct series *series,
		       const char *role, int64_t image, size_t max, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < estimates->n; i++) {
		const struct estimate *e = &estimates->v[i];
		double y;

		if (e->series != series->id || (role && strcmp(e->role, role)) ||
		    (image && e->image != image) || (max && n == max))
			continue;
		y = e->value + series->floor;
		if (isfinite(y) && y > 0)
			out[n++] = e->value;
	}
	return n;
}

bool bisector_noise(struct db *db, const struct series *series, int64_t image_a, int64_t image_b,
		    int64_t before_boot, struct sd_prior *out, struct err *err)
{
	if (!series_noise(db, series, image_a, image_b, before_boot, &out->sd, &out->df, err))
		return false;
	out->df = fmin(out->df, BISECTOR_NOISE_DF);
	return true;
}

size_t bisector_logs(const struct estimates *estimates, const struct series *series,
		     const char *role, int64_t image, size_t max, double *out)
{
	double sign = better_sign(better_parse(series->direction));
	size_t n = bisector_values(estimates, series, role, image, max, out);

	for (size_t i = 0; i < n; i++)
		out[i] = sign * log(out[i] + series->floor);
	return n;
}

static bool log_of(const struct estimate *e, const struct series *series, double *out)
{
	double y = e->value + series->floor;

	if (!isfinite(y) || !(y > 0))
		return false;
	*out = better_sign(better_parse(series->direction)) * log(y);
	return true;
}

/* Logs of one role in one block, at most EVALUE_SIDE_MAX. */
static size_t logs_of_block(const struct estimates *estimates, const struct series *series,
			    const char *role, int64_t block, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < estimates->n && n < EVALUE_SIDE_MAX; i++) {
		const struct estimate *e = &estimates->v[i];

		n += e->series == series->id && e->block == block && !strcmp(e->role, role) &&
		     log_of(e, series, &out[n]);
	}
	return n;
}

/* The least block of the series above this one; 0 when there is none. */
static int64_t block_above(const struct estimates *estimates, const struct series *series,
			   int64_t block)
{
	int64_t next = 0;

	for (size_t i = 0; i < estimates->n; i++) {
		const struct estimate *e = &estimates->v[i];

		if (e->series == series->id && e->block > block && (!next || e->block < next))
			next = e->block;
	}
	return next;
}

size_t bisector_blocks(const struct estimates *estimates, const struct series *series,
		       double *numbers, struct evalue_block *blocks)
{
	int64_t block = block_above(estimates, series, 0);
	size_t n = 0;

	for (; block; block = block_above(estimates, series, block)) {
		struct evalue_block *b = &blocks[n++];

		b->before = numbers;
		b->n0 = logs_of_block(estimates, series, "before", block, numbers);
		b->after = numbers += b->n0;
		b->n1 = logs_of_block(estimates, series, "after", block, numbers);
		numbers += b->n1;
	}
	return n;
}
