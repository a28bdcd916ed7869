// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/conf.h"
#include "base/fs.h"
#include "base/repo.h"

static const struct conf_key keys[] = {
	{"database", false, "url", CONF_STRING, "postgresql:///mmperf", "where it is",
	 CONF_OPTIONAL},
	{"mail", false, "password-file", CONF_STRING, NULL, "a file of mode 0600", CONF_OPTIONAL},
	{"mail", false, "starttls", CONF_BOOL, "true", "encrypt", CONF_OPTIONAL},
	{"mail", false, "ratio", CONF_FLOAT, "0.5", "a ratio", CONF_WITHIN(0, 1)},
	{"store", false, "keep", CONF_BYTES, "16M", "how much to keep", CONF_OPTIONAL},
	{"tree", true, "url", CONF_STRING, NULL, "the repository to follow", CONF_REQUIRED},
	{"tree", true, "branch", CONF_LIST, "master next", "branches to follow", CONF_OPTIONAL},
	{"tree", true, "poll", CONF_SECONDS, "15m", "how often to look", CONF_OPTIONAL},
	{"tree", true, "depth", CONF_INT, "100", "how far to look", CONF_WITHIN(1, 5000)},
	{0},
};

static char path[] = "/tmp/mmperf-test-conf-XXXXXX";

static bool load(const char *text, struct conf **conf, struct err *err)
{
	assert_true(fs_write_atomic(path, text, strlen(text), 0644, err));
	return conf_load(path, keys, conf, err);
}

static struct conf *loaded(const char *text)
{
	struct conf *conf = NULL;
	struct err err;

	if (!load(text, &conf, &err))
		fail_msg("%s", err.msg);
	return conf;
}

/* message: what stands behind the name of the file. */
static void refuses(const char *text, const char *message)
{
	struct conf *conf = NULL;
	struct err err;

	assert_false(load(text, &conf, &err));
	assert_null(conf);
	assert_true(str_starts(err.msg, path));
	assert_string_equal(err.msg + strlen(path), message);
	assert_int_equal(err_exit_status(&err), 2);
}

static void test_defaults(void **state _unused)
{
	CLEANUP(conf_free_ptr) struct conf *conf = NULL;
	struct err err;

	assert_true(conf_load(NULL, keys, &conf, &err));
	assert_null(conf_path(conf));
	assert_string_equal(conf_str(conf, "database", NULL, "url"), "postgresql:///mmperf");
	assert_null(conf_str(conf, "mail", NULL, "password-file"));
	assert_true(conf_bool(conf, "mail", NULL, "starttls"));
	assert_int_equal(conf_i64(conf, "store", NULL, "keep"), 16 << 20);
	assert_int_equal((int)conf_f64(conf, "tree", "x", "poll"), 900);
	assert_int_equal(conf_list(conf, "tree", "x", "branch")->n, 2);
	assert_int_equal(conf_names(conf, "tree")->n, 0);
	assert_false(conf_has(conf, "mail", NULL));
}

static void test_values(void **state _unused)
{
	CLEANUP(conf_free_ptr)
	struct conf *conf = loaded("# comment\n"
				   "[Mail]\n\tStartTLS = no ; comment\n"
				   "\tpassword-file = \"/etc/a # b\"\n"
				   "[tree \"mm.unstable \\\"x\\\"\"]\n"
				   "\turl = https://example.org/mm \\\n   .git\n"
				   "\tbranch = one\n\tbranch = two\n\tpoll = 90s\n\tdepth = 7\n"
				   "[tree \"other\"] url = x\n"
				   "[store]\nkeep = 2G\n");
	const char *name = "mm.unstable \"x\"";

	assert_false(conf_bool(conf, "mail", NULL, "starttls"));
	assert_string_equal(conf_str(conf, "mail", NULL, "password-file"), "/etc/a # b");
	assert_int_equal(conf_names(conf, "tree")->n, 2);
	assert_string_equal(conf_names(conf, "tree")->v[0], name);
	assert_true(str_starts(conf_str(conf, "tree", name, "url"), "https://example.org/mm "));
	assert_string_equal(conf_list(conf, "tree", name, "branch")->v[1], "two");
	assert_int_equal((int)conf_f64(conf, "tree", name, "poll"), 90);
	assert_int_equal(conf_i64(conf, "tree", name, "depth"), 7);
	assert_string_equal(conf_str(conf, "tree", "other", "url"), "x");
	assert_int_equal(conf_i64(conf, "store", NULL, "keep"), 2LL << 30);
	assert_true(conf_has(conf, "mail", NULL));
	assert_true(conf_has(conf, "tree", "other"));
	assert_false(conf_has(conf, "tree", "third"));
}

