// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine console: listening to a machine's serial line. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/gzip.h"
#include "base/store.h"
#include "cli/machine_guard.h"
#include "cli/machine_verbs.h"
#include "cli/session.h"
#include "cli/stop.h"
#include "db/machine.h"
#include "runner/console.h"
#include "runner/console_record.h"
#include "runner/console_source.h"

#define LOOK_S	     0.2
#define LEASE_LOOK_S 2.0
/* Connecting takes a BMC some seconds, and ending a dead client's session before that more. */
#define CONNECT_S    40.0
#define MAX_CONSOLE  ((size_t)256 << 20)
#define SYSRQ_MAX    ((size_t)1 << 20)
#define SYSRQ_LOOK_S 3.0

static void print(char *bytes, size_t n)
{
	if (isatty(STDOUT_FILENO))
		console_plain(bytes, n);
	fwrite(bytes, 1, n, stdout);
	fflush(stdout);
}

static bool copy_new(int fd, struct err *err)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		print(buf, (size_t)n);
	return n == 0 || err_sys(err, "cannot read the console");
}

static bool lease_lives(struct db *db, const char *machine, int64_t token, bool *lives,
			struct err *err)
{
	AUTO_FREE char *state = NULL;
	int64_t now;

	if (!machine_holder(db, machine, &state, &now, err))
		return false;
	*lives = now == token;
	return true;
}

/* A serial line has one reader: while a boot has it, its record is read instead. */
static bool follow_boot(struct db *db, const char *machine, int64_t token, const char *path,
			struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	double look_at_s = 0;
	bool lives = true;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_USAGE,
			       "machine %s is being booted from another host, or its boot has not "
			       "opened the console yet",
			       machine);
	if (fd < 0)
		return err_sys(err, "cannot read %s", path);
	while (lives && !*stop_flag()) {
		if (!copy_new(fd, err))
			return false;
		clock_sleep_s(LOOK_S);
		if (clock_mono_s() < look_at_s)
			continue;
		look_at_s = clock_mono_s() + LEASE_LOOK_S;
		if (!lease_lives(db, machine, token, &lives, err))
			return false;
	}
	return copy_new(fd, err);
}

static bool listen_to(struct session *session, const char *machine, struct err *err)
{
	AUTO_FREE char *state = NULL, *path = NULL;
	const struct settings *settings;
	struct db *db;
	int64_t token;
	bool set;

	if (!session_settings(session, &settings, err) ||
	    !console_check(settings, machine, &set, err) || !session_db(session, &db, err) ||
	    !machine_holder(db, machine, &state, &token, err))
		return false;
	stop_on_signals();
	if (!token)
		return console_record(settings, machine, NULL, -1, stop_flag(), err);
	path = xasprintf("%s/attempts/%lld/console", settings->state_dir, (long long)token);
	return follow_boot(db, machine, token, path, err);
}

static bool print_last(struct session *session, const char *machine, struct err *err)
{
	AUTO_FREE char *dir = NULL, *sha256 = NULL, *outcome = NULL, *path = NULL;
	CLEANUP(store_free_ptr) struct store *store = NULL;
	const struct settings *settings;
	AUTO_STR text = str_new();
	struct db *db;

	if (!session_settings(session, &settings, err) || !session_db(session, &db, err) ||
	    !machine_last_console(db, machine, &sha256, &outcome, err))
		return false;
	dir = settings_path(settings, "artifacts");
	if (!store_open(dir, &store, err) || !store_get(store, sha256, &path, err) ||
	    !gzip_read(path, MAX_CONSOLE, &text, err))
		return false;
	print(text.s, text.len);
	fprintf(stderr, "mmperf: this boot ended as %s\n", outcome);
	return true;
}

/* The recorder connects by itself; until then it says that it is not connected. */
static bool send_when_connected(struct console_source *c, const char *keys, struct err *err)
{
	double end = clock_mono_s() + CONNECT_S;

	while (!console_source_sysrq(c, *keys, err)) {
		if (err->kind != ERR_FAILED || clock_mono_s() > end || *stop_flag())
			return false;
		clock_sleep_s(LOOK_S);
	}
	while (*++keys)
		if (!console_source_sysrq(c, *keys, err))
			return false;
	return true;
}

static bool send_keys(const struct settings *settings, const char *machine, const char *dir,
		      const char *keys, struct err *err)
{
	CLEANUP(console_source_free_ptr) struct console_source *c = NULL;
	AUTO_FREE char *path = xasprintf("%s/console", dir);
	AUTO_STR answer = str_new();
	size_t cursor = 0;

	if (!console_source_open(settings, machine, path, &c, err) ||
	    !send_when_connected(c, keys, err))
		return false;
	clock_sleep_s(SYSRQ_LOOK_S);
	if (!console_source_read(c, &cursor, SYSRQ_MAX, &answer, err))
		return false;
	print(answer.s, answer.len);
	return true;
}

static bool sysrq(struct session *session, const char *machine, const char *keys, struct err *err)
{
	char dir[] = "/tmp/mmperf-console.XXXXXX";
	struct machine_owner owner = {.machine = machine};
	const struct settings *settings;
	struct err ignored;
	bool ok;

	if (!session_settings(session, &settings, err) || !session_db(session, &owner.db, err) ||
	    !machine_is_ours(&owner, 0, err))
		return false;
	if (!mkdtemp(dir))
		return err_sys(err, "cannot make a directory in /tmp");
	stop_on_signals();
	ok = send_keys(settings, machine, dir, keys, err);
	if (!fs_remove_tree(dir, &ignored))
		fprintf(stderr, "mmperf: %s\n", ignored.msg);
	return ok;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	const char *keys = NULL;
	bool last = false;
	const struct opt opts[] = {
		{0, "sysrq", OPT_STRING, &keys, "KEYS",
		 "send a break and each of these keys, and print what comes"},
		{0, "last", OPT_FLAG, &last, NULL, "what its last boot has kept"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &machine_console, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	if (help)
		return true;
	if (keys && !*keys)
		return err_set(err, ERR_USAGE, "machine console: --sysrq wants keys, such as b");
	if (last)
		return print_last(session, words.v[0], err);
	return keys ? sysrq(session, words.v[0], keys, err) : listen_to(session, words.v[0], err);
}

const struct command machine_console = {
	.name = "machine console",
	.summary = "listen to its console",
	.usage = "NAME [--sysrq KEYS | --last]",
	.about = "Prints what comes until interrupted; while a boot has the console, what the boot "
		 "records of it.\n"
		 "--last prints what the last finished boot has kept.\n"
		 "--sysrq wants the machine to be out of service (`mmperf machines offline NAME`).",
	.run = run,
};
