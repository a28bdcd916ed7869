// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock waits, printed. */
#include "bench/lock_report.h"

#include <string.h>

void lock_report_release(struct lock_report *report)
{
	lock_waits_release(&report->waits);
	counters_release(&report->events_before);
	counters_release(&report->events_after);
}

double lock_stat_below(const struct lock_stat *stat, double q)
{
	double rest = q * (double)stat->count;

	for (uint32_t i = 0; i < LOCK_HIST; i++) {
		rest -= stat->hist[i];
		if (stat->hist[i] && rest <= 0)
			return (double)(2ULL << i);
	}
	return 0;
}

struct time_text {
	char s[16];
};

static struct time_text time_text(double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	struct time_text text;
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && ns < units[i].ns)
		i++;
	snprintf(text.s, sizeof(text.s), "%.3g %s", ns / units[i].ns, units[i].unit);
	return text;
}

static void print_stat(const struct lock_report *report, const struct lock_stat *stat, FILE *out)
{
	double time_ns = report->seconds * 1e9 * report->cpus;
	double mean = stat->count ? (double)stat->sum_ns / (double)stat->count : 0;

	fprintf(out, " %9llu %9s %9s %9s %9s %6.2f%%", (unsigned long long)stat->count,
		time_text((double)stat->sum_ns).s, time_text(mean).s,
		time_text(lock_stat_below(stat, 0.99)).s, time_text((double)stat->max_ns).s,
		time_ns > 0 ? 100 * (double)stat->sum_ns / time_ns : 0);
	if (report->holds && stat->hold_count)
		fprintf(out, " %9s", time_text((double)stat->hold_ns / (double)stat->hold_count).s);
	else if (report->holds)
		fprintf(out, " %9s", "-");
	fputc('\n', out);
}

static void print_sites(const struct lock_report *report, const char *class, size_t most, FILE *out)
{
	for (size_t i = 0; i < report->waits.n && most; i++) {
		const struct lock_wait *wait = &report->waits.v[i];

		if (strcmp(wait->class, class) != 0)
			continue;
		most--;
		fprintf(out, "  %-34.34s", wait->site);
		print_stat(report, &wait->stat, out);
	}
}

/* Waits are sorted, but a class of many small sites may weigh more than its first one says. */
static const char *next_class(const struct lock_report *report, const struct strs *told)
{
	const char *best = NULL;
	uint64_t best_ns = 0;

	for (size_t i = 0; i < report->waits.n; i++) {
		const char *class = report->waits.v[i].class;
		struct lock_stat sum;

		if (strs_has(told, class))
			continue;
		lock_waits_class(&report->waits, class, &sum);
		if (!best || sum.sum_ns > best_ns) {
			best = class;
			best_ns = sum.sum_ns;
		}
	}
	return best;
}

