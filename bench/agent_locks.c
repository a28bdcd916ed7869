// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock result lines. */
#include "bench/agent_locks.h"

#include <string.h>

#include "bench/lock_report.h"

#define SITES_TOLD 200

/* Always told, also when nobody waited: a series must not have holes. */
static const struct {
	const char *class;
	bool spin;
} primary[] = {
	{"lruvec", true},
	{"zone", true},
	{"deferred_split", true},
	{"mmap_lock", false},
};

static json_t *line_of(const char *type)
{
	json_t *line = json_object();

	js_set_str(line, "type", type);
	return line;
}

static void tell_metric(const struct lock_context *context, const char *class, const char *what,
			const char *unit, double floor_value, bool is_primary, double value)
{
	AUTO_FREE char *name = xasprintf("lock.%s.%s", class, what);
	json_t *line = line_of("metric");
	json_t *values = json_array();

	json_array_append_new(values, json_real(value));
	js_set_str(line, "name", name);
	js_set_str(line, "unit", unit);
	js_set_str(line, "direction", "lower");
	js_set_bool(line, "primary", is_primary);
	/* Under an emulator a wait is mostly a holder that its host does not run. */
	js_set_bool(line, "real_cpus", true);
	js_set_f64(line, "floor", floor_value);
	js_set_new(line, "values", values);
	context->say(context->arg, line);
}

static void tell_missing(const struct lock_context *context, const char *class, const char *reason)
{
	static const char *const whats[] = {"wait_per_op", "wait_share"};

	for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
		AUTO_FREE char *name = xasprintf("lock.%s.%s", class, whats[i]);
		json_t *line = line_of("missing");

		js_set_str(line, "name", name);
		js_set_str(line, "reason", reason);
		context->say(context->arg, line);
	}
}

static bool is_primary_class(const char *class)
{
	for (size_t i = 0; i < ARRAY_SIZE(primary); i++) {
		if (!strcmp(primary[i].class, class))
			return true;
	}
	return false;
}

static void tell_class(const struct lock_context *context, const struct lock_waits *waits,
		       const char *class, bool is_primary)
{
	struct lock_stat sum;

	if (!context->operations || context->thread_s <= 0) {
		tell_missing(context, class, "the benchmark counted no operations");
		return;
	}
	lock_waits_class(waits, class, &sum);
	tell_metric(context, class, "wait_per_op", "ns", 10, is_primary,
		    (double)sum.sum_ns / (double)context->operations);
	tell_metric(context, class, "wait_share", "ratio", 0.001, false,
		    (double)sum.sum_ns / 1e9 / context->thread_s);
}

static void tell_other_classes(const struct lock_context *context, const struct lock_waits *waits)
{
	for (size_t i = 0; i < waits->n; i++) {
		const char *class = waits->v[i].class;
		bool told = is_primary_class(class) || str_starts(class, "other:");

		for (size_t k = 0; k < i && !told; k++)
			told = !strcmp(waits->v[k].class, class);
		if (!told)
			tell_class(context, waits, class, false);
	}
}

void agent_locks_tell(const struct lock_context *context, const struct lock_waits *waits,
		      const struct lock_health *health)
{
	const char *unseen = NULL, *unhealthy = NULL;
	bool healthy = lock_health_ok(health, &unhealthy);
	bool spin = spinlock_measurable(&context->spin, &unseen);

	context->say(context->arg, lock_health_json(health, waits, healthy && spin,
						    healthy ? unseen : unhealthy));
	for (size_t i = 0; i < waits->n && i < SITES_TOLD && healthy; i++)
		context->say(context->arg, lock_wait_json(&waits->v[i], context->holds));
	for (size_t i = 0; i < ARRAY_SIZE(primary); i++) {
		if (!healthy)
			tell_missing(context, primary[i].class, unhealthy);
		else if (primary[i].spin && !spin)
			tell_missing(context, primary[i].class, unseen);
		else
			tell_class(context, waits, primary[i].class, true);
	}
	if (healthy)
		tell_other_classes(context, waits);
}
