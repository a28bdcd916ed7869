// SPDX-License-Identifier: GPL-2.0-or-later
/* Patch ids against git's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/repo.h"

enum {
	FILES = 14,
	COMMITS = 400
};

/* In memory where possible: the history has many objects. */
static char dir[] = "/dev/shm/mmperf-test-patchid-XXXXXX";
static const char elsewhere[] = "/tmp/mmperf-test-patchid-XXXXXX";

/* One file of a history that is made up as it goes. */
struct file {
	const char *name;
	const char *mode; /* NULL = absent */
	struct str text;
};

struct history {
	uint32_t seed;
	FILE *out; /* git fast-import's input */
	struct file files[FILES];
};

static uint32_t roll(struct history *h, uint32_t sides)
{
	h->seed = h->seed * 1664525u + 1013904223u;
	return (h->seed >> 8) % sides;
}

/*
 * Few different lines, so that a diff has many ways to go and heuristics decide. No line begins
 * with a form feed: see repo_patch_id().
 */
static void add_line(struct history *h, struct str *text)
{
	static const char *const lines[] = {
		"}",
		"",
		"\treturn 0;",
		"static int f(void)",
		"{",
		"\tif (x) {",
		"\t\tg();",
		"\t}",
		" ",
		"a\fb",
		"a\tb  c\r",
		"-- x",
		"++ y",
		"@@ -1 +1 @@",
		"diff --git a/x b/x",
		"caf\xe9",
		"unit",
	};

	if (roll(h, 4))
		str_add(text, lines[roll(h, ARRAY_SIZE(lines))]);
	else
		str_addf(text, "\tx = %u;", roll(h, 50));
	str_addc(text, '\n');
}

static void fill(struct history *h, struct str *text)
{
	str_clear(text);
	for (uint32_t n = roll(h, 120); n; n--)
		add_line(h, text);
}

/* Drops, doubles and inserts lines; sometimes the last newline goes. */
static void edit(struct history *h, struct str *text)
{
	AUTO_STR old = str_new();
	char *rest, *line;

	str_add(&old, text->s);
	str_clear(text);
	rest = old.s;
	while ((line = strsep(&rest, "\n"))) {
		uint32_t what = roll(h, 60);

		if (!rest && !*line)
			break;
		if (what != 0)
			str_addf(text, "%s\n", line);
		if (what == 1)
			str_addf(text, "%s\n", line);
		if (what == 2)
			add_line(h, text);
		if (what == 3)
			str_addf(text, "%s%s \n", line, line);
	}
	if (!roll(h, 8) && text->len)
		text->s[--text->len] = '\0';
}

static void change(struct history *h, struct file *file)
{
	switch (file->mode ? roll(h, 16) : 15) {
	case 0:
		file->mode = NULL;
		return;
	case 1:
		file->mode = strcmp(file->mode, "100644") ? "100644" : "100755";
		return;
	case 2:
		str_clear(&file->text);
		file->mode = "100644";
		return;
	case 3:
		str_clear(&file->text);
		str_addf(&file->text, "bin%c%u", 0, roll(h, 100));
		return;
	case 4:
		str_clear(&file->text);
		str_addf(&file->text, "target%u", roll(h, 100));
		file->mode = "120000";
		return;
	case 15:
		file->mode = roll(h, 3) ? "100644" : "100755";
		fill(h, &file->text);
		return;
	default:
		if (!strcmp(file->mode, "120000") || strlen(file->text.s) != file->text.len)
			return;
		edit(h, &file->text);
	}
}

static void put(struct history *h, const struct file *file)
{
	if (!file->mode) {
		fprintf(h->out, "D \"%s\"\n", file->name);
		return;
	}
	fprintf(h->out, "M %s inline \"%s\"\ndata %zu\n", file->mode, file->name, file->text.len);
	fwrite(file->text.s, 1, file->text.len, h->out);
	fputc('\n', h->out);
}

