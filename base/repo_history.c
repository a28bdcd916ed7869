// SPDX-License-Identifier: GPL-2.0-or-later
/* Commits and ancestry. */
#include "base/repo.h"

#include <stdlib.h>
#include <string.h>

#include "base/repo_internal.h"

#define MESSAGE_ID_MAX 250

static char *clean(const char *s)
{
	AUTO_STR out = str_new();

	if (s)
		str_add_utf8(&out, s, strlen(s));
	return str_take(&out);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* It goes into mail headers, so only what RFC 5322 allows without quoting passes. */
static char *valid_message_id(const char *s, size_t n)
{
	AUTO_STR id = str_new();

	for (size_t i = 0; i < n; i++) {
		int high = i + 2 < n && s[i] == '%' ? hex_digit(s[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
		char c = low >= 0 ? (char)(high << 4 | low) : s[i];

		i += low >= 0 ? 2 : 0;
		if (c <= ' ' || c >= 0x7f || strchr("<>()[]\\,;:\"", c))
			return NULL;
		str_addc(&id, c);
	}
	if (id.len < 3 || id.len > MESSAGE_ID_MAX || !strchr(id.s + 1, '@'))
		return NULL;
	return str_take(&id);
}

static bool is_archive(const char *url)
{
	static const char *const hosts[] = {"lore.", "lkml.kernel.org/", "lkml.org/", "marc.info/",
					    "www.spinics.net/"};
	static const char *const paths[] = {"/r/", "/all/", "/linux-mm/"};
	const char *host = strstr(url, "://") + 3;

	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		if (str_starts(host, hosts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strstr(host, paths[i]))
			return true;
	return false;
}

/* The last component of the path that could be a Message-ID; /T/ and #anchors may follow it. */
static char *message_id_of_link(const char *url)
{
	const char *end = url + strcspn(url, "?# \t");

	while (end > url) {
		const char *start = end;
		char *id;

		while (start > url && start[-1] != '/')
			start--;
		id = valid_message_id(start, (size_t)(end - start));
		if (id)
			return id;
		end = start > url ? start - 1 : url;
	}
	return NULL;
}

static const char *trailer_value(const char *line, const char *name)
{
	size_t n = strlen(name);

	if (strncasecmp(line, name, n) || line[n] != ':')
		return NULL;
	return line + n + 1 + strspn(line + n + 1, " \t");
}

static void take_message_id(struct repo_commit *out, const char *value)
{
	size_t n = strcspn(value, "> \t");

	if (!out->message_id)
		out->message_id = *value == '<' ? valid_message_id(value + 1, n ? n - 1 : 0)
						: valid_message_id(value, n);
}

static void take_link(struct repo_commit *out, const char *value, char **linked_id)
{
	if (!str_starts(value, "http://") && !str_starts(value, "https://"))
		return;
	if (!out->link)
		out->link = xstrndup(value, strcspn(value, " \t"));
	if (!*linked_id && is_archive(value))
		*linked_id = message_id_of_link(value);
}

/* Trailers are the last paragraph; links above it are the author's references. */
static void read_trailers(struct repo_commit *out)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_FREE char *linked_id = NULL;
	const char *last = out->body;

	for (const char *p = out->body; (p = strstr(p, "\n\n"));)
		last = p += 2;
	strs_split(&lines, last, "\r\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *value = trailer_value(lines.v[i], "Message-ID");

		if (value)
			take_message_id(out, value);
		value = trailer_value(lines.v[i], "Link");
		if (value)
			take_link(out, value, &linked_id);
	}
	if (!out->message_id)
		out->message_id = TAKE(linked_id);
}

/* Skips lines that are blank, or those that are not. */
static const char *past_lines(const char *s, bool blank)
{
	while (*s) {
		size_t n = strcspn(s, "\n");

		if ((strspn(s, " \t\r\f\v") >= n) != blank)
			break;
		s += n + (s[n] == '\n');
	}
	return s;
}

/* As git has it. git_commit_body() takes a line of white space for text and then finds no body. */
static char *body_of(const git_commit *commit)
{
	const char *summary = past_lines(git_commit_message(commit), true);
	const char *body = past_lines(past_lines(summary, false), true);
	size_t n = strlen(body);
	AUTO_FREE char *text = NULL;

	while (n && strchr(" \t\r\n\f\v", body[n - 1]))
		n--;
	text = xstrndup(body, n);
	return clean(text);
}

bool repo_commit_read(struct repo *repo, const char *oid, struct repo_commit *out, struct err *err)
{
	CLEANUP(free_commit) git_commit *commit = NULL;
	const git_signature *author;

	if (!repo_lookup_commit(repo, oid, &commit, err))
		return false;
	author = git_commit_author(commit);
	*out = (struct repo_commit){
		.author_name = clean(author->name),
		.author_email = clean(author->email),
		.author_time_s = author->when.time,
		.commit_time_s = git_commit_time(commit),
		.subject = clean(git_commit_summary(commit)),
		.body = body_of(commit),
	};
	repo_hex(git_commit_id(commit), out->oid);
	repo_hex(git_commit_tree_id(commit), out->tree);
	for (unsigned i = 0; i < git_commit_parentcount(commit); i++) {
		char hex[REPO_OID_SIZE];

		repo_hex(git_commit_parent_id(commit, i), hex);
		strs_push(&out->parents, hex);
	}
	read_trailers(out);
	return repo_commit_paths(repo, commit, &out->paths, err);
}

void repo_commit_release(struct repo_commit *commit)
{
	strs_release(&commit->parents);
	strs_release(&commit->paths);
	free(commit->author_name);
	free(commit->author_email);
	free(commit->subject);
	free(commit->body);
	free(commit->message_id);
	free(commit->link);
	*commit = (struct repo_commit){0};
}

bool repo_merge_base(struct repo *repo, const char *a, const char *b, char oid[REPO_OID_SIZE],
		     struct err *err)
{
	git_oid ia, ib, base;
	int code;

	if (!repo_oid(a, &ia, err) || !repo_oid(b, &ib, err))
		return false;
	code = git_merge_base(&base, repo->git, &ia, &ib);
	if (code == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "%.12s and %.12s have no common ancestor in %s",
			       a, b, repo->dir);
	if (code)
		return repo_fail(err, code, "merge base of %.12s and %.12s", a, b);
	repo_hex(&base, oid);
	return true;
}

bool repo_is_ancestor(struct repo *repo, const char *ancestor, const char *of, bool *yes,
		      struct err *err)
{
	git_oid upper, lower;
	int code;

	if (!repo_oid(ancestor, &upper, err) || !repo_oid(of, &lower, err))
		return false;
	code = git_oid_equal(&upper, &lower) ? 1
					     : git_graph_descendant_of(repo->git, &lower, &upper);
	if (code < 0)
		return repo_fail(err, code, "is %.12s an ancestor of %.12s", ancestor, of);
	*yes = code == 1;
	return true;
}

static int start_walk(git_revwalk *walk, const char *from, const char *to)
{
	git_oid id;
	int code =
		git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME | GIT_SORT_REVERSE);

	if (!code && !(code = git_oid_fromstr(&id, to)))
		code = git_revwalk_push(walk, &id);
	if (!code && from && !(code = git_oid_fromstr(&id, from)))
		code = git_revwalk_hide(walk, &id);
	return code;
}

bool repo_walk(struct repo *repo, const char *from, const char *to, struct strs *oids,
	       struct err *err)
{
	CLEANUP(free_revwalk) git_revwalk *walk = NULL;
	AUTO_STRS found = STRS_INIT;
	git_oid id;
	int code = git_revwalk_new(&walk, repo->git);

	if (!code)
		code = start_walk(walk, from, to);
	while (!code && !(code = git_revwalk_next(&id, walk))) {
		char hex[REPO_OID_SIZE];

		repo_hex(&id, hex);
		strs_push(&found, hex);
	}
	if (code != GIT_ITEROVER)
		return repo_fail(err, code, "commits from %.12s to %.12s in %s",
				 from ? from : "the start", to, repo->dir);
	for (size_t i = 0; i < found.n; i++)
		strs_push(oids, found.v[i]);
	return true;
}
