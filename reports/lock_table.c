// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock waits, printed. */
#include "reports/lock_table.h"

#include "reports/escape.h"
#include "reports/number.h"
#include "reports/table.h"

enum {
	MOST_SITES = 6,
	NAME_MOST = 40
};

static void print_row(struct table *table, const struct lock_change *lock)
{
	const double *wait = lock->wait_per_op_ns;
	AUTO_FREE char *shares = xasprintf("%s -> %s", number_share(lock->share[0]).s,
					   number_share(lock->share[1]).s);
	AUTO_FREE char *events = xasprintf("%s -> %s", number_value(lock->count[0], "count").s,
					   number_value(lock->count[1], "count").s);
	AUTO_STR name = str_new();

	str_add(&name, lock->site ? "  " : "");
	escape_text_cut(&name, lock->site ? lock->site : lock->class_name, NAME_MOST);
	TABLE_ROW(table, name.s, number_value(wait[0], "ns").s, number_value(wait[1], "ns").s,
		  wait[0] > 0 ? number_pct(100 * (wait[1] / wait[0] - 1)).s : "new", shares,
		  events);
}

static void print_doubt(struct str *out, const struct lock_changes *locks)
{
	AUTO_STR doubt = str_new();

	str_add(&doubt, "lock waits: ");
	if (locks->doubt)
		escape_text(&doubt, locks->doubt);
	else
		str_add(&doubt, locks->boots[0] + locks->boots[1] ? "none were seen"
								  : "no boot looked for them");
	table_wrap(out, doubt.s, 78, "  ");
}

void lock_table_print(struct str *out, const struct lock_changes *locks, const char *before,
		      const char *after)
{
	AUTO_TABLE table = {.columns = 6};
	size_t sites = 0;

	if (locks->doubt || !locks->n)
		print_doubt(out, locks);
	if (!locks->n)
		return;
	str_addf(out,
		 "lock waits per operation, summed over threads; means of %d + %d boots\n"
		 "(share: of threads x time)\n\n",
		 locks->boots[0], locks->boots[1]);
	TABLE_ROW(&table, "lock, call site", before, after, "change", "share", "events per boot");
	for (size_t i = 0; i < locks->n; i++) {
		sites = locks->v[i].site ? sites + 1 : 0;
		if (sites <= MOST_SITES)
			print_row(&table, &locks->v[i]);
	}
	table_print(&table, "  ", out);
}

static json_t *pair_json(const double pair[2])
{
	json_t *obj = json_object();

	js_set_f64(obj, "before", pair[0]);
	js_set_f64(obj, "after", pair[1]);
	return obj;
}

json_t *lock_table_json(const struct lock_changes *locks)
{
	json_t *obj = json_object(), *list = json_array();

	for (size_t i = 0; i < locks->n; i++) {
		const struct lock_change *lock = &locks->v[i];
		json_t *item = json_object();

		js_set_str(item, "class", lock->class_name);
		js_set_str(item, "site", lock->site);
		js_set_new(item, "wait_per_op_ns", pair_json(lock->wait_per_op_ns));
		js_set_new(item, "spread_ns", pair_json(lock->spread_ns));
		js_set_new(item, "share", pair_json(lock->share));
		js_set_new(item, "count", pair_json(lock->count));
		js_set_new(item, "max_ns", pair_json(lock->max_ns));
		json_array_append_new(list, item);
	}
	js_set_i64(obj, "before_boots", locks->boots[0]);
	js_set_i64(obj, "after_boots", locks->boots[1]);
	js_set_str(obj, "doubt", locks->doubt);
	js_set_new(obj, "waits", list);
	return obj;
}
