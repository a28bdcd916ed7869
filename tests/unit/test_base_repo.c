// SPDX-License-Identifier: GPL-2.0-or-later
/* Repositories against git's own answers. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/repo.h"

/* In memory where possible: everything here is synced. */
static char dir[] = "/dev/shm/mmperf-test-repo-XXXXXX";
static const char elsewhere[] = "/tmp/mmperf-test-repo-XXXXXX";

#include "tests/unit/shell.h"

#define AUTO_REPO CLEANUP(repo_free_ptr) struct repo

static void run(const char *script)
{
	free(shell("%s", script));
}

static char *at(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static struct repo *opened(const char *name)
{
	AUTO_FREE char *path = at(name);
	struct repo *repo = NULL;
	struct err err;

	if (!repo_open(path, &repo, &err))
		fail_msg("%s", err.msg);
	return repo;
}

static struct repo *bare(const char *name, const char *reference)
{
	AUTO_FREE char *path = at(name);
	struct repo *repo = NULL;
	struct err err;

	if (!repo_open_bare(path, reference, &repo, &err))
		fail_msg("%s", err.msg);
	return repo;
}

static void resolves_to(struct repo *repo, const char *rev, const char *want)
{
	char oid[REPO_OID_SIZE];
	struct err err;

	if (!repo_resolve(repo, rev, oid, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(oid, want);
}

static void test_fetch_and_force_push(void **state _unused)
{
	AUTO_REPO *repo = bare("fetch.git", NULL);
	AUTO_FREE char *path = at("work");
	AUTO_FREE char *url = xasprintf("file://%s", path);
	AUTO_FREE char *before = shell("git -C work rev-parse next");
	AUTO_FREE char *after = NULL;
	struct err err;

	assert_true(repo_fetch(repo, path, "next", "refs/mmperf/x", NULL, NULL, &err));
	resolves_to(repo, "refs/mmperf/x", before);
	after = shell("cd work && git checkout -q next && git reset -q --hard HEAD~2 &&"
		      "echo rebuilt >rebuilt && git add . && git commit -qm rebuilt &&"
		      "git rev-parse HEAD && git checkout -q main");
	if (!repo_fetch(repo, url, "next", "refs/mmperf/x", NULL, NULL, &err))
		fail_msg("%s", err.msg);
	resolves_to(repo, "refs/mmperf/x", after);
	free(shell("git -C fetch.git fsck --connectivity-only && git -C work branch -f next %s",
		   before));
}

static void fetch_fails(struct repo *repo, const char *url, const char *branch, const char *message)
{
	struct err err;

	assert_false(repo_fetch(repo, url, branch, "refs/mmperf/bad", NULL, NULL, &err));
	assert_string_equal(err.msg, message);
	assert_int_equal(err.kind, ERR_NOTFOUND);
}

static void test_fetch_mistakes(void **state _unused)
{
	AUTO_REPO *repo = bare("mistakes.git", NULL);
	AUTO_FREE char *path = at("work");
	AUTO_FREE char *no_branch = xasprintf("there is no branch \"xyzzy\" at %s", path);
	AUTO_FREE char *near =
		xasprintf("there is no branch \"nxet\" at %s; did you mean next?", path);
	AUTO_FREE char *no_repo = xasprintf("there is no git repository at %s", dir);
	char oid[REPO_OID_SIZE];
	struct err err;

	fetch_fails(repo, path, "xyzzy", no_branch);
	fetch_fails(repo, path, "nxet", near);
	fetch_fails(repo, dir, "main", no_repo);
	fetch_fails(repo, "/nonexistent/x", "main", "there is no git repository at /nonexistent/x");
	fetch_fails(repo, "file:///nonexistent", "main",
		    "there is no git repository at file:///nonexistent");
	assert_false(repo_resolve(repo, "refs/mmperf/bad", oid, &err));
	assert_false(repo_fetch(repo, "http://u:secret@127.0.0.1:1/x", "main", "refs/mmperf/bad",
				NULL, NULL, &err));
	assert_null(strstr(err.msg, "secret"));
}

static bool refuse(void *arg, unsigned done _unused, unsigned total _unused)
{
	++*(int *)arg;
	return false;
}

static void test_fetch_can_be_stopped(void **state _unused)
{
	AUTO_REPO *repo = bare("stopped.git", NULL);
	AUTO_FREE char *path = at("work");
	int calls = 0;
	struct err err;

	assert_false(repo_fetch(repo, path, "main", "refs/mmperf/x", refuse, &calls, &err));
	assert_true(calls > 0);
	assert_non_null(strstr(err.msg, "was stopped"));
}

static bool count_objects(void *arg, unsigned done _unused, unsigned total)
{
	*(unsigned *)arg = total;
	return true;
}

static int free_port(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	return ntohs(addr.sin_port);
}

static void start_daemon(struct proc *proc, int port)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.cwd = dir};
	struct err err = {0};

	strs_pushl(&spec.argv, "git", "daemon", "--listen=127.0.0.1", "--export-all", NULL);
	strs_pushf(&spec.argv, "--port=%d", port);
	strs_pushf(&spec.argv, "--base-path=%s", dir);
	spec.out_path = "/dev/null";
	if (!proc_start(&spec, proc, &err))
		fail_msg("%s", err.msg);
}

static void must_fetch(struct repo *repo, const char *url, unsigned *objects)
{
	struct err err = {0};

	for (int i = 0; i < 100; i++) {
		if (repo_fetch(repo, url, "mm", "refs/mmperf/x", count_objects, objects, &err))
			return;
		clock_sleep_s(0.2); /* the daemon is starting */
	}
	fail_msg("%s", err.msg);
}

static void rebuild_branch(const char *start_s)
{
	free(shell("base=$(git -C long rev-parse v1);"
		   "for i in $(seq 400); do echo commit refs/heads/mm;"
		   "echo 'committer A <a@b>' $((%s + i)) +0000; echo 'data 2'; echo m;"
		   "test $i -gt 1 || echo from $base;"
		   "echo 'M 100644 inline f'; echo data ${#i}; echo $i; done |"
		   "git -C long fast-import --quiet --force",
		   start_s));
}

/* A branch is rebuilt with more commits than libgit2 offers to a server: little is fetched. */
static void test_fetch_of_a_long_rebuilt_branch(void **state _unused)
{
	CLEANUP(proc_release) struct proc daemon = PROC_NONE;
	AUTO_REPO *repo = bare("mirror.git", NULL);
	int port = free_port();
	AUTO_FREE char *url = xasprintf("git://127.0.0.1:%d/long", port);
	unsigned all = 0, again = 0;

	run("git init -q -b mm long && cd long && seq 1000 | while read i; do"
	    " echo $i >f$i; done && git add . && git commit -qm base && git tag v1");
	rebuild_branch("1800000000");
	start_daemon(&daemon, port);
	must_fetch(repo, url, &all);
	rebuild_branch("1900000000");
	/* What was rebuilt away is unknown to the server. */
	run("cd long && git reflog expire --expire=now --all && git gc -q --prune=now");
	must_fetch(repo, url, &again);
	assert_true(all > 2000);
	assert_in_range(again, 400, 1300);
}

static void test_views_of_killed_fetches_go(void **state _unused)
{
	AUTO_REPO *repo = bare("swept.git", NULL);
	AUTO_FREE char *path = at("work");
	struct err err;

	run("cd swept.git && mkdir fetch-old fetch-young && touch -d '1 hour ago' fetch-old");
	assert_true(repo_fetch(repo, path, "main", "refs/mmperf/x", NULL, NULL, &err));
	run("cd swept.git && test $(echo fetch-*) = fetch-young");
}

static void test_reference(void **state _unused)
{
	AUTO_FREE char *path = at("work");
	AUTO_REPO *repo = bare("borrower.git", path);
	AUTO_REPO *again _unused = bare("borrower.git", path);
	AUTO_FREE char *head = shell("git -C work rev-parse main");
	AUTO_FREE char *lines = shell("wc -l <borrower.git/objects/info/alternates");
	unsigned objects = 0;
	struct repo *none = NULL;
	struct err err;

	resolves_to(repo, head, head);
	assert_string_equal(lines, "1");
	assert_true(repo_fetch(repo, path, "main", "refs/mmperf/x", count_objects, &objects, &err));
	assert_int_equal(objects, 0);
	free(path);
	path = at("other.git");
	assert_false(repo_open_bare(path, "/nonexistent", &none, &err));
	assert_non_null(strstr(err.msg, "reference /nonexistent is not a git repository"));
}

static void test_resolve(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	AUTO_FREE char *head = shell("git -C work rev-parse main");
	AUTO_FREE char *back = shell("git -C work rev-parse main~2");
	AUTO_FREE char *prefix = shell("git -C work rev-parse --short=12 main");
	AUTO_FREE char *blob = shell("git -C work rev-parse main:file");
	char oid[REPO_OID_SIZE];
	struct err err;

	resolves_to(repo, "main", head);
	resolves_to(repo, prefix, head);
	resolves_to(repo, "main~2", back);
	resolves_to(repo, "tagged", head);
	assert_false(repo_resolve(repo, "nonsense", oid, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(repo_resolve(repo, blob, oid, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(repo_resolve(repo, "", oid, &err));
}

static void test_refs(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	AUTO_FREE char *one = shell("git -C work rev-parse main~1");
	AUTO_FREE char *two = shell("git -C work rev-parse main~2");
	char oid[REPO_OID_SIZE];
	struct err err;

	assert_true(repo_ref_set(repo, "refs/mmperf/t", one, &err));
	assert_true(repo_ref_set(repo, "refs/mmperf/t", two, &err));
	resolves_to(repo, "refs/mmperf/t", two);
	assert_true(repo_ref_delete(repo, "refs/mmperf/t", &err));
	assert_true(repo_ref_delete(repo, "refs/mmperf/t", &err));
	assert_false(repo_resolve(repo, "refs/mmperf/t", oid, &err));
	assert_false(repo_ref_set(repo, "refs/mmperf/t", "12ab", &err));
}

static void commit_reads(const char *message, const char *message_id, const char *link)
{
	AUTO_REPO *repo = opened("work");
	CLEANUP(repo_commit_release) struct repo_commit commit = {0};
	AUTO_FREE char *oid =
		shell("cd work && git commit-tree -p main main^{tree} <<'EOF'\n%s\nEOF\n", message);
	struct err err;

	assert_true(repo_commit_read(repo, oid, &commit, &err));
	assert_string_equal(commit.message_id ? commit.message_id : "none", message_id);
	assert_string_equal(commit.link ? commit.link : "none", link);
}

static void test_message_ids(void **state _unused)
{
	commit_reads("s\n\nb\n\nLink: https://lkml.kernel.org/r/1-2.a@b.c\nSigned-off-by: x",
		     "1-2.a@b.c", "https://lkml.kernel.org/r/1-2.a@b.c");
	commit_reads("s\n\nLink: https://lore.kernel.org/all/x%2By@b.c/T/#u", "x+y@b.c",
		     "https://lore.kernel.org/all/x%2By@b.c/T/#u");
	commit_reads("s\n\nLink: https://lkml.kernel.org/r/a@b\nMessage-Id: <c@d>", "c@d",
		     "https://lkml.kernel.org/r/a@b");
	commit_reads(
		"s\n\nLink: https://bugzilla.kernel.org/1\nLink: https://patch.msgid.link/r/e@f",
		"e@f", "https://bugzilla.kernel.org/1");
	commit_reads("s\n\nLink: https://lore.kernel.org/r/old@x [1]\n\nSigned-off-by: x", "none",
		     "none");
	commit_reads("s\n\nMessage-ID: <a b@c>\nLink: ftp://x/r/a@b", "none", "none");
	commit_reads("s\n\nLink: https://lore.kernel.org/r/a%0d%0aBcc:x@y", "none",
		     "https://lore.kernel.org/r/a%0d%0aBcc:x@y");
}

static void test_commit_fields(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	CLEANUP(repo_commit_release) struct repo_commit commit = {0};
	AUTO_FREE char *oid = shell(
		"cd work && printf 'two\\nlines\\n\\nbody \\377 text\\n' >../message &&"
		"GIT_AUTHOR_NAME=\"$(printf 'B\\351b')\" GIT_AUTHOR_DATE='1700000000 +0100'"
		" GIT_COMMITTER_DATE='1700000100 +0000'"
		" git -c i18n.commitEncoding=ISO-8859-1 commit-tree -p main -p next -F ../message"
		" main^{tree}");
	AUTO_FREE char *tree = shell("git -C work rev-parse main^{tree}");
	AUTO_FREE char *second = shell("git -C work rev-parse next");
	struct err err;

	assert_true(repo_commit_read(repo, oid, &commit, &err));
	assert_string_equal(commit.oid, oid);
	assert_string_equal(commit.tree, tree);
	assert_int_equal(commit.parents.n, 2);
	assert_string_equal(commit.parents.v[1], second);
	assert_string_equal(commit.author_name, "B\xef\xbf\xbd"
						"b");
	assert_string_equal(commit.author_email, "a@example.org");
	assert_int_equal(commit.author_time_s, 1700000000);
	assert_int_equal(commit.commit_time_s, 1700000100);
	assert_string_equal(commit.subject, "two lines");
	assert_string_equal(commit.body, "body \xef\xbf\xbd text");
	assert_false(
		repo_commit_read(repo, "0000000000000000000000000000000000000001", &commit, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
}

static void test_ancestry(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	AUTO_FREE char *main_tip = shell("git -C work rev-parse main");
	AUTO_FREE char *next_tip = shell("git -C work rev-parse next");
	AUTO_FREE char *base = shell("git -C work merge-base main next");
	AUTO_FREE char *alien = shell("git -C work rev-parse alien");
	char oid[REPO_OID_SIZE];
	bool yes = false;
	struct err err;

	assert_true(repo_merge_base(repo, main_tip, next_tip, oid, &err));
	assert_string_equal(oid, base);
	assert_false(repo_merge_base(repo, main_tip, alien, oid, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_true(repo_is_ancestor(repo, base, next_tip, &yes, &err));
	assert_true(yes);
	assert_true(repo_is_ancestor(repo, next_tip, next_tip, &yes, &err));
	assert_true(yes);
	assert_true(repo_is_ancestor(repo, main_tip, next_tip, &yes, &err));
	assert_false(yes);
}

static void test_walk(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	AUTO_FREE char *from = shell("git -C work rev-parse main~4");
	AUTO_FREE char *to = shell("git -C work rev-parse merged");
	AUTO_FREE char *wanted = shell("git -C work rev-list main~4..merged | sort");
	AUTO_FREE char *all = shell("git -C work rev-list merged | wc -l");
	AUTO_FREE char *got = NULL;
	AUTO_FREE char *sorted = NULL;
	AUTO_STRS some = STRS_INIT;
	AUTO_STRS every = STRS_INIT;
	struct err err;

	assert_true(repo_walk(repo, from, to, &some, &err));
	got = strs_join(&some, "\n");
	sorted = shell("sort <<'EOF'\n%s\nEOF\n", got);
	assert_string_equal(sorted, wanted);
	assert_string_equal(some.v[some.n - 1], to);
	for (size_t i = 0; i < some.n; i++) {
		CLEANUP(repo_commit_release) struct repo_commit commit = {0};

		assert_true(repo_commit_read(repo, some.v[i], &commit, &err));
		for (size_t j = i + 1; j < some.n; j++)
			assert_false(strs_has(&commit.parents, some.v[j]));
	}
	assert_true(repo_walk(repo, NULL, to, &every, &err));
	assert_int_equal(every.n, atoi(all));
}

static void test_changed_paths(void **state _unused)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *from = shell("git -C trees rev-parse t1^{tree}");
	AUTO_FREE char *to = shell("git -C trees rev-parse t2");
	AUTO_FREE char *wanted = shell("git -C trees diff-tree -r --name-only t1 t2");
	AUTO_FREE char *got = NULL;
	AUTO_STRS paths = STRS_INIT;
	struct err err;

	assert_true(repo_changed_paths(repo, from, to, &paths, &err));
	got = strs_join(&paths, "\n");
	assert_string_equal(got, wanted);
}

static void test_commit_paths(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	CLEANUP(repo_commit_release) struct repo_commit commit = {0}, root = {0}, merge = {0};
	AUTO_FREE char *oid = shell("git -C work rev-parse main");
	AUTO_FREE char *first = shell("git -C work rev-list --max-parents=0 main");
	AUTO_FREE char *merged = shell("git -C work rev-list --merges -1 merged");
	AUTO_FREE char *wanted =
		shell("git -C work diff-tree -r --no-commit-id --name-only --no-renames main");
	AUTO_FREE char *got = NULL;
	struct err err;

	assert_true(repo_commit_read(repo, oid, &commit, &err));
	got = strs_join(&commit.paths, "\n");
	assert_string_equal(got, wanted);
	assert_true(commit.paths.n > 0);
	assert_true(repo_commit_read(repo, first, &root, &err));
	assert_int_equal(root.paths.n, 0);
	assert_true(repo_commit_read(repo, merged, &merge, &err));
	assert_int_equal(merge.paths.n, 0);
}

static void test_diff_text(void **state _unused)
{
	AUTO_REPO *repo = opened("work");
	AUTO_FREE char *oid = shell("git -C work rev-parse main");
	AUTO_FREE char *wanted = shell("git -C work diff-tree -p main | sed 1d");
	AUTO_STR text = str_new();
	AUTO_STR cut = str_new();
	struct err err;

	assert_true(repo_diff_text(repo, oid, 1 << 20, &text, &err));
	assert_true(str_starts(text.s, wanted));
	assert_true(repo_diff_text(repo, oid, 100, &cut, &err));
	assert_true(cut.len > 0 && cut.len <= 100);
}

static char *tree_of(const char *commit)
{
	return shell("git -C trees rev-parse '%s^{tree}'", commit);
}

static bool checkout(const char *from, const char *to, const char *name, struct err *err)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *before = from ? tree_of(from) : NULL;
	AUTO_FREE char *after = tree_of(to);
	AUTO_FREE char *path = at(name);

	return repo_checkout_tree(repo, before, after, path, NULL, err);
}

static void must_checkout(const char *from, const char *to, const char *name)
{
	struct err err;

	if (!checkout(from, to, name, &err))
		fail_msg("%s", err.msg);
}

/* Every path with its type, mode, link target and content. */
static char *listing(const char *name)
{
	return shell("cd %s && find . -mindepth 1 -printf '%%P %%y %%m %%l\\n' | sort &&"
		     "find . -type f | sort | xargs -d '\\n' sha256sum",
		     name);
}

static void test_checkout_equals_archive(void **state _unused)
{
	static const char *const commits[] = {"t1", "t2", "t3", "t4"};

	run("umask 022; for t in t1 t2 t3 t4; do mkdir want-$t &&"
	    "git -C trees archive $t | tar -C want-$t -x --no-same-owner --no-same-permissions; "
	    "done");
	for (size_t i = 0; i < ARRAY_SIZE(commits) * ARRAY_SIZE(commits); i++) {
		const char *from = commits[i / ARRAY_SIZE(commits)];
		const char *to = commits[i % ARRAY_SIZE(commits)];
		AUTO_FREE char *wanted_name = xasprintf("want-%s", to);
		AUTO_FREE char *wanted = listing(wanted_name);
		AUTO_FREE char *got = NULL;

		must_checkout(NULL, from, "got");
		must_checkout(from, to, "got");
		got = listing("got");
		assert_string_equal(got, wanted);
	}
}

static void test_checkout_writes_only_what_differs(void **state _unused)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *before = tree_of("t1");
	AUTO_FREE char *after = tree_of("t2");
	AUTO_FREE char *path = at("minimal");
	AUTO_FREE char *kept = at("minimal/same/file");
	size_t written = 0;
	struct stat old, new;
	struct err err;

	must_checkout(NULL, "t1", "minimal");
	assert_int_equal(stat(kept, &old), 0);
	run("echo object >minimal/same/file.o; echo object >minimal/gone/x.o");
	assert_true(repo_checkout_tree(repo, before, after, path, &written, &err));
	assert_int_equal(stat(kept, &new), 0);
	assert_int_equal(old.st_ino, new.st_ino);
	assert_int_equal(old.st_mtim.tv_nsec, new.st_mtim.tv_nsec);
	free(shell("test $(git -C trees diff-tree -r --no-renames t1 t2 | awk '{ n += $5 == \"T\" "
		   "? 2 : 1 } END { print n }') = %zu &&"
		   "test -e minimal/same/file.o && test -e minimal/gone/x.o",
		   written));
	assert_true(repo_checkout_tree(repo, after, after, path, &written, &err));
	assert_int_equal(written, 0);
}

/* Another repository, with the files of t4 only: what dir holds is known to it by its listing. */
static void test_checkout_from_a_tree_of_another_repository(void **state _unused)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *before = tree_of("t1");
	AUTO_FREE char *after = tree_of("t4");
	AUTO_FREE char *path = at("moved");
	AUTO_FREE char *list = at("listing");
	AUTO_FREE char *wanted = NULL;
	AUTO_FREE char *got = NULL;
	AUTO_REPO *other = NULL;
	struct err err;

	run("git init -q --bare other &&"
	    "git -C trees branch alone $(git -C trees commit-tree -m alone t4^{tree}) &&"
	    "git -C other fetch -q ../trees alone");
	must_checkout(NULL, "t4", "moved-wanted");
	must_checkout(NULL, "t1", "moved");
	run("mkdir -p moved-wanted/same; echo object | tee moved/same/file.o "
	    ">moved-wanted/same/file.o;"
	    "echo stale >listing; echo stale >listing.lock");
	assert_true(repo_list_tree(repo, before, list, &err));
	other = opened("other");
	assert_false(repo_checkout_tree(other, before, after, path, NULL, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	if (!repo_revive_tree(other, before, list, &err) ||
	    !repo_checkout_tree(other, before, after, path, NULL, &err))
		fail_msg("%s", err.msg);
	wanted = listing("moved-wanted");
	got = listing("moved");
	assert_string_equal(got, wanted);
}

static void test_a_listing_of_another_tree(void **state _unused)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *tree = tree_of("t1");
	AUTO_FREE char *another = tree_of("t4");
	AUTO_FREE char *list = at("listing");
	AUTO_FREE char *none = at("no-listing");
	AUTO_REPO *fresh = NULL;
	struct err err;

	run("git init -q --bare fresh");
	fresh = opened("fresh");
	assert_true(repo_list_tree(repo, another, list, &err));
	assert_false(repo_revive_tree(fresh, tree, list, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_false(repo_revive_tree(fresh, tree, none, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	run("head -c 100 listing >cut && mv cut listing");
	assert_false(repo_revive_tree(fresh, tree, list, &err));
}

/* Things that are not git's stand where git's paths must go, and point outside. */
static void test_checkout_never_follows_links(void **state _unused)
{
	must_checkout(NULL, "t1", "trap");
	run("mkdir outside && ln -s ../outside trap/fresh && ln -s /etc/hostname trap/new &&"
	    "rm -r trap/gone && ln -s ../outside trap/gone && echo safe >outside/x");
	must_checkout("t1", "t2", "trap");
	run("test -d trap/fresh && test ! -L trap/fresh && test -f trap/new && test ! -L trap/new");
	run("test \"$(ls -A outside)\" = x && test \"$(cat outside/x)\" = safe");
}

static void test_checkout_clears_objects_in_the_way(void **state _unused)
{
	must_checkout(NULL, "t1", "objects");
	run("echo object >objects/dir/leftover.o");
	must_checkout("t1", "t2", "objects");
	run("test -f objects/dir");
}

static void refuses_tree(const char *entry_name)
{
	AUTO_REPO *repo = opened("trees");
	AUTO_FREE char *tree = shell("cd trees && blob=$(echo evil | git hash-object -w --stdin) &&"
				     "{ printf '100644 %s\\0'; printf $blob | sed "
				     "'s/../\\\\\\\\x&/g' | xargs -0 /usr/bin/printf; } |"
				     "git hash-object -t tree -w --literally --stdin",
				     entry_name);
	AUTO_FREE char *path = at("hostile");
	struct err err;

	assert_false(repo_checkout_tree(repo, NULL, tree, path, NULL, &err));
}

static void test_checkout_refuses_hostile_paths(void **state _unused)
{
	refuses_tree("..");
	refuses_tree(".");
	refuses_tree(".git");
	refuses_tree(".GIT");
	refuses_tree("../outside-evil");
	refuses_tree("/tmp/mmperf-outside-evil");
	run("test ! -e outside-evil && test ! -e /tmp/mmperf-outside-evil &&"
	    "test -z \"$(ls -A hostile)\"");
}

static void make_work(void)
{
	run("git init -q -b main work && cd work &&"
	    "for i in 1 2 3 4 5 6 7; do echo $i >>file; git add . && git commit -qm c$i; done &&"
	    "git checkout -q -b next HEAD~3 && for i in a b c; do echo $i >$i; git add . &&"
	    "git commit -qm $i; done && git checkout -q main &&"
	    "echo lone >lone && git add . && git commit -qm lone &&"
	    "echo 8 >>file && git commit -qam c8 && sed -i s/8/nine/ file && git commit -qam c9 &&"
	    "sed -i s/nine/ten/ file && git commit -qam c10 && git tag -a -m t tagged &&"
	    "git checkout -q -b merged && git merge -q -m merge next && git checkout -q main &&"
	    "git branch alien $(git commit-tree -m alien $(git write-tree))");
}

/* Four trees between which everything that can change does. */
static void make_trees(void)
{
	run("git init -q -b main trees && cd trees && mkdir -p dir/sub same gone deep/er/est &&"
	    "for f in dir/a dir/sub/b same/file gone/only deep/er/est/x plain become-dir exec"
	    " 'with space' swap; do echo \"1 $f\" >\"$f\"; done && chmod +x exec &&"
	    "ln -s plain link && ln -s dir dirlink && git add . && git commit -qm 1 && git tag t1 "
	    "&&"
	    "git rm -qr dir gone deep become-dir link dirlink && echo file >dir &&"
	    "mkdir -p become-dir/sub fresh && echo 2 >become-dir/sub/f && echo 2 >fresh/f &&"
	    "echo 2 >new && echo changed >plain && chmod -x exec && echo 2 >link && mkdir dirlink "
	    "&&"
	    "echo 2 >dirlink/in && rm swap && ln -s /nonexistent/target swap &&"
	    "git add . && git commit -qm 2 && git tag t2 &&"
	    "git rm -qr . && echo only >only && git add . && git commit -qm 3 && git tag t3 &&"
	    "git rm -qr . && git commit -qm 4 && git tag t4");
}

static int set_up(void **state _unused)
{
	repo_init();
	if (access("/dev/shm", W_OK))
		memcpy(dir, elsewhere, sizeof(elsewhere));
	if (!mkdtemp(dir))
		return -1;
	make_work();
	make_trees();
	return 0;
}

static int tear_down(void **state _unused)
{
	struct err err;

	return fs_remove_tree(dir, &err) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fetch_and_force_push),
		cmocka_unit_test(test_fetch_mistakes),
		cmocka_unit_test(test_fetch_can_be_stopped),
		cmocka_unit_test(test_fetch_of_a_long_rebuilt_branch),
		cmocka_unit_test(test_views_of_killed_fetches_go),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_message_ids),
		cmocka_unit_test(test_commit_fields),
		cmocka_unit_test(test_ancestry),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_commit_paths),
		cmocka_unit_test(test_changed_paths),
		cmocka_unit_test(test_diff_text),
		cmocka_unit_test(test_checkout_equals_archive),
		cmocka_unit_test(test_checkout_writes_only_what_differs),
		cmocka_unit_test(test_checkout_from_a_tree_of_another_repository),
		cmocka_unit_test(test_a_listing_of_another_tree),
		cmocka_unit_test(test_checkout_never_follows_links),
		cmocka_unit_test(test_checkout_clears_objects_in_the_way),
		cmocka_unit_test(test_checkout_refuses_hostile_paths),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
