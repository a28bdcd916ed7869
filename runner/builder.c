// SPDX-License-Identifier: GPL-2.0-or-later
/* Running make. */
#include "runner/builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "runner/as_user.h"
#include "runner/functions.h"
#include "runner/layout.h"
#include "runner/modules.h"

#define MAX_LOG	    ((size_t)64 << 20)
#define LINE_LENGTH 300
#define KILLED	    128 /* of an exit status: 128 + signal */
#define MODULES	    ".mmperf-modules.tar.gz"

static const struct {
	const char *machine; /* of uname */
	const char *target;
	const char *image;
} kernels[] = {
	{"x86_64", "bzImage", "arch/x86/boot/bzImage"},
	{"aarch64", "Image", "arch/arm64/boot/Image"},
};

void made_release(struct made *made)
{
	free(made->error);
	free(made->kernel);
	free(made->system_map);
	free(made->modules);
	free(made->functions);
	free(made->config);
	free(made->log);
	*made = (struct made){0};
}

static void add_plain(struct str *out, const char *s, size_t n)
{
	AUTO_STR text = str_new();

	str_add_utf8(&text, s, n < LINE_LENGTH ? n : LINE_LENGTH);
	for (char *p = text.s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	str_add(out, str_trim(text.s));
}

static bool tells_error(const char *line, size_t n)
{
	static const char *const signs[] = {"error:", "undefined reference",
					    "multiple definition of", "*** "};

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (memmem(line, n, signs[i], strlen(signs[i])))
			return true;
	return false;
}

void builder_first_error(const char *log, size_t n, struct str *line)
{
	const char *last = log;
	size_t last_n = 0;

	while (n) {
		const char *nl = memchr(log, '\n', n);
		size_t length = nl ? (size_t)(nl - log) : n;

		if (tells_error(log, length)) {
			add_plain(line, log, length);
			return;
		}
		if (length) {
			last = log;
			last_n = length;
		}
		log += length + (nl != NULL);
		n -= length + (nl != NULL);
	}
	add_plain(line, last, last_n);
}

struct maker {
	struct worktree *wt;
	const struct settings *settings;
	const char *target;
	const char *image;
	char *fragment;
	char *log;
	char *ccache_dir;
	bool ccache;
	bool modules; /* the configuration has them */
};

static void maker_release(struct maker *mk)
{
	free(mk->fragment);
	free(mk->log);
	free(mk->ccache_dir);
}

static bool find_kernel(struct maker *mk, struct err *err)
{
	struct utsname name;

	uname(&name);
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		if (!strcmp(kernels[i].machine, name.machine)) {
			mk->target = kernels[i].target;
			mk->image = kernels[i].image;
			return true;
		}
	}
	return err_set(err, ERR_FAILED, "kernels cannot be built on a host of type %s",
		       name.machine);
}

static bool prepare(struct maker *mk, struct worktree *wt, const struct build *build,
		    struct err *err)
{
	AUTO_FREE char *ccache = proc_which("ccache");

	*mk = (struct maker){.wt = wt, .settings = wt->worker->settings};
	mk->fragment = xasprintf("%s/fragment.config", wt->dir);
	mk->log = xasprintf("%s/build.log", wt->dir);
	mk->ccache_dir = xasprintf("%s/ccache", mk->settings->cache_dir);
	mk->ccache = ccache && conf_bool(mk->settings->conf, "build", NULL, "ccache");
	unlink(mk->log);
	if (!find_kernel(mk, err) || !fs_mkdirs(mk->ccache_dir, 0755, err))
		return false;
	if (!as_user_give(mk->ccache_dir, wt->user, wt->uid, wt->gid, err))
		return false;
	return fs_write_atomic(mk->fragment, build->recipe_content, strlen(build->recipe_content),
			       0644, err);
}

/* Nothing of the host, the hour or the person may reach the kernel, or the same source would not
 * give the same bytes. In-tree builds without debug information do not hold their path. */
static void push_env(const struct maker *mk, struct strs *env)
{
	strs_pushl(env, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC0",
		   "KBUILD_BUILD_TIMESTAMP=1970-01-01 00:00:00 UTC", "KBUILD_BUILD_USER=mmperf",
		   "KBUILD_BUILD_HOST=mmperf", "KBUILD_BUILD_VERSION=1", NULL);
	strs_pushf(env, "HOME=%s", mk->wt->tree);
	strs_pushf(env, "CCACHE_DIR=%s", mk->ccache_dir);
	strs_pushf(env, "KCONFIG_ALLCONFIG=%s", mk->fragment);
	strs_pushl(env, "INSTALL_MOD_PATH=" MODULES_DIR, "INSTALL_MOD_STRIP=1", NULL);
}

