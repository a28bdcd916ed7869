// SPDX-License-Identifier: GPL-2.0-or-later
/* What two environments differ in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "db/environment.h"

static json_t *parse(const char *text)
{
	json_t *out;
	struct err err;

	assert_true(js_parse(text, strlen(text), &out, &err));
	return out;
}

static void differences_are_named(void **state)
{
	AUTO_JSON *a =
		parse("{\"cpu\": \"X\", \"cpus\": 8, \"knobs\": {\"k1\": \"0\", \"k2\": \"1\"},"
		      " \"node_distances\": [\"10 21\"], \"old\": true}");
	AUTO_JSON *b =
		parse("{\"cpu\": \"X\", \"cpus\": 4, \"knobs\": {\"k1\": \"0\", \"k2\": \"2\"},"
		      " \"node_distances\": [\"10\"], \"microcode\": \"0x2\"}");
	AUTO_JSON *found = environment_differences(a, b);
	AUTO_STR text = str_new(), cut = str_new();

	(void)state;
	environment_differences_text(found, 10, &text);
	assert_string_equal(text.s,
			    "cpus: 8 -> 4, knobs.k2: 1 -> 2, node_distances: [\"10 21\"] -> "
			    "[\"10\"], old: true -> -, microcode: - -> 0x2");
	environment_differences_text(found, 2, &cut);
	assert_string_equal(cut.s, "cpus: 8 -> 4, knobs.k2: 1 -> 2 and 3 more");
}

static void equal_ones_have_none(void **state)
{
	AUTO_JSON *a = parse("{\"a\": 1, \"knobs\": {\"x\": \"y\"}}");
	AUTO_JSON *found = environment_differences(a, a);

	(void)state;
	assert_int_equal(json_array_size(found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_named),
		cmocka_unit_test(equal_ones_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
