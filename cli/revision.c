// SPDX-License-Identifier: GPL-2.0-or-later
/* Words for commits. */
#include "cli/revision.h"

#include <stdlib.h>
#include <string.h>

#include "db/known.h"

#define RANGE_MAX 1000

void revision_release(struct revision *revision)
{
	free(revision->tree);
	free(revision->subject);
	*revision = (struct revision){0};
}

/* A followed branch, by the names that the database knows. */
static bool add_branch(struct session *session, const char *word, struct strs *tried,
		       struct err *err)
{
	size_t n = strcspn(word, "~^@:");
	AUTO_FREE char *name = xstrndup(word, n), *tree = NULL, *branch = NULL;
	struct db *db;
	bool found;

	if (!session_db(session, &db, err) || !known_branch(db, name, &tree, &branch, &found, err))
		return false;
	if (found)
		strs_pushf(tried, "refs/mmperf/heads/%s/%s%s", tree, branch, word + n);
	return true;
}

/* What the word may mean, in the order of trial. Bases of trees are fetched but not followed. */
static bool meanings(struct session *session, const char *word, struct strs *tried, struct err *err)
{
	const struct settings *settings;
	const struct strs *trees;

	if (!session_settings(session, &settings, err) || !add_branch(session, word, tried, err))
		return false;
	trees = conf_names(settings->conf, "tree");
	for (size_t i = 0; i < trees->n; i++)
		strs_pushf(tried, "refs/mmperf/heads/%s/%s", trees->v[i], word);
	strs_pushf(tried, "refs/mmperf/heads/%s", word);
	strs_push(tried, word);
	return true;
}

static bool resolve(struct session *session, const char *word, char oid[REPO_OID_SIZE],
		    struct err *err);

/* Says whether it is the name that is unknown, or where "~400" leads to. */
static bool refuse(struct session *session, const char *word, struct err *err)
{
	size_t n = strcspn(word, "~^@:");
	AUTO_FREE char *name = xstrndup(word, n);
	char oid[REPO_OID_SIZE];
	struct err ignored;

	if (word[n] && resolve(session, name, oid, &ignored))
		return err_set(err, ERR_NOTFOUND,
			       "revision \"%s\": %s is %.12s, which has no \"%s\"", word, name, oid,
			       word + n);
	return err_set(err, ERR_NOTFOUND,
		       "unknown revision \"%s\": neither a followed branch nor a commit that was "
		       "fetched; `mmperf log` shows the heads",
		       word);
}

static bool resolve(struct session *session, const char *word, char oid[REPO_OID_SIZE],
		    struct err *err)
{
	AUTO_STRS tried = STRS_INIT;
	struct repo *repo;

	if (!*word || *word == '-')
		return err_set(err, ERR_USAGE, "\"%s\" is no revision", word);
	if (!meanings(session, word, &tried, err) || !session_repo(session, &repo, err))
		return false;
	for (size_t i = 0; i < tried.n; i++) {
		if (repo_resolve(repo, tried.v[i], oid, err))
			return true;
		if (err->kind != ERR_NOTFOUND)
			return err_wrap(err, "revision %s", word);
	}
	return refuse(session, word, err);
}

static bool read_subject(struct session *session, const char *oid, char **subject, struct err *err)
{
	CLEANUP(repo_commit_release) struct repo_commit commit = {0};
	struct repo *repo;

	if (!session_repo(session, &repo, err) || !repo_commit_read(repo, oid, &commit, err))
		return false;
	*subject = xstrdup_null(commit.subject);
	return true;
}

bool revision_find(struct session *session, const char *word, struct revision *out, struct err *err)
{
	CLEANUP(revision_release) struct revision fresh = {0};
	struct db *db;

	if (!session_db(session, &db, err) || !resolve(session, word, fresh.oid, err) ||
	    !known_commit(db, fresh.oid, &fresh.id, &fresh.tree, err) ||
	    !read_subject(session, fresh.oid, &fresh.subject, err))
		return false;
	*out = fresh;
	fresh = (struct revision){0};
	return true;
}

static bool explain_empty(struct session *session, const char *word, const char *from,
			  const char *to, struct err *err)
{
	struct repo *repo;
	bool turned = false;

	if (!session_repo(session, &repo, err) ||
	    (strcmp(from, to) != 0 && !repo_is_ancestor(repo, to, from, &turned, err)))
		return false;
	return err_set(err, ERR_USAGE, "range %s is empty: %s", word,
		       turned ? "its end is an ancestor of its start; swap the two"
			      : "both ends are the same commit");
}

static bool walk(struct session *session, const char *word, const char *dots, struct strs *oids,
		 struct err *err)
{
	AUTO_FREE char *left = xstrndup(word, (size_t)(dots - word));
	char from[REPO_OID_SIZE], to[REPO_OID_SIZE], base[REPO_OID_SIZE];
	struct repo *repo;

	if (!resolve(session, left, from, err) || !resolve(session, dots + 2, to, err) ||
	    !session_repo(session, &repo, err))
		return false;
	if (!repo_merge_base(repo, from, to, base, err))
		return err_set(err, ERR_USAGE, "range %s: its ends have no common ancestor", word);
	if (!repo_walk(repo, from, to, oids, err))
		return false;
	if (!oids->n)
		return explain_empty(session, word, from, to, err);
	if (oids->n > RANGE_MAX)
		return err_set(err, ERR_USAGE,
			       "range %s has %zu commits, at most %d may be asked "
			       "for at once",
			       word, oids->n, RANGE_MAX);
	return true;
}

bool revision_range(struct session *session, const char *word, struct strs *oids, char **tree,
		    struct err *err)
{
	const char *dots = strstr(word, "..");
	char oid[REPO_OID_SIZE];
	struct db *db;

	if (dots && dots[2] == '.')
		return err_set(err, ERR_USAGE, "range %s: write FROM..TO with two dots", word);
	if (dots && !walk(session, word, dots, oids, err))
		return false;
	if (!dots) {
		if (!resolve(session, word, oid, err))
			return false;
		strs_push(oids, oid);
	}
	return session_db(session, &db, err) && known_commits(db, oids, tree, err);
}
