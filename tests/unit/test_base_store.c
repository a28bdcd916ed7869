// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256 and the artifact store. */
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
#include "base/store.h"
#include "tests/unit/scratch.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* FIPS 180-4 examples. */
static void test_vectors(void **state _unused)
{
	static const char *const cases[][2] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", ABC},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		 "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	};
	char hex[HASH_HEX_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		hash_of(cases[i][0], strlen(cases[i][0]), hex);
		assert_string_equal(hex, cases[i][1]);
	}
}

static void test_pieces(void **state _unused)
{
	struct hash *hash = hash_new();
	char hex[HASH_HEX_SIZE], piece[1000];
	size_t left = 1000000, n = 1;

	memset(piece, 'a', sizeof(piece));
	while (left) {
		n = n * 7 % 997;
		if (n > left)
			n = left;
		hash_add(hash, piece, n);
		left -= n;
	}
	hash_finish(hash, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static struct store *opened(void)
{
	struct store *store = NULL;
	struct err err;

	assert_true(store_open(dir, &store, &err));
	return store;
}

static void test_put_and_get(void **state _unused)
{
	CLEANUP(store_free_ptr) struct store *store = opened();
	AUTO_FREE char *path = NULL;
	AUTO_STR text = str_new();
	char hex[HASH_HEX_SIZE];
	struct err err;
	struct stat st;

	assert_true(store_put(store, "abc", 3, hex, &err));
	assert_string_equal(hex, ABC);
	assert_true(store_put(store, "abc", 3, hex, &err));
	assert_true(store_get(store, hex, &path, &err));
	assert_true(fs_read(path, 100, &text, &err));
	assert_string_equal(text.s, "abc");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444);
}

static void test_put_file(void **state _unused)
{
	CLEANUP(store_free_ptr) struct store *store = opened();
	AUTO_FREE char *source = xasprintf("%s/source", dir);
	char hex[HASH_HEX_SIZE], direct[HASH_HEX_SIZE];
	AUTO_FREE char *big = xmalloc(300000);
	int64_t size = 0;
	struct err err;

	memset(big, 'x', 300000);
	assert_true(fs_write_atomic(source, big, 300000, 0644, &err));
	assert_true(store_put_file(store, source, hex, &size, &err));
	assert_int_equal(size, 300000);
	assert_true(hash_file(source, direct, &err));
	assert_string_equal(hex, direct);
	assert_false(store_put_file(store, "/nonexistent", hex, &size, &err));
}

static void test_damage_is_replaced(void **state _unused)
{
	CLEANUP(store_free_ptr) struct store *store = opened();
	AUTO_FREE char *path = NULL;
	AUTO_STR text = str_new();
	char hex[HASH_HEX_SIZE];
	struct err err;

	assert_true(store_put(store, "precious", 8, hex, &err));
	assert_true(store_get(store, hex, &path, &err));
	assert_true(fs_write_atomic(path, "damaged!", 8, 0444, &err));
	assert_true(store_put(store, "precious", 8, hex, &err));
	assert_true(fs_read(path, 100, &text, &err));
	assert_string_equal(text.s, "precious");
}

static void test_bad_names(void **state _unused)
{
	CLEANUP(store_free_ptr) struct store *store = opened();
	char absent[HASH_HEX_SIZE];
	char *path = NULL;
	struct err err;

	memset(absent, '0', 64);
	absent[64] = '\0';
	assert_false(store_get(store, absent, &path, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(store_get(store, "../../etc/passwd", &path, &err));
	assert_null(path);
}

static void test_nothing_is_left_over(void **state _unused)
{
	AUTO_FREE char *incoming = xasprintf("%s/incoming", dir);

	assert_int_equal(rmdir(incoming), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_put_and_get),
		cmocka_unit_test(test_put_file),
		cmocka_unit_test(test_damage_is_replaced),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_nothing_is_left_over),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
