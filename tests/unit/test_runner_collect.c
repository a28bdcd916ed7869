// SPDX-License-Identifier: GPL-2.0-or-later
/* Agent lines, good and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/collect.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define UUID  "6f1c2f6e-9f0a-4d6e-8f5e-0123456789ab"

#define HELLO                                                                     \
	"{\"type\":\"hello\",\"v\":1,\"nonce\":\"" NONCE "\",\"boot_id\":\"" UUID \
	"\",\"build_id\":\"abcd\"}\n"
#define ENVIRONMENT "{\"type\":\"environment\",\"facts\":{\"b\":1,\"a\":2}}\n"
#define RUN                                                                                  \
	"{\"type\":\"run\",\"seq\":0,\"suite\":\"s\",\"benchmark\":\"fault\",\"version\":3," \
	"\"params\":{\"size\":\"16M\",\"a\":\"b\"},\"pass\":\"clean\"}\n"
#define METRIC                                                                                \
	"{\"type\":\"metric\",\"seq\":0,\"name\":\"fault_ns\",\"unit\":\"ns\",\"direction\":" \
	"\"lower\","                                                                          \
	"\"floor\":1,\"primary\":true,\"values\":[1,2.5,3]}\n"
#define RUN_END                                                                              \
	"{\"type\":\"run_end\",\"seq\":0,\"outcome\":\"ok\",\"operations\":5,\"threads\":4," \
	"\"seconds\":1.5}\n"
#define END                                                             \
	"{\"type\":\"end\",\"nonce\":\"" NONCE "\",\"boot_id\":\"" UUID \
	"\",\"clocksource_changed\":false}\n"

static bool feed(struct collect *c, const char *text, struct err *err)
{
	return collect_feed(c, text, strlen(text), err);
}

static void test_whole_stream(void **state _unused)
{
	static const char stream[] = HELLO ENVIRONMENT
		"{\"type\":\"state\",\"facts\":{}}\n" RUN METRIC
		"{\"type\":\"missing\",\"seq\":0,\"name\":\"cycles\",\"reason\":\"no PMU\"}\n"
		"{\"type\":\"counter\",\"seq\":0,\"name\":\"pgfault\",\"value\":12}\n"
		"{\"type\":\"histogram\",\"seq\":0,\"name\":\"lat\",\"unit\":\"ns\",\"buckets\":[0,"
		"1]}\n"
		"{\"type\":\"lock\",\"seq\":0,\"class\":\"lruvec\",\"site\":\"release_pages+0x1\","
		"\"count\":2,\"wait_ns\":3,\"max_ns\":2,\"hist\":[1,1]}\n"
		"{\"type\":\"lock_health\",\"seq\":0,\"measurable\":true,\"reason\":null,"
		"\"begins\":2,"
		"\"ends\":2,\"lost\":0,\"stack_failures\":0,\"map_full\":0,\"recursion_misses\":0}"
		"\n" RUN_END "{\"type\":\"log\",\"text\":\"hi\"}\n" END;
	CLEANUP(collect_free_ptr) struct collect *c = collect_new(NONCE);
	const struct result *r;
	struct err err;

	/* Byte by byte: pieces may break anywhere. */
	for (size_t i = 0; i < sizeof(stream) - 1; i++)
		assert_true(collect_feed(c, stream + i, 1, &err));
	assert_true(collect_greeted(c));
	assert_true(collect_ended(c));
	assert_string_equal(collect_build_id(c), "abcd");
	assert_string_equal(collect_last_log(c), "hi");
	r = collect_result(c);
	assert_string_equal(r->environment, "{\"a\":2,\"b\":1}");
	assert_int_equal(r->runs.n, 1);
	assert_string_equal(r->runs.v[0].params, "{\"a\":\"b\",\"size\":\"16M\"}");
	assert_int_equal(r->runs.v[0].metrics.v[0].n, 3);
	assert_true(r->runs.v[0].metrics.v[0].values[1] == 2.5);
	assert_int_equal(r->runs.v[0].counters.n, 2);
	assert_string_equal(r->runs.v[0].counters.v[0].reason, "no PMU");
	assert_int_equal(r->runs.v[0].locks.v[0].hist[1], 1);
	assert_true(r->runs.v[0].health.measurable);
	assert_int_equal(r->runs.v[0].operations, 5);
}

static void test_unfinished_run_is_dropped(void **state _unused)
{
	CLEANUP(collect_free_ptr) struct collect *c = collect_new(NONCE);
	struct err err;

	assert_true(feed(c, HELLO ENVIRONMENT RUN METRIC RUN_END, &err));
	assert_true(feed(c,
			 "{\"type\":\"run\",\"seq\":1,\"benchmark\":\"fault\",\"version\":3,"
			 "\"params\":{},\"pass\":\"clean\"}\n",
			 &err));
	assert_false(collect_ended(c));
	assert_int_equal(collect_result(c)->runs.n, 1);
}