static void make_history(struct history *h)
{
	static const char *const names[FILES] = {
		"a.c",		"b.c",	       "mm/swap.c",	  "mm/x/deep.h",
		"with space.c", "mm/sp ace/f", "caf\\303\\251.c", "Makefile",
		"noext",	"z/y/x",       "tab\\there",	  "q\\\"uote",
		"mm/b",		"end",
	};

	for (int i = 0; i < FILES; i++)
		h->files[i] = (struct file){.name = names[i], .text = str_new()};
	for (int c = 0; c < COMMITS; c++) {
		fprintf(h->out, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 2\nm\n\n",
			1700000000 + c);
		for (uint32_t n = c ? 1 + roll(h, 4) : FILES; n; n--) {
			struct file *file = &h->files[c ? roll(h, FILES) : n - 1];

			change(h, file);
			put(h, file);
		}
	}
	for (int i = 0; i < FILES; i++)
		str_release(&h->files[i].text);
}

static char *shell(const char *script)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 120, .cwd = dir};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	struct err err = {0};

	spec.max_output = 1 << 24;
	strs_pushl(&spec.argv, "sh", "-e", "-c", script, NULL);
	if (!proc_run(&spec, &result, &err) || result.status)
		fail_msg("%s%s", err.msg, result.out.s);
	return str_take(&result.out);
}

/* Every commit with one parent that changes something, as "PATCH-ID COMMIT" lines. */
static char *ids_of_git(void)
{
	return shell("git rev-list --no-merges main | sed '$d' |"
		     "git diff-tree -p --full-index --stdin | git patch-id --stable");
}

static void test_random_history(void **state _unused)
{
	AUTO_FREE char *wanted = ids_of_git();
	AUTO_STRS lines = STRS_INIT;
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	struct err err;

	assert_true(repo_open(dir, &repo, &err));
	strs_split(&lines, wanted, "\n");
	assert_true(lines.n > COMMITS / 2);
	for (size_t i = 0; i < lines.n; i++) {
		char hex[REPO_OID_SIZE], *oid = lines.v[i] + REPO_OID_SIZE;

		if (!repo_patch_id(repo, oid, hex, &err))
			fail_msg("%s", err.msg);
		if (strncmp(hex, lines.v[i], REPO_OID_SIZE - 1) != 0)
			fail_msg("commit %s: %s, git says %s", oid, hex, lines.v[i]);
	}
}

static void test_no_patch(void **state _unused)
{
	AUTO_FREE char *made = shell("root=$(git rev-list --max-parents=0 main)\n"
				     "tree=$(git rev-parse $root^{tree})\n"
				     "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b\n"
				     "export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
				     "echo $root\n"
				     "git commit-tree -p $root -m empty $tree\n"
				     "git commit-tree -p $root -p main -m merge $tree\n");
	AUTO_STRS oids = STRS_INIT;
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	struct err err;

	assert_true(repo_open(dir, &repo, &err));
	strs_split(&oids, made, "\n");
	assert_int_equal(oids.n, 3);
	for (size_t i = 0; i < oids.n; i++) {
		char hex[REPO_OID_SIZE];

		assert_true(repo_patch_id(repo, oids.v[i], hex, &err));
		assert_string_equal(hex, "");
	}
}

static int set_up(void **state _unused)
{
	struct history h = {.seed = 20261001};
	AUTO_FREE char *command = NULL;

	repo_init();
	if (access("/dev/shm", W_OK))
		memcpy(dir, elsewhere, sizeof(elsewhere));
	if (!mkdtemp(dir))
		return -1;
	command = xasprintf("git init -q --bare %s && git -C %s fast-import --quiet", dir, dir);
	h.out = popen(command, "w");
	if (!h.out)
		return -1;
	make_history(&h);
	return pclose(h.out);
}

static int tear_down(void **state _unused)
{
	struct err err;

	return fs_remove_tree(dir, &err) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_history),
		cmocka_unit_test(test_no_patch),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
