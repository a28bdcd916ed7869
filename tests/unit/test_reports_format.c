// SPDX-License-Identifier: GPL-2.0-or-later
/* One report in every format. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/js.h"
#include "reports/format.h"

#define HOSTILE "x\"'<script>alert(1)</script>\r\nBcc: victim@example.org\xe2\x80\xae"

static char *fake_oid(int64_t id)
{
	return xasprintf("%012llx%028d", (unsigned long long)id * 0x1234567, 0);
}

static struct report_commit commit(int64_t id, const char *subject)
{
	return (struct report_commit){.id = id,
				      .oid = fake_oid(id),
				      .subject = xstrdup(subject),
				      .author_name = xstrdup(HOSTILE),
				      .author_email = xstrdup("ada@example.org"),
				      .link = xstrdup("javascript:alert(1)")};
}

static void add_series(struct report_facts *facts, const char *metric, const char *direction,
		       const char *pass, double effect, double half)
{
	struct report_series *s = array_push(facts->series, facts->n_series, facts->cap_series);

	*s = (struct report_series){.benchmark = xstrdup("fault"),
				    .metric = xstrdup(metric),
				    .params = xstrdup("threads=4"),
				    .pass = xstrdup(pass),
				    .unit = xstrdup("ns"),
				    .direction = xstrdup(direction),
				    .primary = facts->n_series == 1,
				    .before_n = 5,
				    .after_n = 5,
				    .before_mean = 100,
				    .after_mean = 100 * exp(effect),
				    .effect = effect,
				    .lo = effect - half,
				    .hi = effect + half,
				    .significant = fabs(effect) > half};
}

static void add_hypotheses(struct report_facts *facts, int64_t n, int64_t culprit)
{
	for (int64_t i = 0; i <= n; i++) {
		struct report_hypothesis *h =
			array_push(facts->hypotheses, facts->n_hypotheses, facts->cap_hypotheses);

		h->n = (int)i;
		h->kind = xstrdup(i ? "commit" : "none");
		h->commit = i;
		h->oid = i ? fake_oid(i) : NULL;
		h->subject = i ? xstrdup(HOSTILE) : NULL;
		h->mass = i == culprit ? 0.995 : 0.005 / (double)n;
	}
}

static void add_boots(struct report_facts *facts, int64_t n, int64_t culprit)
{
	for (int64_t i = 0; i <= n; i++) {
		struct report_boot *b = array_push(facts->boots, facts->n_boots, facts->cap_boots);

		b->commit = i;
		b->purpose = xstrdup(i % 2 ? "prove" : "bisect");
		b->outcome = xstrdup(i == 3 ? "panic" : "ok");
		b->value = i == 3 ? NAN : i < culprit ? 100 : 112;
	}
}

static void add_lock(struct lock_changes *locks, const char *class_name, const char *site, double a,
		     double b)
{
	struct lock_change *lock = array_push(locks->v, locks->n, locks->cap);

	*lock = (struct lock_change){.class_name = xstrdup(class_name),
				     .site = xstrdup_null(site),
				     .wait_per_op_ns = {a, b},
				     .spread_ns = {1, NAN},
				     .share = {a / 1000, b / 1000},
				     .count = {10, 20},
				     .max_ns = {1e6, 2e6}};
}

static void fill(struct report *report, double latency, double lock)
{
	struct report_facts *facts = &report->facts;

	facts->id = 12;
	facts->state = xstrdup("proved");
	facts->created = xstrdup("2026-03-04 05:06 UTC");
	facts->tree = xstrdup("mm");
	facts->url = xstrdup("https://example.org/mm; rm -rf .");
	facts->branch = xstrdup("mm-unstable");
	facts->culprit = commit(4, HOSTILE);
	facts->parent = commit(3, "parent");
	facts->good = commit(20, "good");
	facts->base = commit(0, "base");
	facts->bad = commit(6, "bad");
	facts->class_name = xstrdup("skl");
	facts->driver = xstrdup("fake");
	facts->method = xstrdup("kexec");
	strs_push(&facts->environment, "cpu=" HOSTILE);
	facts->recipe = xstrdup("timing");
	facts->recipe_version = 2;
	facts->recipe_text = xstrdup("CONFIG_SMP=y\nCONFIG_X=\"<&>\"\n");
	facts->toolchain = xstrdup("gcc 12");
	facts->suite = xstrdup("fault");
	strs_push(&facts->params, "threads=4");
	facts->posterior = 0.995;
	facts->revert_effect = NAN;
	facts->revert_reason = xstrdup("it does not revert cleanly");
	add_series(facts, "latency", "lower", "clean", latency, 0.02);
	add_series(facts, "throughput", "higher", "clean", latency, 0.03);
	add_series(facts, "lock.lruvec.wait_per_op", "lower", "instrumented", lock, 0.3);
	add_series(facts, "release_time", "lower", "clean", 0.01, 0.02);
	add_series(facts, "vmas", "none", "clean", 0, 0);
	add_hypotheses(facts, 6, 4);
	add_boots(facts, 6, 4);
	facts->locks.boots[0] = facts->locks.boots[1] = 5;
	add_lock(&facts->locks, "lruvec", NULL, 30, 200);
	add_lock(&facts->locks, "lruvec", "folio_batch_move_lru", 20, 190);
	add_lock(&facts->locks, "other:" HOSTILE, NULL, 0, 3);
	report_derive(report, "https://mmperf.example.org/");
}

static void write_format(const char *name, const struct report *report, struct str *out)
{
	const struct report_format *format = report_format_find(name);

	assert_non_null(format);
	format->write(out, report);
}

#define assert_has(text, part)	 assert_non_null(strstr((text).s, part))
#define assert_lacks(text, part) assert_null(strstr((text).s, part))

static void text_says_it(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();

	fill(&report, 0.1162, 1.75);
	write_format("text", &report, &out);
	assert_has(out, "mmperf measured a 12.3 % regression of fault.latency\n"
			"(100.0 ns -> 112.3 ns) on:\n");
	assert_has(out, "\\r\\nBcc: victim@example.org\\u202e\")\n");
	assert_lacks(out, "\nBcc:");
	assert_has(out, "mmperf compare 00000369d035 0000048d159c --bench fault\n");
	assert_has(out, "--bench fault --metric latency\n");
	assert_has(out, "git fetch 'https://example.org/mm; rm -rf .' mm-unstable\n");
	assert_has(out, "bare metal");
	assert_has(out, "it does not revert cleanly");
	assert_has(out, "\n  fault.release_time ");
	assert_has(out, "The same in every boot of both:\n\n  fault.vmas (100.0 ns)\n");
	assert_has(out, "posterior 0.9950 among 6 candidate commits");
	assert_has(out, "https://mmperf.example.org/regression-12.html");
	assert_lacks(out, "Contention only");
	for (const char *p = out.s; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n');
}

static void title_is_one_line(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();

	fill(&report, 0.1162, 1.75);
	report_add_title(&report, &out);
	assert_string_equal(out.s, "[mm/mm-unstable] 0000048d159c (\"x\"'<script>alert(1)</script>"
				   "\\r\\nBcc: victim@example.org\\u202e\"): fault.latency +12.3 % "
				   "regression");
}

static void contention_only_is_said(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();

	fill(&report, 0.004, 1.75);
	assert_true(report.contention_only);
	write_format("text", &report, &out);
	assert_has(out, "Contention only: lock waits grew");
	assert_has(out, "(cost below 3.5 %,");
	assert_has(out, "from fault.throughput:");
}

static void direction_turns_the_sign(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	struct report_change latency, throughput;

	fill(&report, 0.1162, 0);
	latency = report_change_of(&report.facts.series[0]);
	throughput = report_change_of(&report.facts.series[1]);
	assert_true(latency.pct > 12 && latency.pct < 12.5);
	assert_true(throughput.pct < -10.8 && throughput.pct > -11.1);
	assert_string_equal(latency.word, "worse");
	assert_string_equal(throughput.word, "worse");
	assert_true(throughput.lo_pct < throughput.pct && throughput.pct < throughput.hi_pct);
	assert_true(latency.mde_pct > 2 && latency.mde_pct < 4);
}

/* Every tag is closed, attributes are quoted, and nothing but our own elements appears. */
static void check_markup(const char *s)
{
	static const char *const allowed[] = {
		"html", "head", "meta", "title",  "style",   "body",	"main",	 "p",  "a",
		"h1",	"h2",	"code", "div",	  "span",    "small",	"dl",	 "dt", "dd",
		"svg",	"line", "text", "circle", "rect",    "path",	"table", "tr", "th",
		"td",	"pre",	"b",	"br",	  "details", "summary",
	};
	AUTO_STRS open = STRS_INIT;

	s = strstr(s, "<html");
	assert_non_null(s);
	for (; (s = strchr(s, '<')); s++) {
		bool closes = s[1] == '/';
		const char *from = s + 1 + closes, *end = strchr(s, '>');
		AUTO_FREE char *name = xstrndup(from, strcspn(from, " />"));
		bool known = false;

		assert_non_null(end);
		for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
			known |= !strcmp(allowed[i], name);
		assert_true(known);
		if (closes) {
			assert_true(open.n > 0);
			assert_string_equal(open.v[open.n - 1], name);
			mem_free_ptr(&open.v[--open.n]);
			open.v[open.n] = NULL;
		} else if (end[-1] != '/') {
			strs_push(&open, name);
		}
	}
	assert_int_equal(open.n, 0);
}

