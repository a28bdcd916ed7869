// SPDX-License-Identifier: GPL-2.0-or-later
/* Results on their way. */
#include "runner/keep.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/gzip.h"
#include "base/log.h"

#define MAX_LINES ((size_t)256 << 20)
#define DISK_LOW  ((int64_t)16 << 20)

/* What a boot's outcome makes of its attempt. */
static const struct {
	const char *boot;
	const char *attempt;
} outcomes[] = {
	{"ok", "ok"},	    {"panic", "kernel"},    {"oops", "kernel"},
	{"hang", "kernel"}, {"no_boot", "kernel"},  {"wrong_kernel", "machine"},
	{"agent", "infra"}, {"machine", "machine"}, {"infra", "infra"},
};

static const char *attempt_outcome(const char *boot)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		if (!strcmp(outcomes[i].boot, boot))
			return outcomes[i].attempt;
	return "infra";
}

bool keep_write(const struct machine *m, const struct err *failure, const struct err *left,
		struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/result.json", m->worker->dir), *text = NULL;
	int64_t free_bytes = fs_free_bytes(m->worker->dir);
	bool disk_full = free_bytes >= 0 && free_bytes < DISK_LOW;
	AUTO_JSON *o = json_object();

	js_set_i64(o, "token", m->worker->lease.token);
	js_set_str(o, "nonce", m->nonce);
	js_set_str(o, "method", m->driver->method(m));
	if (failure)
		js_set_str(o, "outcome", disk_full ? "infra" : "machine");
	else
		js_set_str(o, "outcome",
			   disk_full && strcmp(m->outcome, "ok") ? "infra" : m->outcome);
	js_set_str(o, "reason", failure ? failure->msg : m->reason.len ? m->reason.s : NULL);
	js_set_str(o, "left", left ? left->msg : NULL);
	js_set_f64(o, "guest_s", m->guest_s);
	text = js_text(o);
	return fs_write_atomic(path, text, strlen(text), 0644, err);
}

/* Behind the console, which nobody writes any more; none is no error. */
static bool add_dmesg(const char *console, const char *dir, struct err *err)
{
	static const char head[] = "\n--- mmperf: the kernel's log after the run ---\n";
	AUTO_FREE char *path = xasprintf("%s/" KEEP_DMESG, dir);
	AUTO_CLOSE int fd = -1;
	AUTO_STR text = str_new();
	struct err none;

	if (!fs_read(path, MAX_LINES, &text, &none))
		return true;
	fd = open(console, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || !fs_write_fd(fd, head, strlen(head)) || !fs_write_fd(fd, text.s, text.len))
		return err_sys(err, "cannot write %s", console);
	return !unlink(path) || err_sys(err, "cannot remove %s", path);
}

/* The console as evidence, compressed; none is no error. */
static bool store_console(struct store *store, const char *dir, struct artifact *out,
			  struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/console", dir), *packed = xasprintf("%s.gz", path);

	if (!add_dmesg(path, dir, err))
		return false;
	if (!fs_exists(path))
		return true;
	return (gzip_file(path, packed, err) &&
		store_put_file(store, packed, out->sha256, &out->size, err)) ||
	       err_wrap(err, "console");
}

/* What was wrong with the lines is in the outcome; here they are read as far as they go. */
static struct collect *read_lines(const char *dir, const char *nonce)
{
	AUTO_FREE char *path = xasprintf("%s/lines", dir);
	struct collect *c = collect_new(nonce);
	AUTO_STR text = str_new();
	struct err ignored;

	if (fs_read(path, MAX_LINES, &text, &ignored) &&
	    !collect_feed(c, text.s, text.len, &ignored))
		log_debug("%s: %s", dir, ignored.msg);
	return c;
}

static bool store_kept(struct db *db, struct store *store, const char *dir, const json_t *o,
		       struct err *err)
{
	CLEANUP(collect_free_ptr) struct collect *c = NULL;
	const char *nonce, *outcome;
	struct boot_end end = {.reason = js_str_or(o, "reason", NULL),
			       .left = js_str_or(o, "left", NULL)};
	AUTO_FREE char *same_boot = NULL;
	struct result *result;

	if (!js_get_i64(o, "token", &end.token, err) || !js_get_str(o, "nonce", &nonce, err) ||
	    !js_get_str(o, "outcome", &outcome, err))
		return false;
	end.outcome = outcome;
	end.attempt_outcome = attempt_outcome(outcome);
	end.guest_s = js_f64_or(o, "guest_s", 0);
	c = read_lines(dir, nonce);
	result = collect_result(c);
	/* The running kernel has one boot_id for all its boots in our sense, and a refused kernel's
	 * may be that of a boot that counted. */
	if (!strcmp(js_str_or(o, "method", ""), "none") || !strcmp(outcome, "wrong_kernel"))
		same_boot = TAKE(result->boot_uuid);
	return store_console(store, dir, &end.console, err) && result_store(db, &end, result, err);
}

bool keep_store(struct db *db, struct store *store, const char *dir, bool *found, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/result.json", dir);
	AUTO_STR text = str_new();
	AUTO_JSON *o = NULL;
	struct err ignored;

	*found = fs_read(path, 65536, &text, &ignored);
	if (!*found)
		return true;
	if (!js_parse(text.s, text.len, &o, err))
		return err_wrap(err, "%s", path);
	if (store_kept(db, store, dir, o, err))
		return fs_remove_tree(dir, err);
	if (err->kind == ERR_CONFLICT && !fs_remove_tree(dir, &ignored))
		log_warn("%s", ignored.msg);
	return false;
}
