// SPDX-License-Identifier: GPL-2.0-or-later
/* Made-up series. */
#include "stats/sim_detect.h"

#include <math.h>

#include "base/mem.h"
#include "stats/compare.h"
#include "stats/online.h"

static const double rho = 0.6, layout_sd = 0.5;

const char *const sim_noise_names[SIM_NOISES] = {
	[SIM_GAUSSIAN] = "gaussian", [SIM_LOGNORMAL] = "lognormal", [SIM_DRIFT] = "drift",
	[SIM_BIMODAL] = "bimodal",   [SIM_OUTLIERS] = "outliers",   [SIM_LAYOUT] = "layout",
};

void sim_source_init(struct sim_source *source, enum sim_noise noise, struct rng *rng)
{
	*source = (struct sim_source){.rng = rng, .noise = noise, .drift = rng_normal(rng)};
}

void sim_source_replay(struct sim_source *source, const struct tape *tape)
{
	source->head = tape_start(tape, source->rng);
}

double sim_boot(struct sim_source *s, bool fresh)
{
	double y = s->head.tape ? tape_next(&s->head) : rng_normal(s->rng);

	if (s->head.tape)
		return y;
	switch (s->noise) {
	case SIM_LOGNORMAL: { /* less its mean, over its deviation */
		double v = exp(0.25);

		return (exp(0.5 * y) - sqrt(sqrt(v))) / sqrt(sqrt(v) * (v - 1.0));
	}
	case SIM_DRIFT:
		s->drift = rho * s->drift + sqrt(1.0 - rho * rho) * y;
		return s->drift;
	case SIM_BIMODAL:
		return y + (rng_uniform(s->rng) < 0.3 ? 3.0 : 0.0);
	case SIM_OUTLIERS:
		return y + (rng_uniform(s->rng) < 0.01 ? 8.0 : 0.0);
	case SIM_LAYOUT:
		return y + (fresh ? layout_sd * rng_normal(s->rng) : 0.0);
	default:
		return y;
	}
}

void sim_block(struct sim_source *source, double before, double after, size_t each, double *b,
	       double *a)
{
	size_t left[] = {each, each};

	while (left[0] || left[1]) {
		size_t total = left[0] + left[1];
		bool side = rng_uniform(source->rng) * (double)total >= (double)left[0];
		double y = sim_boot(source, true);

		left[side]--;
		if (side)
			a[left[1]] = after + y;
		else
			b[left[0]] = before + y;
	}
}

void sim_detect_init(struct sim_detect *spec)
{
	*spec = (struct sim_detect){
		.commits = 200,
		.boots = 2,
		.proof_boots = 8,
		.rule = {.blocks = 15, .each = 4, .min_effect = 0.4, .alpha = 0.001},
	};
}

enum confirm_verdict sim_confirm(const struct sim_detect *spec, struct sim_source *source,
				 double shift, const struct sd_prior *prior, size_t *boots)
{
	const struct confirm_rule *rule = &spec->rule;
	AUTO_FREE double *y = xcalloc(2 * rule->blocks * rule->each, sizeof(*y));
	AUTO_FREE struct evalue_block *blocks = xcalloc(rule->blocks, sizeof(*blocks));
	struct confirmation c;
	size_t n = 0;

	do {
		double *b = y + 2 * n * rule->each, *a = b + rule->each;

		sim_block(source, 0.0, shift, rule->each, b, a);
		blocks[n++] = (struct evalue_block){b, a, rule->each, rule->each};
		c = confirm_blocks(blocks, n, prior, rule);
	} while (c.verdict == CONFIRM_MORE);
	*boots = 2 * n * rule->each;
	return c.verdict;
}

struct run {
	const struct sim_detect *spec;
	struct sim_source source;
	struct online *online;
	double step, sse;
	size_t commit;
	struct sim_detect_end *end;
};