static void page_is_inert_and_well_formed(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();

	fill(&report, 0.1162, 1.75);
	write_format("html", &report, &out);
	check_markup(out.s);
	assert_lacks(out, "<script");
	assert_lacks(out, "javascript:alert(1)\"");
	assert_has(out, "href=\"#\"");
	assert_has(out, "&lt;script&gt;alert(1)&lt;/script&gt;\\r\\nBcc:");
	assert_has(out, "default-src 'none'");
	assert_lacks(out, "nan");
	assert_lacks(out, "inf\"");
	assert_has(out, "CONFIG_X=&quot;&lt;&amp;&gt;&quot;");
}

static void code_is_said(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	struct report_functions *f = &report.facts.functions;
	AUTO_STR known = str_new(), hot = str_new(), suspect = str_new(), none = str_new();
	AUTO_STR page = str_new();

	fill(&report, 0.1162, 1.75);
	f->reason = xstrdup("no digests");
	write_format("text", &report, &none);
	assert_has(none, "code:         not compared: no digests\n");
	f->known = true;
	f->differ = 12;
	strs_split(&f->names, "a b c d e f g h i j", " ");
	write_format("text", &report, &known);
	assert_has(known,
		   "code:         12 functions differ from the parent's: a, b, c, d, e, f, g, h,");
	assert_has(known, "and 4 more; which of them");
	f->hot = 30;
	f->hot_differ = 2;
	write_format("text", &report, &hot);
	assert_has(hot, "the first 2 of these are among the");
	assert_lacks(hot, "LAYOUT");
	f->hot_differ = 0;
	f->suspect = true;
	write_format("text", &report, &suspect);
	assert_has(suspect, "code:         LAYOUT SUSPECT:");
	write_format("html", &report, &page);
	check_markup(page.s);
	assert_has(page, "<p class=\"note\">LAYOUT SUSPECT");
}

