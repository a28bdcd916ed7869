// SPDX-License-Identifier: GPL-2.0-or-later
/* Interleaved sets of boots. */
#include "bisector/boots.h"

#include <string.h>

#include "stats/rng.h"

void boots_order(uint64_t seed, size_t n_sides, size_t per_block, size_t first, size_t each,
		 size_t *order)
{
	size_t size = n_sides * per_block;

	for (size_t done = 0; done < each; done += per_block) {
		size_t *own = order + done * n_sides;
		struct rng rng;

		rng_seed(&rng, seed + first + done);
		for (size_t i = 0; i < size; i++)
			own[i] = i % n_sides;
		rng_shuffle(&rng, own, size, sizeof(*own));
	}
}

/* per_block: as planned, 1 at least. */
static size_t per_block(const struct boots_plan *plan)
{
	return plan->per_block ? plan->per_block : 1;
}

/* first: boots of the side that were queued before this call; blocks begin behind them. */
static char *key_of(const struct boots_plan *plan, const char *role, size_t first, size_t i)
{
	size_t block = first + i - i % per_block(plan) + 1, number = first + i + 1;

	if (per_block(plan) == 1)
		return xasprintf("boot:%s:%lld:%s:%zu", plan->purpose, (long long)plan->owner, role,
				 block);
	return xasprintf("boot:%s:%lld:%s:%zu/%zu", plan->purpose, (long long)plan->owner, role,
			 block, number);
}

/* i: of the boots that are asked for at once. */
static bool queue_one(struct bisector *bisector, const struct boots_plan *plan,
		      const struct boots_side *side, size_t i, const char *key, struct err *err)
{
	const struct built *own = side->builds ? &side->builds[i] : NULL;
	const struct job job = {
		.key = (char *)key,
		.kind = (char *)"boot",
		.purpose = (char *)plan->purpose,
		.role = (char *)side->role,
		.priority = plan->priority,
		.build = own ? own->build : side->build,
		.image = own ? own->image : side->image,
		.commit = side->commit,
		.class_id = plan->class_id,
		.only_machine = plan->only_machine,
		.suites = (int64_t *)plan->suites,
		.n_suites = plan->n_suites,
		.candidate = plan->candidate,
		.bisection = plan->bisection,
		.request = plan->request,
	};
	int64_t id;
	bool fresh;

	return job_add(bisector->db, &job, &id, &fresh, err);
}

bool boots_queue(struct bisector *bisector, const struct boots_plan *plan, size_t first,
		 size_t each, struct err *err)
{
	AUTO_FREE size_t *order = xcalloc(plan->n_sides * each, sizeof(*order));
	AUTO_FREE size_t *queued = xcalloc(plan->n_sides, sizeof(*queued));

	boots_order(plan->seed, plan->n_sides, per_block(plan), first, each, order);
	for (size_t i = 0; i < plan->n_sides * each; i++) {
		const struct boots_side *side = &plan->sides[order[i]];
		size_t n = queued[order[i]]++;
		AUTO_FREE char *key = key_of(plan, side->role, first, n);

		if (!queue_one(bisector, plan, side, n, key, err))
			return false;
	}
	return true;
}

struct boots_progress boots_progress(const struct work_jobs *jobs, const char *role)
{
	struct boots_progress p = {0};

	for (size_t i = 0; i < jobs->n; i++) {
		const struct work_job *job = &jobs->v[i];

		if (strcmp(job->kind, "boot") || (role && strcmp(job->role, role)))
			continue;
		p.asked++;
		if (!job->ended)
			p.open++;
		else if (!strcmp(job->state, "done"))
			p.done++;
		else if (job->kernel_bad)
			p.kernel_bad++;
		else
			p.failed++;
		if (job->ended && strcmp(job->state, "done") && *job->error)
			p.error = job->error;
	}
	return p;
}
