// SPDX-License-Identifier: GPL-2.0-or-later
/* Naming locks by call site. */
#include "bench/lockname.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEN_MAX  90
#define CANDIDATE_MAX 4

/* The classes that one row may belong to, before its address is looked at. */
struct candidates {
	const char *v[CANDIDATE_MAX];
	size_t n;
	const char *site;
};

void lock_rows_release(struct lock_rows *rows)
{
	free(rows->v);
	*rows = (struct lock_rows)LOCK_ROWS_INIT;
}

void lock_waits_release(struct lock_waits *waits)
{
	for (size_t i = 0; i < waits->n; i++) {
		free(waits->v[i].class);
		free(waits->v[i].site);
	}
	free(waits->v);
	*waits = (struct lock_waits){NULL, 0, 0};
}

/* Inside a sleeping lock there is a spinlock of its own: its waits belong to the sleeping lock. */
#define INNER_SPIN 0x80000000u

static const char *type_of(uint32_t flags)
{
	if (flags & LOCK_F_MUTEX)
		return "MUTEX";
	if (flags & LOCK_F_SPIN)
		return "SPIN";
	if (flags & LOCK_F_READ)
		return "READ";
	return flags & LOCK_F_WRITE ? "WRITE" : "-";
}

static void add_candidate(struct candidates *c, const char *class)
{
	if (!strcmp(class, "-"))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->v[i], class))
			return;
	}
	if (c->n < CANDIDATE_MAX)
		c->v[c->n++] = class;
}

/* Adds what the table says of function; returns the kind of its first line, NULL when unknown. */
static const char *look_up(const char *function, uint32_t flags, const char *only_kind,
			   struct candidates *c)
{
	const char *kind = NULL;

	for (const struct lock_site *s = lock_sites; s->class; s++) {
		bool type_fits = flags & INNER_SPIN ? strcmp(s->flags, "SPIN") != 0
						    : !strcmp(s->flags, type_of(flags));

		if (strcmp(s->function, function) != 0 || !type_fits ||
		    (only_kind && strcmp(s->kind, only_kind) != 0))
			continue;
		add_candidate(c, s->class);
		if (!kind)
			kind = s->kind;
	}
	return kind;
}

static bool is_sleeping_lock(const char *name)
{
	static const char *const prefixes[] = {"__down",  "__mutex", "down",	 "downgrade_write",
					       "mutex_",  "percpu_", "__percpu", "rwsem_",
					       "up_read", "up_write"};

	for (size_t i = 0; name && i < ARRAY_SIZE(prefixes); i++) {
		if (str_starts(name, prefixes[i]))
			return true;
	}
	return false;
}

/* Names of the frames above lock text; flags is marked when a sleeping lock lies between. */
static size_t callers(const struct lock_row *row, const struct kallsyms *syms, const char **names,
		      size_t max, uint32_t *flags)
{
	size_t n = 0, i = 0;

	if (row->key.stack < 0)
		return 0;
	for (; i < LOCK_STACK_DEPTH && row->frames[i]; i++) {
		if (!kallsyms_is_lock_text(syms, row->frames[i]))
			break;
		if (lock_is_spin(*flags) && is_sleeping_lock(kallsyms_find(syms, row->frames[i])))
			*flags |= INNER_SPIN;
	}
	for (; i < LOCK_STACK_DEPTH && row->frames[i] && n < max; i++) {
		const char *name = kallsyms_find(syms, row->frames[i]);

		names[n++] = name ? name : "unknown";
	}
	return n;
}

static void examine(const struct lock_row *row, const struct kallsyms *syms, struct candidates *c)
{
	const char *names[6], *kind = NULL;
	uint32_t flags = row->key.flags;
	size_t n = callers(row, syms, names, ARRAY_SIZE(names), &flags), i = 0;
	struct candidates shared = {0};

	*c = (struct candidates){.site = n ? names[0] : "unknown"};
	for (; i < n; i++) {
		struct candidates here = {0};

		kind = look_up(names[i], flags, NULL, &here);
		if (!kind || strcmp(kind, "shared") != 0) {
			*c = here;
			break;
		}
		if (!shared.n)
			shared = here;
	}
	c->site = i < n ? names[i] : c->site;
	if (!c->n && shared.n) {
		*c = shared;
		c->site = names[0];
		return;
	}
	if (kind && !strcmp(kind, "helper") && i + 1 < n)
		c->site = names[i + 1];
	else if (!kind && i + 1 < n)
		look_up(names[i + 1], flags, "outer", c);
}

