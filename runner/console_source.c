// SPDX-License-Identifier: GPL-2.0-or-later
/* Our end of a recorded console. */
#include "runner/console_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "runner/console_record.h"

/* The recorder drains a line for 2 s at most and connects within 10 s. */
#define ANSWER_S 20.0

struct console_source {
	char *machine;
	char *path;
	int control;
	int file;
	struct proc proc;
};

static bool recorder_path(char **out, struct err *err)
{
	static const char *const places[] = {"mmperf-runner", "../mmperf-runner"};
	AUTO_FREE char *dir = proc_self_dir();

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", dir, places[i]);

		if (fs_exists(path)) {
			*out = TAKE(path);
			return true;
		}
	}
	return err_set(err, ERR_FAILED,
		       "mmperf-runner is not in %s: install it beside this program", dir);
}

static bool start(struct console_source *c, const struct settings *settings, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_CLOSE int theirs = -1;
	AUTO_FREE char *exe = NULL, *log = xasprintf("%s.log", c->path);
	int ends[2];

	if (!recorder_path(&exe, err))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, "cannot make a socket pair");
	c->control = ends[0];
	theirs = ends[1];
	spec.out_path = log;
	spec.pass_fd = theirs;
	strs_pushl(&spec.argv, exe, "--config", conf_path(settings->conf), "--console", c->machine,
		   "--to", c->path, NULL);
	return proc_start(&spec, &c->proc, err);
}

bool console_source_open(const struct settings *settings, const char *machine, const char *path,
			 struct console_source **out, struct err *err)
{
	CLEANUP(console_source_free_ptr) struct console_source *c = NULL;
	bool set;

	*out = NULL;
	if (!console_check(settings, machine, &set, err))
		return false;
	if (!set)
		return true;
	c = xcalloc(1, sizeof(*c));
	*c = (struct console_source){.machine = xstrdup(machine),
				     .path = xstrdup(path),
				     .control = -1,
				     .proc = PROC_NONE};
	c->file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (c->file < 0)
		return err_sys(err, "cannot open %s", path);
	if (!start(c, settings, err))
		return err_wrap(err, "console of machine %s", machine);
	*out = TAKE(c);
	return true;
}

void console_source_free(struct console_source *c)
{
	if (!c)
		return;
	mem_close_ptr(&c->control);
	proc_release(&c->proc);
	mem_close_ptr(&c->file);
	free(c->machine);
	free(c->path);
	free(c);
}

void console_source_free_ptr(struct console_source **c)
{
	console_source_free(*c);
}

/* The recorder's own last words, when it is no more. */
static bool gone(struct console_source *c, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s.log", c->path);
	AUTO_STR log = str_new();
	struct err ignored;

	if (!fs_read(path, 65536, &log, &ignored))
		str_clear(&log);
	return err_set(err, ERR_FAILED, "the recorder of %s's console has ended: %s", c->machine,
		       str_trim(log.s));
}

static bool understand(struct console_source *c, const char *text, size_t *position,
		       struct err *err)
{
	unsigned long long number;
	char *end;

	if (str_starts(text, "ok ")) {
		number = strtoull(text + 3, &end, 10);
		if (position)
			*position = (size_t)number;
		return true;
	}
	if (!str_starts(text, "no "))
		return err_set(err, ERR_FAILED, "console of %s: the recorder says \"%s\"",
			       c->machine, text);
	number = strtoull(text + 3, &end, 10);
	return err_set(err, (enum err_kind)number, "console of %s: %s", c->machine,
		       *end ? end + 1 : end);
}

static bool ask(struct console_source *c, const char *order, size_t *position, struct err *err)
{
	struct pollfd p = {.fd = c->control, .events = POLLIN};
	char answer[sizeof(err->msg) + 64];
	ssize_t n;

	if (send(c->control, order, strlen(order), MSG_NOSIGNAL) < 0)
		return gone(c, err);
	if (poll(&p, 1, (int)(ANSWER_S * 1000)) == 0)
		return err_set(err, ERR_TIMEOUT, "console of %s: the recorder does not answer",
			       c->machine);
	n = recv(c->control, answer, sizeof(answer) - 1, MSG_DONTWAIT);
	if (n <= 0)
		return gone(c, err);
	answer[n] = '\0';
	return understand(c, answer, position, err);
}

bool console_source_mark(struct console_source *c, const char *what, size_t *cursor,
			 struct err *err)
{
	AUTO_FREE char *order = NULL;

	if (!c) {
		*cursor = 0;
		return true;
	}
	order = xasprintf("mark %.400s", what);
	return ask(c, order, cursor, err);
}

bool console_source_read(struct console_source *c, size_t *cursor, size_t max, struct str *out,
			 struct err *err)
{
	char buf[65536];

	while (c && max) {
		size_t want = max < sizeof(buf) ? max : sizeof(buf);
		ssize_t n = pread(c->file, buf, want, (off_t)*cursor);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read %s", c->path);
		if (n == 0)
			break;
		str_addn(out, buf, (size_t)n);
		*cursor += (size_t)n;
		max -= (size_t)n;
	}
	return true;
}

bool console_source_sysrq(struct console_source *c, char key, struct err *err)
{
	const char order[] = {'s', 'y', 's', 'r', 'q', ' ', key, '\0'};

	if (!c)
		return err_set(err, ERR_NOTFOUND, "the machine has no console");
	return ask(c, order, NULL, err);
}