static void page_survives_empty_lists(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	struct report_facts *facts = &report.facts;
	AUTO_STR out = str_new();
	AUTO_STR text = str_new();
	size_t series;

	fill(&report, 0.1162, 1.75);
	series = facts->n_series;
	facts->n_series = facts->n_boots = facts->n_hypotheses = facts->locks.n = 0;
	report.primary = NULL;
	report.contention_only = false;
	report.cost = NULL;
	write_format("html", &report, &out);
	check_markup(out.s);
	assert_lacks(out, "nan");
	write_format("text", &report, &text);
	facts->n_series = series;
	facts->n_boots = facts->n_hypotheses = 7;
	facts->locks.n = 3;
}

static void json_parses_back(void **state _unused)
{
	CLEANUP(report_release) struct report report = {0};
	AUTO_STR out = str_new();
	AUTO_JSON *json = NULL;
	json_t *series, *culprit;
	struct err err = {0};
	const char *subject;

	fill(&report, 0.1162, 1.75);
	write_format("json", &report, &out);
	assert_true(js_parse(out.s, out.len, &json, &err));
	assert_true(js_get_array(json, "series", &series, &err));
	assert_int_equal(json_array_size(series), 5);
	assert_true(js_get_object(json, "culprit", &culprit, &err));
	assert_true(js_get_str(culprit, "subject", &subject, &err));
	assert_string_equal(subject, HOSTILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_it),
		cmocka_unit_test(title_is_one_line),
		cmocka_unit_test(contention_only_is_said),
		cmocka_unit_test(direction_turns_the_sign),
		cmocka_unit_test(page_is_inert_and_well_formed),
		cmocka_unit_test(code_is_said),
		cmocka_unit_test(page_survives_empty_lists),
		cmocka_unit_test(json_parses_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