static int by_lock(const void *a, const void *b)
{
	const struct lock_row *x = *(const struct lock_row *const *)a;
	const struct lock_row *y = *(const struct lock_row *const *)b;

	return (x->key.lock > y->key.lock) - (x->key.lock < y->key.lock);
}

/* The only sure class among rows [from, to) of one address; NULL when none or several. */
static const char *sure_class(const struct candidates *c, const size_t *order, size_t from,
			      size_t to)
{
	const char *sure = NULL;

	for (size_t i = from; i < to; i++) {
		const struct candidates *here = &c[order[i]];

		if (here->n != 1)
			continue;
		if (sure && strcmp(sure, here->v[0]) != 0)
			return NULL;
		sure = here->v[0];
	}
	return sure;
}

static bool may_be(const struct candidates *c, const char *class)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->v[i], class))
			return true;
	}
	return c->n == 0;
}

static char *safe_name(const char *prefix, const char *name)
{
	char *out = xasprintf("%s%.*s", prefix, NAME_LEN_MAX, name);

	for (char *p = out; *p; p++) {
		*p = (char)tolower((unsigned char)*p);
		if (!isalnum((unsigned char)*p) && !strchr("_.:-", *p))
			*p = '_';
	}
	return out;
}

static void sum_up(struct lock_waits *out, const char *class, const struct candidates *c,
		   const struct lock_stat *stat)
{
	AUTO_FREE char *name = class ? safe_name("", class) : safe_name("other:", c->site);
	AUTO_FREE char *site = safe_name("", c->site);
	struct lock_wait *wait;

	for (size_t i = 0; i < out->n; i++) {
		if (!strcmp(out->v[i].class, name) && !strcmp(out->v[i].site, site)) {
			lock_stat_merge(&out->v[i].stat, stat);
			return;
		}
	}
	wait = array_push(out->v, out->n, out->cap);
	wait->class = TAKE(name);
	wait->site = TAKE(site);
	wait->stat = *stat;
}

static int by_wait(const void *a, const void *b)
{
	const struct lock_wait *x = a, *y = b;

	if (x->stat.sum_ns != y->stat.sum_ns)
		return x->stat.sum_ns > y->stat.sum_ns ? -1 : 1;
	return strcmp(x->site, y->site);
}

void lock_waits_name(const struct lock_rows *rows, const struct kallsyms *syms,
		     struct lock_waits *out)
{
	AUTO_FREE struct candidates *c = xcalloc(rows->n, sizeof(*c));
	AUTO_FREE const struct lock_row **sorted = xcalloc(rows->n, sizeof(*sorted));
	AUTO_FREE size_t *order = xcalloc(rows->n, sizeof(*order));

	for (size_t i = 0; i < rows->n; i++) {
		examine(&rows->v[i], syms, &c[i]);
		sorted[i] = &rows->v[i];
	}
	if (rows->n)
		qsort(sorted, rows->n, sizeof(*sorted), by_lock);
	for (size_t i = 0; i < rows->n; i++)
		order[i] = (size_t)(sorted[i] - rows->v);
	for (size_t from = 0, to; from < rows->n; from = to) {
		const char *sure;

		for (to = from; to < rows->n && sorted[to]->key.lock == sorted[from]->key.lock;)
			to++;
		sure = sure_class(c, order, from, to);
		for (size_t i = from; i < to; i++) {
			const struct candidates *here = &c[order[i]];
			const char *class = here->n == 1 ? here->v[0] : NULL;

			if (!class && sure && may_be(here, sure))
				class = sure;
			sum_up(out, class, here, &sorted[i]->stat);
		}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_wait);
}

void lock_waits_sums(const struct lock_waits *waits, struct lock_sums *out)
{
	*out = (struct lock_sums){0};
	for (size_t i = 0; i < waits->n; i++) {
		uint64_t ns = waits->v[i].stat.sum_ns;

		out->wait_ns += ns;
		if (str_starts(waits->v[i].class, "other:"))
			out->unmatched_ns += ns;
	}
}

void lock_waits_class(const struct lock_waits *waits, const char *class, struct lock_stat *out)
{
	*out = (struct lock_stat){0};
	for (size_t i = 0; i < waits->n; i++) {
		if (!strcmp(waits->v[i].class, class))
			lock_stat_merge(out, &waits->v[i].stat);
	}
}

bool lock_health_ok(const struct lock_health *health, const char **reason)
{
	uint64_t limit = health->begins / 100;

	*reason = NULL;
	if (health->map_full > limit)
		*reason = "over 1 % of the waits found the statistics map full";
	else if (health->stack_failures > limit)
		*reason = "over 1 % of the waits have no stack";
	else if (health->lost > limit)
		*reason = "over 1 % of the waits were lost";
	return !*reason;
}
