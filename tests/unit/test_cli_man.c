// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages against tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/repo.h"
#include "cli/sample.h"
#include "db/settings.h"

/* Tests run in the root of the source tree. */
#define PAGE "docs/man/mmperf.conf.5"

static char *read_page(void)
{
	AUTO_STR text = str_new();
	struct err err;

	if (!fs_read(PAGE, 1 << 20, &text, &err))
		fail_msg("%s", err.msg);
	return str_take(&text);
}

static char *entry_of(const struct conf_key *key)
{
	return xasprintf("\n.It Va %s.%s%s\n", key->section, key->named ? "NAME." : "", key->key);
}

static void every_key_has_its_entry(void **state _unused)
{
	AUTO_FREE char *page = read_page();
	size_t n = 0;

	for (const struct conf_key *key = settings_keys; key->section; key++, n++) {
		AUTO_FREE char *entry = entry_of(key), *shown = NULL;
		const char *at = strstr(page, entry), *next;

		if (!at)
			fail_msg("%s has no entry %s", PAGE, entry);
		if (!key->fallback || !*key->fallback)
			continue;
		next = strstr(at + 1, "\n.It Va ");
		shown = xasprintf(".Li %s .", key->fallback);
		at = strstr(at, strchr(key->fallback, ' ') ? key->fallback : shown);
		if (!at || (next && at > next))
			fail_msg("%s: %s.%s: the default is %s", PAGE, key->section, key->key,
				 key->fallback);
	}
	assert_true(n > 40);
}

static void every_entry_is_a_key(void **state _unused)
{
	AUTO_FREE char *page = read_page();
	size_t entries = 0, keys = 0;

	for (const char *at = page; (at = strstr(at, "\n.It Va ")); at++)
		entries++;
	for (const struct conf_key *key = settings_keys; key->section; key++)
		keys++;
	assert_int_equal(entries, keys);
}

static void load(const char *text, struct conf **conf)
{
	char path[] = "/tmp/mmperf-sample.XXXXXX";
	int fd = mkstemp(path);
	struct err err = {0};
	bool ok;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ok = conf_load(path, settings_keys, conf, &err);
	unlink(path);
	if (!ok)
		fail_msg("%s", err.msg);
}

static void a_sample_loads_and_says_what_was_set(void **state _unused)
{
	const struct sample_line lines[] = {
		{"machine", "m1", "class", "a # b \"c\" \\ d"},
		{"machine", "m1", "driver", "qemu"},
		{"machine", "m2", "class", " led"},
		{"machine", "m2", "driver", "fake"},
		{"mail", NULL, "to", "one@example.org"},
		{"mail", NULL, "to", "two@example.org"},
		{0},
	};
	AUTO_STR text = str_new();
	CLEANUP(conf_free_ptr) struct conf *conf = NULL;

	sample_write(settings_keys, lines, &text);
	load(text.s, &conf);
	assert_string_equal(conf_str(conf, "machine", "m1", "class"), "a # b \"c\" \\ d");
	assert_string_equal(conf_str(conf, "machine", "m2", "class"), " led");
	assert_int_equal(conf_list(conf, "mail", NULL, "to")->n, 2);
	assert_int_equal(conf_i64(conf, "bisect", NULL, "budget"), 80);
	assert_false(conf_has(conf, "tree", "m1"));
}

/* Uncommenting every line of a default must load too: the file shows them to be used. */
static void shown_defaults_are_the_defaults(void **state _unused)
{
	const struct sample_line lines[] = {
		{"machine", "m", "class", "c"},
		{"machine", "m", "driver", "fake"},
		{0},
	};
	AUTO_STR text = str_new(), all = str_new();
	CLEANUP(conf_free_ptr) struct conf *conf = NULL;

	sample_write(settings_keys, lines, &text);
	for (const char *s = text.s; *s; s++)
		if (*s != ';' || strncmp(strchr(s, '='), "=\n", 2) == 0)
			str_addc(&all, *s);
	load(all.s, &conf);
	assert_int_equal(conf_i64(conf, "machine", "m", "cpus"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_its_entry),
		cmocka_unit_test(every_entry_is_a_key),
		cmocka_unit_test(a_sample_loads_and_says_what_was_set),
		cmocka_unit_test(shown_defaults_are_the_defaults),
	};

	repo_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
