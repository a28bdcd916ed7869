// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and directories. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "tests/unit/scratch.h"

static char *at(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
	AUTO_FREE char *path = at(name);
	struct err err;

	assert_true(fs_write_atomic(path, text, strlen(text), 0640, &err));
}

static void file_is(const char *name, const char *want)
{
	AUTO_FREE char *path = at(name);
	AUTO_STR text = str_new();
	struct err err;

	assert_true(fs_read(path, 1 << 20, &text, &err));
	assert_string_equal(text.s, want);
}

static void test_write_and_read(void **state _unused)
{
	AUTO_FREE char *path = at("file");
	struct stat st;

	write_file("file", "one");
	write_file("file", "two");
	file_is("file", "two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void test_read_limits(void **state _unused)
{
	AUTO_FREE char *path = at("limit");
	AUTO_STR out = str_new();
	struct err err;

	write_file("limit", "12345");
	str_add(&out, "before");
	assert_false(fs_read(path, 4, &out, &err));
	assert_string_equal(out.s, "before");
	assert_true(fs_read(path, 5, &out, &err));
	assert_string_equal(out.s, "before12345");
	assert_false(fs_read("/nonexistent/x", 5, &out, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(fs_read(dir, 5, &out, &err));
}

static void test_write_failure_leaves_nothing(void **state _unused)
{
	AUTO_FREE char *path = at("no/such/dir");
	struct err err;

	assert_false(fs_write_atomic(path, "x", 1, 0644, &err));
	assert_non_null(strstr(err.msg, "no/such"));
}

static void test_copy(void **state _unused)
{
	AUTO_FREE char *from = at("from");
	AUTO_FREE char *to = at("to");
	struct err err;

	write_file("from", "content");
	assert_true(fs_copy(from, to, 0600, &err));
	file_is("to", "content");
	assert_false(fs_copy("/nonexistent", to, 0600, &err));
	file_is("to", "content");
}

static void test_poke(void **state _unused)
{
	AUTO_FREE char *path = at("poked");
	struct err err;

	write_file("poked", "");
	assert_true(fs_poke(path, "1", &err));
	file_is("poked", "1");
	assert_false(fs_poke("/proc/self/oom_score_adj", "nonsense", &err));
	assert_non_null(strstr(err.msg, "Invalid argument"));
}

static void test_mkdirs(void **state _unused)
{
	AUTO_FREE char *deep = at("a/b//c/");
	AUTO_FREE char *below_file = at("plain/x");
	struct err err;

	assert_true(fs_mkdirs(deep, 0755, &err));
	assert_true(fs_mkdirs(deep, 0755, &err));
	assert_true(fs_exists(deep));
	write_file("plain", "x");
	assert_false(fs_mkdirs(below_file, 0755, &err));
}

static void test_remove_tree_stays_inside(void **state _unused)
{
	AUTO_FREE char *victim = at("victim");
	AUTO_FREE char *tree = at("tree");
	AUTO_FREE char *sub = at("tree/sub");
	AUTO_FREE char *link = at("tree/sub/link");
	struct err err;

	assert_true(fs_mkdirs(victim, 0755, &err));
	write_file("victim/kept", "kept");
	assert_true(fs_mkdirs(sub, 0755, &err));
	assert_int_equal(symlink(victim, link), 0);
	write_file("tree/sub/file", "x");
	assert_true(fs_remove_tree(tree, &err));
	assert_false(fs_exists(tree));
	file_is("victim/kept", "kept");
	assert_true(fs_remove_tree(tree, &err));
}

static void test_empty_dir(void **state _unused)
{
	AUTO_FREE char *full = at("full/sub");
	AUTO_FREE char *top = at("full");
	struct err err;

	assert_true(fs_mkdirs(full, 0755, &err));
	write_file("full/file", "x");
	assert_true(fs_empty_dir(top, &err));
	assert_int_equal(rmdir(top), 0);
}

static void make_old(const char *path)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_sweep_takes_old_files_only(void **state _unused)
{
	AUTO_FREE char *swept = at("swept"), *old = at("swept/.new.1"), *young = at("swept/.new.2");
	AUTO_FREE char *other = at("swept/kept"), *below = at("swept/.new.dir");
	struct err err;

	assert_true(fs_mkdirs(below, 0755, &err));
	write_file("swept/.new.1", "x");
	write_file("swept/.new.2", "x");
	write_file("swept/kept", "x");
	make_old(old);
	make_old(other);
	make_old(below);
	fs_sweep(swept, ".new.", 3600);
	assert_false(fs_exists(old));
	assert_true(fs_exists(young) && fs_exists(other) && fs_exists(below));
	fs_sweep(young, "", 0);
	assert_true(fs_exists(young));
}

static void test_free_bytes(void **state _unused)
{
	assert_true(fs_free_bytes(dir) > 0);
	assert_int_equal(fs_free_bytes("/nonexistent"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_read_limits),
		cmocka_unit_test(test_write_failure_leaves_nothing),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_poke),
		cmocka_unit_test(test_mkdirs),
		cmocka_unit_test(test_remove_tree_stays_inside),
		cmocka_unit_test(test_empty_dir),
		cmocka_unit_test(test_sweep_takes_old_files_only),
		cmocka_unit_test(test_free_bytes),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