static void print_events(const struct lock_report *report, FILE *out)
{
	const struct counters *after = &report->events_after;
	bool any = false;

	for (size_t i = 0; i < after->n; i++) {
		int64_t delta;

		if (!counters_delta(&report->events_before, after, after->v[i].name, &delta) ||
		    !delta)
			continue;
		fprintf(out, "%s%s %lld", any ? ", " : "slow paths of all locks: ",
			after->v[i].name + strlen("lockevent."), (long long)delta);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void print_worth(const struct lock_report *report, FILE *out)
{
	const struct lock_health *h = &report->health;
	struct lock_sums sums;
	const char *reason;

	lock_waits_sums(&report->waits, &sums);
	if (sums.unmatched_ns)
		fprintf(out,
			"%.2g %% of the wait is at call sites that no class is known for "
			"(other:)\n",
			100 * (double)sums.unmatched_ns / (double)sums.wait_ns);
	fprintf(out,
		"%llu waits began, %llu ended, %llu went on at the end; %llu lost, "
		"%llu without stack\n",
		(unsigned long long)h->begins, (unsigned long long)h->ends,
		(unsigned long long)h->open, (unsigned long long)h->lost,
		(unsigned long long)h->stack_failures);
	if (h->bpf_runs)
		fprintf(out, "watching took %.0f ns for each event, %.3g s in all\n",
			(double)h->bpf_ns / (double)h->bpf_runs, (double)h->bpf_ns / 1e9);
	if (!lock_health_ok(h, &reason))
		fprintf(out, "NOT VALID: %s\n", reason);
	if (!spinlock_measurable(&report->spin, &reason))
		fprintf(out, "spinlocks are not seen here: %s\n", reason);
	else if (spinlock_kind_of(&report->spin) == SPINLOCK_NATIVE)
		fprintf(out, "native spinlocks: the first waiter of each is not told\n");
}

void lock_report_print(const struct lock_report *report, size_t sites, FILE *out)
{
	AUTO_STRS told = STRS_INIT;
	const char *class;

	fprintf(out,
		"waits for kernel locks on all %u CPUs during %.3f s (share: of CPUs x time)\n\n",
		report->cpus, report->seconds);
	fprintf(out, "%-36s %9s %9s %9s %9s %9s %7s", "lock, call site", "waits", "total", "mean",
		"99% below", "longest", "share");
	fprintf(out, report->holds ? " %9s\n" : "\n", "held");
	while ((class = next_class(report, &told))) {
		struct lock_stat sum;

		strs_push(&told, class);
		lock_waits_class(&report->waits, class, &sum);
		fprintf(out, "%-36.36s", class);
		print_stat(report, &sum, out);
		print_sites(report, class, sites, out);
	}
	if (!report->waits.n)
		fprintf(out, "nobody was seen waiting\n");
	fputc('\n', out);
	print_events(report, out);
	print_worth(report, out);
}

json_t *lock_wait_json(const struct lock_wait *wait, bool holds)
{
	json_t *line = json_object(), *hist = json_array();
	size_t n = LOCK_HIST;

	while (n && !wait->stat.hist[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(hist, json_integer(wait->stat.hist[i]));
	js_set_str(line, "type", "lock");
	js_set_str(line, "class", wait->class);
	js_set_str(line, "site", wait->site);
	js_set_i64(line, "count", (int64_t)wait->stat.count);
	js_set_i64(line, "wait_ns", (int64_t)wait->stat.sum_ns);
	js_set_i64(line, "max_ns", (int64_t)wait->stat.max_ns);
	js_set_new(line, "hist", hist);
	if (holds) {
		js_set_i64(line, "hold_count", (int64_t)wait->stat.hold_count);
		js_set_i64(line, "hold_ns", (int64_t)wait->stat.hold_ns);
		js_set_i64(line, "hold_max_ns", (int64_t)wait->stat.hold_max_ns);
	}
	return line;
}

json_t *lock_health_json(const struct lock_health *health, const struct lock_waits *waits,
			 bool measurable, const char *reason)
{
	json_t *line = json_object();
	struct lock_sums sums;

	lock_waits_sums(waits, &sums);
	js_set_str(line, "type", "lock_health");
	js_set_bool(line, "measurable", measurable);
	js_set_str(line, "reason", reason);
	js_set_i64(line, "begins", (int64_t)health->begins);
	js_set_i64(line, "ends", (int64_t)health->ends);
	js_set_i64(line, "open", (int64_t)health->open);
	js_set_i64(line, "lost", (int64_t)health->lost);
	js_set_i64(line, "stack_failures", (int64_t)health->stack_failures);
	js_set_i64(line, "map_full", (int64_t)health->map_full);
	js_set_i64(line, "recursion_misses", (int64_t)health->recursion_misses);
	if (health->bpf_runs) {
		js_set_i64(line, "bpf_ns", (int64_t)health->bpf_ns);
		js_set_i64(line, "bpf_runs", (int64_t)health->bpf_runs);
	}
	js_set_i64(line, "wait_ns", (int64_t)sums.wait_ns);
	js_set_i64(line, "unmatched_ns", (int64_t)sums.unmatched_ns);
	return line;
}

static void print_line(json_t *line, FILE *out)
{
	AUTO_FREE char *text = js_text(line);

	fprintf(out, "%s\n", text);
	json_decref(line);
}

void lock_report_json(const struct lock_report *report, FILE *out)
{
	const char *unseen = NULL, *unhealthy = NULL;
	bool healthy = lock_health_ok(&report->health, &unhealthy);
	bool spin = spinlock_measurable(&report->spin, &unseen);
	json_t *end = json_object();

	for (size_t i = 0; i < report->waits.n; i++)
		print_line(lock_wait_json(&report->waits.v[i], report->holds), out);
	for (size_t i = 0; i < report->events_after.n; i++) {
		const char *name = report->events_after.v[i].name;
		json_t *line = json_object();
		int64_t delta = 0;

		(void)!counters_delta(&report->events_before, &report->events_after, name, &delta);
		js_set_str(line, "type", "counter");
		js_set_str(line, "name", name);
		js_set_i64(line, "value", delta);
		print_line(line, out);
	}
	print_line(lock_health_json(&report->health, &report->waits, healthy && spin,
				    healthy ? unseen : unhealthy),
		   out);
	js_set_str(end, "type", "lockwatch");
	js_set_f64(end, "seconds", report->seconds);
	js_set_i64(end, "cpus", report->cpus);
	print_line(end, out);
}
