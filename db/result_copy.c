// SPDX-License-Identifier: GPL-2.0-or-later
/* COPY of bulk rows. */
#include "db/result_copy.h"

#include <string.h>

#define SEND_BYTES ((size_t)256 << 10)

struct copy copy_into(struct db *db, const char *sql)
{
	return (struct copy){.db = db, .sql = sql, .text = str_new()};
}

void copy_release(struct copy *copy)
{
	str_release(&copy->text);
}

static void separate(struct copy *copy)
{
	if (copy->in_row)
		str_addc(&copy->text, '\t');
	copy->in_row = true;
}

void copy_i64(struct copy *copy, int64_t value)
{
	separate(copy);
	str_addf(&copy->text, "%lld", (long long)value);
}

void copy_f64(struct copy *copy, double value)
{
	separate(copy);
	str_addf(&copy->text, "%.17g", value);
}

void copy_text(struct copy *copy, const char *text)
{
	static const char special[] = "\\\t\n\r", escaped[] = "\\tnr";

	separate(copy);
	if (!text) {
		str_add(&copy->text, "\\N");
		return;
	}
	for (; *text; text++) {
		const char *found = strchr(special, *text);

		if (found)
			str_addc(&copy->text, '\\');
		str_addc(&copy->text, found ? escaped[found - special] : *text);
	}
}

void copy_bool(struct copy *copy, bool value)
{
	copy_text(copy, value ? "t" : "f");
}

void copy_f64s(struct copy *copy, const double *v, size_t n)
{
	separate(copy);
	str_addc(&copy->text, '{');
	for (size_t i = 0; i < n; i++)
		str_addf(&copy->text, "%s%.17g", i ? "," : "", v[i]);
	str_addc(&copy->text, '}');
}

void copy_i64s(struct copy *copy, const int64_t *v, size_t n)
{
	separate(copy);
	str_addc(&copy->text, '{');
	for (size_t i = 0; i < n; i++)
		str_addf(&copy->text, "%s%lld", i ? "," : "", (long long)v[i]);
	str_addc(&copy->text, '}');
}

static bool send_rows(struct copy *copy, struct err *err)
{
	if (!copy->begun && !db_copy_begin(copy->db, copy->sql, err))
		return false;
	copy->begun = true;
	if (!db_copy_data(copy->db, copy->text.s, copy->text.len, err))
		return false;
	str_clear(&copy->text);
	return true;
}

bool copy_row(struct copy *copy, struct err *err)
{
	str_addc(&copy->text, '\n');
	copy->in_row = false;
	return copy->text.len < SEND_BYTES || send_rows(copy, err);
}

bool copy_end(struct copy *copy, struct err *err)
{
	if (!copy->begun && !copy->text.len)
		return true;
	return send_rows(copy, err) && db_copy_end(copy->db, err);
}

/* Negative: not known. */
static void copy_count(struct copy *copy, int64_t value)
{
	if (value < 0)
		copy_text(copy, NULL);
	else
		copy_i64(copy, value);
}

static bool copy_locks(struct db *db, const struct result *result, const int64_t *runs,
		       struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy = copy_into(
		db, "copy lock_waits (run, class, site, count, wait_ns, max_ns, hist, hold_count,"
		    " hold_ns, hold_max_ns) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		for (size_t k = 0; k < result->runs.v[i].locks.n; k++) {
			const struct result_lock *l = &result->runs.v[i].locks.v[k];

			copy_i64(&copy, runs[i]);
			copy_text(&copy, l->class_name);
			copy_text(&copy, l->site);
			copy_i64(&copy, l->count);
			copy_i64(&copy, l->wait_ns);
			copy_i64(&copy, l->max_ns);
			copy_i64s(&copy, l->hist, l->n);
			copy_count(&copy, l->hold_count);
			copy_count(&copy, l->hold_ns);
			copy_count(&copy, l->hold_max_ns);
			if (!copy_row(&copy, err))
				return false;
		}
	}
	return copy_end(&copy, err);
}

static bool copy_health(struct db *db, const struct result *result, const int64_t *runs,
			struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy = copy_into(
		db, "copy lock_health (run, measurable, reason, begins, ends, lost, stack_failures,"
		    " map_full, recursion_misses, wait_ns, unmatched_ns) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct result_lock_health *h = &result->runs.v[i].health;

		if (!h->present)
			continue;
		copy_i64(&copy, runs[i]);
		copy_bool(&copy, h->measurable);
		copy_text(&copy, h->reason);
		copy_i64(&copy, h->begins);
		copy_i64(&copy, h->ends);
		copy_i64(&copy, h->lost);
		copy_i64(&copy, h->stack_failures);
		copy_i64(&copy, h->map_full);
		copy_i64(&copy, h->recursion_misses);
		copy_count(&copy, h->wait_ns);
		copy_count(&copy, h->unmatched_ns);
		if (!copy_row(&copy, err))
			return false;
	}
	return copy_end(&copy, err);
}

static bool copy_histograms(struct db *db, const struct result *result, const int64_t *runs,
			    struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy = copy_into(db, "copy histograms (run, metric, unit, buckets) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		for (size_t k = 0; k < result->runs.v[i].histograms.n; k++) {
			const struct result_histogram *h = &result->runs.v[i].histograms.v[k];

			copy_i64(&copy, runs[i]);
			copy_text(&copy, h->name);
			copy_text(&copy, h->unit);
			copy_i64s(&copy, h->buckets, h->n);
			if (!copy_row(&copy, err))
				return false;
		}
	}
	return copy_end(&copy, err);
}

static bool copy_counters(struct db *db, const struct result *result, const int64_t *runs,
			  struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy = copy_into(db, "copy counters (run, name, value, reason) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		for (size_t k = 0; k < result->runs.v[i].counters.n; k++) {
			const struct result_counter *c = &result->runs.v[i].counters.v[k];

			copy_i64(&copy, runs[i]);
			copy_text(&copy, c->name);
			if (c->reason)
				copy_text(&copy, NULL);
			else
				copy_i64(&copy, c->value);
			copy_text(&copy, c->reason);
			if (!copy_row(&copy, err))
				return false;
		}
	}
	return copy_end(&copy, err);
}

static bool copy_profiles(struct db *db, const struct result *result, const int64_t *runs,
			  struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy =
		copy_into(db, "copy profiles (run, source, samples, lost, stacks) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		const struct result_profile *p = &result->runs.v[i].profile;

		if (!p->source)
			continue;
		copy_i64(&copy, runs[i]);
		copy_text(&copy, p->source);
		copy_i64(&copy, p->samples);
		copy_i64(&copy, p->lost);
		copy_text(&copy, p->stacks);
		if (!copy_row(&copy, err))
			return false;
	}
	return copy_end(&copy, err);
}

bool result_copy_details(struct db *db, const struct result *result, const int64_t *runs,
			 struct err *err)
{
	if (!copy_locks(db, result, runs, err))
		return err_wrap(err, "lock waits");
	if (!copy_health(db, result, runs, err))
		return err_wrap(err, "lock health");
	if (!copy_histograms(db, result, runs, err))
		return err_wrap(err, "histograms");
	if (!copy_profiles(db, result, runs, err))
		return err_wrap(err, "profiles");
	return copy_counters(db, result, runs, err) || err_wrap(err, "counters");
}
