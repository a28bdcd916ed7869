// SPDX-License-Identifier: GPL-2.0-or-later
/* Commits that are taken back, against `git revert`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/repo.h"
#include "tests/unit/scratch.h"
#include "tests/unit/shell.h"

/* What later commits may do to a commit's files: nothing, something elsewhere in them, the same lines, a new name. */
static const char history[] =
	"git init -q -b main work && cd work && git config merge.renames true\n"
	"c() { git add -A && git commit -qm \"$1\"; }\n"
	"mkdir -p mm/deep lib && seq 60 >mm/a && seq 60 >mm/b && seq 60 >lib/c && seq 60 "
	">mm/deep/d && c base\n"
	"sed -i 's/^5$/five/' mm/a && c clean\n"
	"sed -i 's/^50$/fifty/' mm/a && c 'elsewhere in it'\n"
	"sed -i 's/^20$/twenty/' mm/b && c buried\n"
	"sed -i 's/^20$/zwanzig/; s/^twenty$/zwanzig/' mm/b && c 'the same line'\n"
	"mkdir new && seq 9 >new/file && c 'a directory'\n"
	"seq 5 >mm/deep/more && sed -i 1d lib/c && c 'a file and a line'\n"
	"rm mm/deep/d && c 'one removed'\n"
	"chmod +x lib/c && c 'a mode'\n"
	"sed -i 's/^30$/thirty/' lib/c && c moved\n"
	"git mv lib/c lib/renamed && c 'a new name'\n"
	"sed -i 's/^7$/seven/' mm/a && c 'taken back'\n"
	"sed -i 's/^seven$/7/' mm/a && c 'its revert'\n"
	"ln -s a mm/link && c 'a link'\n"
	"git checkout -q -b side main~4 && seq 3 >side && c side && git checkout -q main && git "
	"merge -q --no-edit side\n"
	"echo last >last && c last";

static void test_as_git(void **state _unused)
{
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	AUTO_FREE char *path = xasprintf("%s/work", dir);
	AUTO_FREE char *tip = NULL, *wanted = NULL;
	size_t told = 0, conflicts = 0;
	char *rest;
	struct err err;

	free(shell("%s", history));
	tip = shell("git -C work rev-parse main");
	wanted = shell("cd work && for c in $(git rev-list --first-parent main~1 ^$(git rev-list "
		       "--max-parents=0 main)); do\n"
		       "m=$(git rev-parse -q --verify $c^2 >/dev/null && echo '-m 1' || true)\n"
		       "if git revert $m --no-commit $c >/dev/null 2>&1; then echo $c $(git "
		       "write-tree); else echo $c conflicts; fi\n"
		       "git reset -q --hard main && git clean -qfd\ndone");
	if (!repo_open(path, &repo, &err))
		fail_msg("%s", err.msg);
	for (char *line = strtok_r(wanted, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char oid[REPO_OID_SIZE], tree[REPO_OID_SIZE] = "conflicts";
		bool clean = false;

		snprintf(oid, sizeof(oid), "%.40s", line);
		if (!repo_revert_tree(repo, oid, tip, &clean, tree, &err))
			fail_msg("%s", err.msg);
		assert_string_equal(tree, line + 41);
		assert_true(clean == (strcmp(tree, "conflicts") != 0));
		conflicts += !clean;
		told++;
	}
	assert_int_equal(told, 14);
	assert_int_equal(conflicts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_git),
	};

	repo_init();
	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
