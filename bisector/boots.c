// SPDX-License-Identifier: GPL-2.0-or-later
/* Interleaved sets of boots. */
#include "bisector/boots.h"

#include <string.h>

#include "stats/rng.h"

void boots_order(uint64_t seed, size_t n_sides, size_t first, size_t each, size_t *order)
{
	for (size_t block = 0; block < each; block++) {
		size_t *own = order + block * n_sides;
		struct rng rng;

		rng_seed(&rng, seed + first + block);
		for (size_t i = 0; i < n_sides; i++)
			own[i] = i;
		rng_shuffle(&rng, own, n_sides, sizeof(*own));
	}
}

static bool queue_one(struct bisector *bisector, const struct boots_plan *plan,
		      const struct boots_side *side, size_t number, struct err *err)
{
	AUTO_FREE char *key = xasprintf("boot:%s:%lld:%s:%zu", plan->purpose,
					(long long)plan->owner, side->role, number);
	const struct job job = {
		.key = key,
		.kind = (char *)"boot",
		.purpose = (char *)plan->purpose,
		.role = (char *)side->role,
		.priority = plan->priority,
		.build = side->build,
		.image = side->image,
		.commit = side->commit,
		.class_id = plan->class_id,
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

	boots_order(plan->seed, plan->n_sides, first, each, order);
	for (size_t i = 0; i < plan->n_sides * each; i++)
		if (!queue_one(bisector, plan, &plan->sides[order[i]],
			       first + i / plan->n_sides + 1, err))
			return false;
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