/* after: lines that are fine; bad: the one that is not; why: part of the message. */
static const struct {
	const char *after, *bad, *why;
} hostile[] = {
	{"", "nonsense\n", "agent line"},
	{"", "[]\n", "agent line"},
	{"", ENVIRONMENT, "before the hello"},
	{"", "{\"type\":\"hello\",\"v\":2,\"nonce\":\"" NONCE "\"}\n", "version"},
	{"", "{\"type\":\"hello\",\"v\":1,\"nonce\":\"other\"}\n", "another job"},
	{"",
	 "{\"type\":\"hello\",\"v\":1,\"nonce\":\"" NONCE
	 "\",\"boot_id\":\"'; drop\",\"build_id\":\"\"}\n",
	 "malformed"},
	{HELLO, HELLO, "second hello"},
	{HELLO, RUN, "before the environment"},
	{HELLO, "{\"type\":\"surprise\"}\n", "unknown type"},
	{HELLO ENVIRONMENT, METRIC, "no run"},
	{HELLO ENVIRONMENT, RUN_END, "no run"},
	{HELLO ENVIRONMENT RUN, RUN, "inside another"},
	{HELLO ENVIRONMENT RUN, END, "inside a run"},
	{HELLO ENVIRONMENT RUN METRIC METRIC, RUN_END, "twice"},
	{HELLO ENVIRONMENT RUN,
	 "{\"type\":\"metric\",\"seq\":0,\"name\":\"A "
	 "b\",\"unit\":\"ns\",\"direction\":\"lower\",\"values\":[1]}\n",
	 "no name"},
	{HELLO ENVIRONMENT RUN,
	 "{\"type\":\"metric\",\"seq\":0,\"name\":\"a\",\"unit\":\"ms\",\"direction\":\"lower\","
	 "\"values\":[1]}\n",
	 "unknown value"},
	{HELLO ENVIRONMENT RUN,
	 "{\"type\":\"metric\",\"seq\":0,\"name\":\"a\",\"unit\":\"ns\",\"direction\":\"lower\","
	 "\"values\":[]}\n",
	 "empty"},
	{HELLO ENVIRONMENT RUN,
	 "{\"type\":\"metric\",\"seq\":0,\"name\":\"a\",\"unit\":\"ns\",\"direction\":\"lower\","
	 "\"values\":[\"1\"]}\n",
	 "no number"},
	{HELLO ENVIRONMENT RUN,
	 "{\"type\":\"lock\",\"seq\":0,\"class\":\"a\",\"site\":\"b\",\"count\":-1,\"wait_ns\":0,"
	 "\"max_ns\":0,"
	 "\"hist\":[]}\n",
	 "negative"},
	{HELLO ENVIRONMENT RUN METRIC RUN_END,
	 "{\"type\":\"end\",\"nonce\":\"" NONCE
	 "\",\"boot_id\":\"other\",\"clocksource_changed\":false}\n",
	 "anew"},
	{HELLO ENVIRONMENT RUN METRIC RUN_END END, END, "after the end"},
};

static void test_hostile(void **state _unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		CLEANUP(collect_free_ptr) struct collect *c = collect_new(NONCE);
		struct err err = {0};

		assert_true(feed(c, hostile[i].after, &err));
		assert_false(feed(c, hostile[i].bad, &err));
		if (!strstr(err.msg, hostile[i].why))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.msg,
				 hostile[i].why);
		/* The error stays. */
		assert_false(feed(c, END, &err));
		assert_non_null(strstr(err.msg, hostile[i].why));
		collect_result(c);
	}
}

static void test_quotes_are_plain(void **state _unused)
{
	CLEANUP(collect_free_ptr) struct collect *c = collect_new(NONCE);
	struct err err;

	assert_false(feed(c, "\x1b[31m\xff evil\n", &err));
	assert_null(strchr(err.msg, '\x1b'));
	assert_non_null(strstr(err.msg, "evil"));
}

static void test_endless_line(void **state _unused)
{
	CLEANUP(collect_free_ptr) struct collect *c = collect_new(NONCE);
	AUTO_FREE char *block = xcalloc(1 << 20, 1);
	struct err err;
	int fed = 0;

	memset(block, 'x', 1 << 20);
	while (collect_feed(c, block, 1 << 20, &err))
		assert_true(++fed < 10);
	assert_non_null(strstr(err.msg, "longer"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_stream),
		cmocka_unit_test(test_unfinished_run_is_dropped),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_quotes_are_plain),
		cmocka_unit_test(test_endless_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