static void test_bare_key_is_true(void **state _unused)
{
	CLEANUP(conf_free_ptr) struct conf *conf = loaded("[mail]\nstarttls\n");

	assert_true(conf_bool(conf, "mail", NULL, "starttls"));
	refuses("[mail]\n\npassword-file\n", ":3: \"password-file\" has no value");
}

static void test_unknown_things(void **state _unused)
{
	refuses("[mail]\n\n passwordfile = x\n",
		":3: unknown key \"passwordfile\" in [mail]; did you mean \"password-file\"?");
	refuses("[mail]\nbranch = x\n",
		":2: unknown key \"branch\" in [mail]; it belongs in [tree \"NAME\"]");
	refuses("[mail]\nxyzzy-plugh = x\n", ":2: unknown key \"xyzzy-plugh\" in [mail]");
	refuses("\n[treee \"a\"]\n",
		":2: unknown section [treee \"a\"]; did you mean [tree \"NAME\"]?");
	refuses("[xyzzy]\n", ":1: unknown section [xyzzy]");
	refuses("[tree]\nurl = x\n", ":1: [tree] needs a name: [tree \"NAME\"]");
	refuses("[mail \"x\"]\n", ":1: [mail \"x\"]: write [mail] without a name");
	refuses("url = x\n", ":1: \"url\" stands before the first [section]");
}

static void test_wrong_types(void **state _unused)
{
	refuses("[mail]\nstarttls = perhaps\n",
		":2: \"starttls\" is \"perhaps\", which is not true or false");
	refuses("[mail]\nratio = half\n", ":2: \"ratio\" is \"half\", which is not a number");
	refuses("[store]\nkeep = lots\n",
		":2: \"keep\" is \"lots\", which is not a size such as 64K, 16M or 2G");
	refuses("[tree \"a\"]\nurl = x\ndepth = 1.5\n",
		":3: \"depth\" is \"1.5\", which is not a whole number");
	refuses("[tree \"a\"]\nurl = x\npoll = often\n",
		":3: \"poll\" is \"often\", which is not a time such as 90s, 15m or 2h");
}

static void test_limits(void **state _unused)
{
	struct conf *conf = loaded("[mail]\nratio = 1\n[tree \"a\"]\nurl = x\ndepth = 5000\n");

	conf_free(conf);
	refuses("[mail]\nratio = 1.01\n",
		":2: \"ratio\" is \"1.01\", which is not between 0 and 1");
	refuses("[tree \"a\"]\nurl = x\ndepth = 0\n",
		":3: \"depth\" is \"0\", which is not between 1 and 5000");
}

static void test_twice_and_missing(void **state _unused)
{
	refuses("[mail]\nratio = 1\n[mail]\nratio = 0\n",
		":4: \"ratio\" is set twice; the first time in line 2");
	refuses("[mail]\n[tree \"a\"]\npoll = 1s\n",
		":2: [tree \"a\"] needs \"url\": the repository to follow");
	refuses("[tree \"a\"]\nurl = 1\n[tree \"empty\"]\n",
		":3: [tree \"empty\"] needs \"url\": the repository to follow");
}

static void test_syntax(void **state _unused)
{
	refuses("[mail]\n[mail\n", ":2: not git-config syntax: missing ']' in section header");
}

static void test_line_after_continuation(void **state _unused)
{
	refuses("[mail]\npassword-file = a \\\n b \"; \\\" \\\n\" c\nratio = x\n",
		":5: \"ratio\" is \"x\", which is not a number");
}

static void test_absent_file(void **state _unused)
{
	struct conf *conf = NULL;
	struct err err;

	assert_false(conf_load("/nonexistent/mmperf.conf", keys, &conf, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "/nonexistent/mmperf.conf"));
}

static int make_file(void **state _unused)
{
	int fd = mkstemp(path);

	repo_init();
	return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state _unused)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bare_key_is_true),
		cmocka_unit_test(test_unknown_things),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_twice_and_missing),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_line_after_continuation),
		cmocka_unit_test(test_absent_file),
	};

	return cmocka_run_group_tests(tests, make_file, drop_file);
}
