// SPDX-License-Identifier: GPL-2.0-or-later
/* Children of the daemon. */
#include "runner/children.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "runner/console.h"

#define MAX_OUTPUT ((size_t)1 << 20)
#define GRACE_S	   10.0

static void push_self(const struct children *children, struct strs *argv)
{
	const char *config = conf_path(children->settings->conf);

	strs_push(argv, "/proc/self/exe");
	if (config)
		strs_pushl(argv, "--config", config, NULL);
}

static bool launch(struct children *children, struct proc_spec *spec, struct child *fresh,
		   struct err *err)
{
	AUTO_FREE char *dir = settings_path(children->settings, "attempts");
	bool ok;

	spec->out_path = fresh->output;
	spec->pass_fd = children->lock_fd;
	spec->keep_rights = true;
	ok = fs_mkdirs(dir, 0755, err) && proc_start(spec, &fresh->proc, err);
	if (ok)
		*array_push(children->v, children->n, children->cap) = *fresh;
	else
		child_release(fresh);
	return ok;
}

bool children_start_job(struct children *children, const struct host *host,
			const struct job_lease *lease, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	bool boot = !strcmp(lease->job.kind, "boot");
	struct child fresh = {
		.proc = PROC_NONE,
		.attempt = lease->attempt,
		.token = lease->token,
		.what = xasprintf("job %lld (%s)%s%s", (long long)lease->job.id, lease->job.key,
				  boot ? " on " : "", boot ? lease->machine_name : ""),
		.output = xasprintf("%s/attempts/%lld.out", children->settings->state_dir,
				    (long long)lease->token),
		.builds = !boot,
		.keeps_busy = boot && host_keeps_busy(host, lease->machine_name),
	};

	push_self(children, &spec.argv);
	strs_push(&spec.argv, "--job");
	strs_pushf(&spec.argv, "%lld", (long long)lease->attempt);
	strs_push(&spec.argv, "--token");
	strs_pushf(&spec.argv, "%lld", (long long)lease->token);
	return launch(children, &spec, &fresh, err);
}

bool children_start_follow(struct children *children, const char *tree, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	struct child fresh = {
		.proc = PROC_NONE,
		.tree = xstrdup(tree),
		.what = xasprintf("fetch of %s", tree),
	};

	push_self(children, &spec.argv);
	strs_pushl(&spec.argv, "--follow", tree, NULL);
	return launch(children, &spec, &fresh, err);
}

bool children_ended(struct children *children, struct child *out)
{
	for (size_t i = 0; i < children->n; i++) {
		struct child *c = &children->v[i];

		if (!proc_wait(&c->proc, 0, &c->status))
			continue;
		*out = *c;
		memmove(c, c + 1, (children->n - i - 1) * sizeof(*c));
		children->n--;
		return true;
	}
	return false;
}

void child_release(struct child *child)
{
	proc_kill(&child->proc, 0);
	if (child->output)
		unlink(child->output);
	free(child->tree);
	free(child->what);
	free(child->output);
	*child = (struct child){.proc = PROC_NONE};
}

struct host_load children_load(const struct children *children)
{
	struct host_load load = {0};

	for (size_t i = 0; i < children->n; i++) {
		load.builds += children->v[i].builds;
		load.boots += children->v[i].keeps_busy;
	}
	return load;
}

bool children_follow(const struct children *children, const char *tree)
{
	for (size_t i = 0; i < children->n; i++)
		if (children->v[i].tree && !strcmp(children->v[i].tree, tree))
			return true;
	return false;
}

void children_stop(struct children *children)
{
	for (size_t i = 0; i < children->n; i++)
		kill(children->v[i].proc.pid, SIGTERM);
	for (size_t i = 0; i < children->n; i++) {
		if (!proc_wait(&children->v[i].proc, GRACE_S, &children->v[i].status))
			proc_kill(&children->v[i].proc, 0);
		free(child_last_words(&children->v[i]));
		child_release(&children->v[i]);
	}
	free(children->v);
	children->v = NULL;
	children->n = 0;
}

char *child_last_words(const struct child *child)
{
	AUTO_STR text = str_new(), line = str_new();
	struct err ignored;

	if (!child->output || !fs_read(child->output, MAX_OUTPUT, &text, &ignored))
		return xstrdup("");
	fwrite(text.s, 1, text.len, stderr);
	console_last_line(text.s, text.len, &line);
	return str_take(&line);
}