static int parallel_jobs(const struct maker *mk)
{
	int jobs = (int)conf_i64(mk->settings->conf, "build", NULL, "jobs");

	return jobs > 0 ? jobs : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* make of the targets, words with blanks between; *status is its exit status. */
static bool make(struct maker *mk, const char *targets, int *status, struct err *err)
{
	const char *compiler = conf_str(mk->settings->conf, "build", NULL, "compiler");
	CLEANUP(proc_spec_release)
	struct proc_spec spec = {
		.env_clear = true,
		.cwd = mk->wt->tree,
		.out_path = mk->log,
		.user = mk->wt->user,
		.no_network = true,
		.cpus = mk->wt->worker->cpus,
		.nice = 10,
		.pass_fd = mk->wt->lock_fd,
	};

	strs_push(&spec.argv, "make");
	strs_pushf(&spec.argv, "-j%d", parallel_jobs(mk));
	strs_pushl(&spec.argv, "LOCALVERSION=", NULL);
	strs_pushf(&spec.argv, "CC=%s%s", mk->ccache ? "ccache " : "", compiler);
	strs_split(&spec.argv, targets, " ");
	push_env(mk, &spec.env);
	return worker_run(mk->wt->worker, &spec,
			  conf_f64(mk->settings->conf, "build", NULL, "timeout"), status, err);
}

/* Everything that goes into the kernel is made, and gets another layout before it is linked again. Not
 * "make vmlinux.a": the kernel's Makefile takes that for one file to be made alone, and leaves an old one. */
static bool make_layout(struct maker *mk, int64_t seed, int *status, struct err *err)
{
	if (!make(mk, "vmlinux", status, err))
		return false;
	return *status != 0 || layout_spread(mk->wt, seed, mk->log, err);
}

/* A build of a stranger's Makefile may put anything at these names. */
static bool own_file(const struct worktree *wt, const char *name, char **path, struct err *err)
{
	AUTO_FREE char *found = xasprintf("%s/%s", wt->tree, name);
	struct stat st;

	if (lstat(found, &st))
		return err_sys(err, "the build made no %s", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != wt->uid)
		return err_set(err, ERR_FAILED, "the build's %s is no file of its own", name);
	*path = TAKE(found);
	return true;
}

static bool make_modules(struct maker *mk, int *status, struct err *err)
{
	if (!modules_forget(mk->wt, mk->log, err) ||
	    !make(mk, "modules_install DEPMOD=true", status, err))
		return false;
	return *status != 0 || modules_pack(mk->wt, MODULES, mk->log, err);
}

static bool make_all(struct maker *mk, const struct build *build, bool clean, int *status,
		     struct err *err)
{
	AUTO_FREE char *config = NULL, *targets = NULL;
	struct err ignored;

	*status = 0;
	if (!layout_forget(mk->wt, err))
		return false;
	if (clean && mk->wt->incremental && !make(mk, "clean", status, err))
		return false;
	if (*status == 0 && mk->wt->configure && !make(mk, "allnoconfig", status, err))
		return false;
	mk->modules = own_file(mk->wt, ".config", &config, &ignored) && modules_configured(config);
	if (*status == 0 && build->layout_seed && !make_layout(mk, build->layout_seed, status, err))
		return false;
	targets = xasprintf("vmlinux %s%s", mk->target, mk->modules ? " modules" : "");
	if (*status == 0 && !make(mk, targets, status, err))
		return false;
	if (*status == 0 && mk->modules && !make_modules(mk, status, err))
		return false;
	return *status != 0 || !build->layout_seed || layout_kept(mk->wt, err);
}

/* Beside the kernel and no part of it: without them one thing less is said. Trees of others may make no vmlinux.o. */
static void find_functions(const struct maker *mk, struct made *out)
{
	AUTO_FREE char *object = NULL, *path = xasprintf("%s/functions", mk->wt->dir);
	AUTO_STR list = str_new();
	struct err why;

	if (!own_file(mk->wt, "vmlinux.o", &object, &why))
		return;
	if (functions_list(object, &list, &why) &&
	    fs_write_atomic(path, list.s, list.len, 0644, &why))
		out->functions = TAKE(path);
	else
		log_warn("digests of functions: %s", why.msg);
}

static bool find_outputs(const struct maker *mk, struct made *out, struct err *err)
{
	AUTO_FREE char *vmlinux = NULL;

	return own_file(mk->wt, "vmlinux", &vmlinux, err) &&
	       own_file(mk->wt, mk->image, &out->kernel, err) &&
	       own_file(mk->wt, "System.map", &out->system_map, err) &&
	       own_file(mk->wt, ".config", &out->config, err) &&
	       image_identify(vmlinux, &out->identity, err) &&
	       (!mk->modules || (own_file(mk->wt, MODULES, &out->modules, err) &&
				 modules_identify(out->modules, &out->identity, err)));
}

/* The disk or the kernel's memory killer, not the source, stopped it. */
static bool not_its_fault(const struct maker *mk, int status, const struct str *log)
{
	static const char *const signs[] = {"No space left on device", "fatal error: Killed signal",
					    "Cannot allocate memory", "Disk quota exceeded"};
	int64_t free_bytes = fs_free_bytes(mk->wt->dir);

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (memmem(log->s, log->len, signs[i], strlen(signs[i])))
			return true;
	return status >= KILLED || (free_bytes >= 0 && free_bytes < (1 << 20));
}

static bool conclude(struct maker *mk, int status, struct made *out, struct err *err)
{
	AUTO_STR log = str_new(), line = str_new();
	struct err why;

	out->log = xstrdup(mk->log);
	if (status == 0) {
		out->built = find_outputs(mk, out, &why);
		if (out->built)
			find_functions(mk, out);
		else
			out->error = xstrdup(why.msg);
		return true;
	}
	if (!fs_read(mk->log, MAX_LOG, &log, err))
		return false;
	builder_first_error(log.s, log.len, &line);
	if (not_its_fault(mk, status, &log))
		return err_set(err, ERR_FAILED, "make was stopped (status %d): %s", status, line.s);
	out->error = str_take(&line);
	return true;
}

bool builder_make(struct worktree *wt, const struct build *build, bool clean, struct made *out,
		  struct err *err)
{
	CLEANUP(maker_release) struct maker mk = {0};
	CLEANUP(made_release) struct made made = {0};
	double started = clock_mono_s();
	int status;

	if (!prepare(&mk, wt, build, err) || !worktree_switch(wt, build->tree_oid, err) ||
	    !make_all(&mk, build, clean, &status, err))
		return false;
	made.incremental = wt->incremental && !clean;
	made.seconds = clock_mono_s() - started;
	if (!conclude(&mk, status, &made, err) || !worktree_settle(wt, build->tree_oid, err))
		return false;
	*out = made;
	made = (struct made){0};
	return true;
}
