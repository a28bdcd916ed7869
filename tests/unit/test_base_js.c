// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON in and out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/js.h"

static json_t *parsed(const char *text)
{
	json_t *json = NULL;
	struct err err;

	assert_true(js_parse(text, strlen(text), &json, &err));
	return json;
}

static void refuses(const char *text)
{
	json_t *json = NULL;
	struct err err;

	assert_false(js_parse(text, strlen(text), &json, &err));
	assert_null(json);
	assert_non_null(strstr(err.msg, "JSON line "));
}

static void test_refusals(void **state _unused)
{
	AUTO_STR deep = str_new();

	refuses("");
	refuses("{\"a\":NaN}");
	refuses("{\"a\":Infinity}");
	refuses("{\"a\":1,\"a\":2}");
	refuses("{\"a\":1} x");
	refuses("{\"a\":\"\\u0000\"}");
	refuses("{\"a\":\"\xff\"}");
	refuses("{\"a\":99999999999999999999}");
	refuses("{\"a\":1e999}");
	for (int i = 0; i < 100000; i++)
		str_addc(&deep, '[');
	refuses(deep.s);
}

static void test_text_is_canonical(void **state _unused)
{
	AUTO_JSON *a = parsed("{\"b\": 1, \"a\": [1.5, null, true]}");
	AUTO_JSON *b = parsed("{\"a\":[1.5,null,true],\"b\":1}");
	AUTO_FREE char *one = js_text(a);
	AUTO_FREE char *two = js_text(b);
	AUTO_FREE char *pretty = js_pretty(a);

	assert_string_equal(one, "{\"a\":[1.5,null,true],\"b\":1}");
	assert_string_equal(one, two);
	assert_int_equal(pretty[strlen(pretty) - 1], '\n');
}

static void test_reals_survive(void **state _unused)
{
	const double values[] = {0.1, 1.0 / 3, 1e-300, 123456789012345.678, 2};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		AUTO_JSON *json = json_object();
		AUTO_FREE char *text = NULL;
		AUTO_JSON *again = NULL;
		struct err err;
		double back;

		js_set_f64(json, "x", values[i]);
		text = js_text(json);
		again = parsed(text);
		assert_true(js_get_f64(again, "x", &back, &err));
		assert_memory_equal(&back, &values[i], sizeof(back));
	}
}

static void test_getters(void **state _unused)
{
	AUTO_JSON *json = parsed("{\"s\":\"x\",\"i\":7,\"f\":1.5,\"b\":true,\"a\":[],\"o\":{}}");
	struct err err;
	const char *s;
	int64_t i = 0;
	double f;
	bool b;
	json_t *j;

	assert_true(js_get_str(json, "s", &s, &err) && js_get_i64(json, "i", &i, &err) &&
		    js_get_f64(json, "f", &f, &err) && js_get_bool(json, "b", &b, &err) &&
		    js_get_array(json, "a", &j, &err) && js_get_object(json, "o", &j, &err));
	assert_int_equal(i, 7);
	assert_true(js_get_f64(json, "i", &f, &err));
	assert_false(js_get_i64(json, "f", &i, &err));
	assert_string_equal(err.msg, "JSON key \"f\" should be an integer, not a number");
	assert_false(js_get_str(json, "none", &s, &err));
	assert_string_equal(err.msg, "JSON key \"none\" is missing");
	assert_int_equal(js_i64_or(json, "s", 3), 3);
	assert_string_equal(js_str_or(json, "none", "d"), "d");
	assert_true(js_bool_or(json, "b", false));
	assert_int_equal((int)js_f64_or(json, "i", 0), 7);
}

static void test_setters_survive_anything(void **state _unused)
{
	AUTO_JSON *json = json_object();
	AUTO_FREE char *text = NULL;

	js_set_str(json, "bad", "a\xff");
	js_set_str(json, "null", NULL);
	js_set_f64(json, "nan", (double)NAN);
	js_set_i64(json, "i", INT64_MIN);
	js_set_bool(json, "t", true);
	text = js_text(json);
	assert_string_equal(text, "{\"bad\":\"a\xef\xbf\xbd\",\"i\":-9223372036854775808,"
				  "\"nan\":null,\"null\":null,\"t\":true}");
}

static void test_load(void **state _unused)
{
	AUTO_JSON *json = NULL;
	struct err err;

	assert_false(js_load("/nonexistent.json", &json, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(js_load("/proc/self/comm", &json, &err));
	assert_true(str_starts(err.msg, "/proc/self/comm: JSON line 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_text_is_canonical),
		cmocka_unit_test(test_reals_survive),
		cmocka_unit_test(test_getters),
		cmocka_unit_test(test_setters_survive_anything),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