/* Noise between boots of one image, as the confirmation is given it: never worth more than 30. */
static struct sd_prior noise_of(const struct run *r)
{
	double df = (double)((r->commit + 1) * (r->spec->boots - 1));

	return (struct sd_prior){.sd = df > 0.0 ? sqrt(r->sse / df) : 0.0, .df = fmin(df, 30.0)};
}

static struct alarm next_commit(struct run *r)
{
	AUTO_FREE double *y = xcalloc(r->spec->boots, sizeof(*y));
	double level = r->commit >= r->spec->step_at ? r->step : 0.0;

	if (r->spec->noise == SIM_LAYOUT)
		level += layout_sd * rng_normal(r->source.rng);
	for (size_t i = 0; i < r->spec->boots; i++)
		y[i] = level + sim_boot(&r->source, false);
	r->sse += estimate_sse(y, r->spec->boots);
	return online_push(r->online, y, r->spec->boots);
}

static void prove(struct run *r)
{
	size_t n = r->spec->proof_boots;
	AUTO_FREE double *b = xcalloc(n, sizeof(*b));
	AUTO_FREE double *a = xcalloc(n, sizeof(*a));
	struct interval iv;

	for (size_t i = 0; i < n; i++)
		sim_block(&r->source, 0.0, r->step, 1, b + i, a + i);
	iv = compare_interval(b, n, a, n);
	r->end->stated = iv.diff;
	r->end->lo = iv.lo;
	r->end->hi = iv.hi;
}

/* Of the last commit that is surely before the stretch and the newest: what the bisector boots. */
static bool confirmed(struct run *r, const struct alarm *a)
{
	double before = a->after >= r->spec->step_at ? r->step : 0.0;
	double after = r->commit >= r->spec->step_at ? r->step : 0.0;
	struct sd_prior prior = noise_of(r);
	size_t boots;
	bool yes = sim_confirm(r->spec, &r->source, after - before, &prior, &boots) ==
		   CONFIRM_CONFIRMED;

	if (after > before) {
		r->end->confirmed = yes;
	} else {
		r->end->false_alarm |= yes;
		r->end->wasted += boots;
	}
	return yes;
}

static void heed(struct run *r, const struct alarm *a)
{
	bool real = r->step > 0.0 && r->commit >= r->spec->step_at && a->after < r->spec->step_at &&
		    a->z > 0.0;

	if (real && !r->end->raised) {
		r->end->raised = true;
		r->end->delay = r->commit - r->spec->step_at + 1;
	}
	r->end->candidates += !real;
	r->end->worse += !real && a->z > 0.0;
	/* what got better is recorded, and the new level */
	online_settle(r->online, a->since, a->z < 0.0 || confirmed(r, a));
}

/* What would be found with 90 of 100: nearly all that is raised is confirmed, or the other way round. */
static double down_to(const struct run *r)
{
	struct sd_prior prior = noise_of(r);

	return fmax(online_detectable(r->online, r->spec->seen, r->spec->boots, 0.9),
		    prior.sd * r->spec->detectable);
}

void sim_detect_run(const struct sim_detect *spec, struct rng *rng, struct sim_detect_end *end)
{
	CLEANUP(online_free_ptr) struct online *online = online_new();
	struct run r = {.spec = spec, .online = online, .step = spec->step, .end = end};
	size_t n = spec->seen ? spec->step_at + spec->seen : spec->commits;

	*end = (struct sim_detect_end){0};
	sim_source_init(&r.source, spec->noise, rng);
	if (spec->tape)
		sim_source_replay(&r.source, spec->tape);
	for (; r.commit < n && !end->confirmed; r.commit++) {
		struct alarm a;

		if (spec->exactly && r.commit == spec->step_at)
			r.step = down_to(&r);
		a = next_commit(&r);
		if (a.raised)
			heed(&r, &a);
	}
	end->step = r.step;
	if (end->confirmed)
		prove(&r);
}
