// SPDX-License-Identifier: GPL-2.0-or-later
/* Doing one job. */
#include "runner/jobmain.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "db/build.h"
#include "db/result.h"
#include "runner/buildcache.h"
#include "runner/host.h"
#include "runner/keep.h"

/* How long a result waits here for the database; the daemon waits on, with what was kept. */
#define STORE_PATIENCE_S 600.0
#define STORE_RETRY_S	 2.0
#define STORE_LOOK_S	 0.1

bool job_agent_path(char **out, struct err *err)
{
	static const char *const places[] = {"mmperf-agent", "bench/mmperf-agent"};
	AUTO_FREE char *dir = proc_self_dir();

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", dir, places[i]);

		if (fs_exists(path)) {
			*out = TAKE(path);
			return true;
		}
	}
	return err_set(err, ERR_FAILED, "mmperf-agent is not in %s: install it beside this program",
		       dir);
}

/* Worth waiting for however long: somebody will make room. */
static bool is_disk_full(const struct err *err)
{
	return strstr(err->msg, "o space left on device") != NULL;
}

/* The lease has to hold meanwhile: who loses it has its result thrown away. */
static bool wait_to_retry(struct worker *w, struct err *err)
{
	double end = clock_mono_s() + STORE_RETRY_S;

	while (clock_mono_s() < end) {
		if (!worker_tick(w, err))
			return false;
		clock_sleep_s(STORE_LOOK_S);
	}
	return true;
}

/* Calls store(arg) until it succeeds, fails for good, or patience with the database is over. */
static bool with_patience(struct worker *w,
			  bool (*store)(struct worker *w, void *arg, struct err *err), void *arg,
			  struct err *err)
{
	double end = clock_mono_s() + STORE_PATIENCE_S;

	for (bool said = false;; said = true) {
		if (!worker_connect(w, end - clock_mono_s(), err))
			return false;
		if (store(w, arg, err))
			return true;
		if (is_disk_full(err))
			end = clock_mono_s() + STORE_PATIENCE_S;
		else if (err->kind != ERR_DBDOWN || clock_mono_s() > end)
			return false;
		if (w->stop && *w->stop)
			return false;
		if (err->kind == ERR_DBDOWN)
			db_close(TAKE(w->db));
		if (!said)
			log_warn("attempt %lld: its result waits: %s", (long long)w->lease.attempt,
				 err->msg);
		if (!wait_to_retry(w, err))
			return false;
	}
}

struct verdict {
	const char *outcome;
	const char *error;
};

static bool finish(struct worker *w, void *arg, struct err *err)
{
	const struct verdict *v = arg;

	return job_finish(w->db, w->lease.token, v->outcome, v->error, err);
}

/* Ends the attempt without a result. */
static bool end_attempt(struct worker *w, const char *outcome, const char *error, struct err *err)
{
	struct verdict v = {outcome, error};

	return with_patience(w, finish, &v, err);
}

/* Builds -------------------------------------------------------------------------------------------- */

struct build_outcome {
	const struct build *build;
	const struct made *made;
};

static bool put(struct worker *w, const char *path, struct artifact *out, struct err *err)
{
	return !path || store_put_file(w->store, path, out->sha256, &out->size, err);
}

static bool store_build(struct worker *w, void *arg, struct err *err)
{
	const struct build_outcome *o = arg;
	const struct made *made = o->made;
	struct build_result result = {
		.built = made->built,
		.error = made->error,
		.content_hash = made->identity.content_hash,
		.build_id = made->identity.build_id,
		.incremental = made->incremental,
		.seconds = made->seconds,
	};
	CLEANUP(db_tx_end) struct db *tx = NULL;

	if (made->built && (!put(w, made->kernel, &result.kernel, err) ||
			    !put(w, made->system_map, &result.system_map, err) ||
			    !put(w, made->modules, &result.modules, err) ||
			    !put(w, made->functions, &result.functions, err) ||
			    !put(w, made->config, &result.config, err)))
		return false;
	return put(w, made->log, &result.log, err) && db_tx_begin(w->db, &tx, err) &&
	       build_store(w->db, o->build->id, &result, err) &&
	       job_finish(w->db, w->lease.token, "ok", NULL, err) && db_tx_commit(&tx, err);
}

static bool enough_space(struct worker *w, struct err *err)
{
	int64_t wanted = conf_i64(w->settings->conf, "build", NULL, "min-free"), has;

	if (!fs_mkdirs(w->settings->cache_dir, 0755, err) ||
	    !buildcache_shrink(w->settings, wanted, err))
		return false;
	has = fs_free_bytes(w->settings->cache_dir);
	if (has < 0 || has >= wanted)
		return true;
	return err_set(err, ERR_FAILED,
		       "%s has %lld MiB free and a build wants %lld: no space left on device; make "
		       "room, or lower [build] min-free",
		       w->settings->cache_dir, (long long)(has >> 20), (long long)(wanted >> 20));
}

static bool build_anew(struct worker *w, const struct build *build, bool clean, struct made *made,
		       struct worktree *wt, struct err *err)
{
	struct err why;

	if (!enough_space(w, err) || !worktree_open(wt, w, build, err) ||
	    !builder_make(wt, build, clean, made, err))
		return false;
	if (!clean && !buildcache_put(w->settings, build, made, &why))
		log_warn("build %lld: not kept in the cache: %s", (long long)build->id, why.msg);
	return true;
}

static bool do_build(struct worker *w, struct err *err)
{
	CLEANUP(worktree_release) struct worktree wt = {.lock_fd = -1};
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(made_release) struct made made = {0};
	struct build_outcome outcome = {&build, &made};
	bool hit;

	if (!build_read(w->db, w->lease.job.build, &build, err))
		return false;
	if (strcmp(build.outcome, "pending") != 0)
		return end_attempt(w, "ok", NULL, err);
	if (!buildcache_get(w->settings, &build, &made, &hit, err))
		return false;
	if (!hit && !build_anew(w, &build, false, &made, &wt, err))
		return false;
	log_info("build %lld: commit %.12s: %s%s in %.0f s%s%s%s", (long long)build.id,
		 build.commit_oid, made.built ? "built" : "does not compile",
		 made.incremental ? ", incrementally," : "", made.seconds,
		 hit ? " once; taken from the cache" : "", made.built ? "" : ": ",
		 made.built ? "" : made.error);
	return with_patience(w, store_build, &outcome, err);
}

/* Older builds have no digests of their functions yet. */
static bool store_verified(struct worker *w, void *arg, struct err *err)
{
	const struct build_outcome *o = arg;
	struct artifact functions = {0};
	CLEANUP(db_tx_end) struct db *tx = NULL;

	return put(w, o->made->functions, &functions, err) && db_tx_begin(w->db, &tx, err) &&
	       build_verified(w->db, o->build->id, &functions, err) &&
	       job_finish(w->db, w->lease.token, "ok", NULL, err) && db_tx_commit(&tx, err);
}

static bool do_rebuild(struct worker *w, struct err *err)
{
	CLEANUP(worktree_release) struct worktree wt = {.lock_fd = -1};
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(made_release) struct made made = {0};
	struct build_outcome outcome = {&build, &made};

	if (!build_read(w->db, w->lease.job.build, &build, err))
		return false;
	if (!build.content_hash)
		return err_set(err, ERR_FAILED, "build %lld has no image to compare with",
			       (long long)build.id);
	if (!build_anew(w, &build, true, &made, &wt, err))
		return false;
	if (made.built && !strcmp(made.identity.content_hash, build.content_hash))
		return with_patience(w, store_verified, &outcome, err);
	log_error("build %lld: a clean build of %.12s %s", (long long)build.id, build.commit_oid,
		  made.built ? "gives another kernel" : "fails");
	return end_attempt(w, "kernel",
			   made.built
				   ? "a clean build gives another kernel than the incremental one"
				   : made.error,
			   err);
}

/* Boots --------------------------------------------------------------------------------------------- */

static json_t *passes_of(const json_t *definition)
{
	json_t *passes = json_object_get(definition, "passes");

	if (json_array_size(passes))
		return json_incref(passes);
	return json_pack("[ss]", "clean", "instrumented");
}

static json_t *params_of(const json_t *definition)
{
	json_t *params = json_object_get(definition, "params");

	return json_is_object(params) ? json_incref(params) : json_object();
}

static bool agent_job(struct worker *w, json_t **out, struct err *err)
{
	json_t *suites = json_array();
	AUTO_JSON *list = NULL;
	size_t i;
	json_t *item;

	*out = json_object();
	js_set_new(*out, "suites", suites);
	if (!machine_add_knobs(w->settings->conf, w->lease.machine_name, *out, err) ||
	    !suite_definitions(w->db, w->lease.job.suites, w->lease.job.n_suites, &list, err))
		return false;
	json_array_foreach(list, i, item)
	{
		const json_t *definition = json_object_get(item, "definition");
		json_t *o = json_object();

		js_set_i64(o, "seq", (int64_t)i);
		js_set_str(o, "suite", js_str_or(item, "name", ""));
		js_set_str(o, "benchmark", js_str_or(definition, "benchmark", ""));
		js_set_new(o, "passes", passes_of(definition));
		js_set_new(o, "params", params_of(definition));
		json_array_append_new(suites, o);
	}
	return true;
}

/* A boot that has ended. */
struct booted {
	const struct machine *m;
	const struct err *failure; /* of the machine; NULL = none */
	const struct err
		*left; /* it did not come home behind a result that counts; NULL = it did */
	bool kept;
};

static bool store_boot(struct worker *w, void *arg, struct err *err)
{
	struct booted *boot = arg;
	const struct machine *m = boot->m;
	bool found;

	if (!boot->kept && !keep_write(m, boot->failure, boot->left, err))
		return false;
	boot->kept = true;
	if (!keep_store(w->db, w->store, m->worker->dir, &found, err))
		return false;
	return found || err_set(err, ERR_FAILED, "the boot's result is gone from %s", w->dir);
}

/* A lease that was lost or a stop is no result of the machine. */
static bool is_over(const struct worker *w, const struct err *err)
{
	return err->kind == ERR_CONFLICT || (w->stop && *w->stop);
}

/* Brings the machine home. A result that counts is safe before that, and counts whatever becomes of the machine; what a
 * kernel did wrong is its fault only when the machine comes back. */
static bool come_home(struct worker *w, struct machine *m, struct booted *boot, struct err *why)
{
	bool ok = !boot->failure, counts = ok && !strcmp(m->outcome, "ok");
	struct err again;

	if (counts && !keep_write(m, NULL, NULL, &again))
		log_warn("attempt %lld: its result cannot be kept yet: %s",
			 (long long)w->lease.attempt, again.msg);
	if (machine_recover(m, &again))
		return ok;
	if (!counts) {
		*why = ok ? again : *why;
		boot->failure = why;
		return false;
	}
	log_warn("machine %s: its result counts, but it is not back: %s", m->name, again.msg);
	if (!is_over(w, &again) && again.kind != ERR_DBDOWN) {
		*why = again;
		boot->left = why;
	}
	return true;
}

static bool boot_and_store(struct worker *w, struct machine *m, struct err *err)
{
	struct err why = {0};
	struct booted boot = {.m = m};
	bool ok;

	if (!machine_boot(m, &why))
		boot.failure = &why;
	ok = come_home(w, m, &boot, &why);
	if (!ok && is_over(w, &why)) {
		*err = why;
		return false;
	}
	log_info("boot of attempt %lld on %s: %s%s%s, %.1f s", (long long)w->lease.attempt, m->name,
		 ok ? m->outcome : "the machine failed", !ok || m->reason.len ? ": " : "",
		 ok ? m->reason.s : why.msg, m->guest_s);
	return with_patience(w, store_boot, &boot, err);
}

static bool find_driver(struct worker *w, const struct machine_driver **driver, struct err *err)
{
	const char *name = w->lease.machine_name;

	if (!name || !conf_has(w->settings->conf, "machine", name))
		return err_set(err, ERR_FAILED, "machine %s is not in the settings",
			       name ? name : "(none)");
	return machine_driver_find(conf_str(w->settings->conf, "machine", name, "driver"), driver,
				   err);
}

static bool do_boot(struct worker *w, struct err *err)
{
	AUTO_FREE char *kernel = NULL, *modules = NULL, *agent = NULL;
	CLEANUP(image_release) struct image image = {0};
	const struct machine_driver *driver = NULL;
	json_t *job = NULL;
	struct machine m;
	bool ok;

	if (!find_driver(w, &driver, err) || !job_agent_path(&agent, err))
		return false;
	if (w->lease.job.image &&
	    (!image_read(w->db, w->lease.job.image, &image, err) ||
	     !store_get(w->store, image.kernel_sha256, &kernel, err) ||
	     (image.modules_sha256 && !store_get(w->store, image.modules_sha256, &modules, err))))
		return false;
	if (!agent_job(w, &job, err)) {
		json_decref(job);
		return false;
	}
	machine_init(&m, w, driver, job);
	m.kernel = kernel;
	m.modules = modules;
	m.build_id = image.build_id;
	m.agent = agent;
	ok = boot_begin(w->db, w->lease.attempt, w->lease.machine, w->lease.job.image,
			driver->method(&m), err) &&
	     boot_and_store(w, &m, err);
	machine_release(&m);
	return ok;
}

static const struct {
	const char *kind;
	bool (*run)(struct worker *w, struct err *err);
} kinds[] = {
	{"boot", do_boot},
	{"build", do_build},
	{"rebuild", do_rebuild},
};

static bool do_job(struct worker *w, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, w->lease.job.kind))
			return kinds[i].run(w, err);
	return err_set(err, ERR_FAILED, "jobs of kind %s are not known to this program",
		       w->lease.job.kind);
}

/* The attempt ends as what stopped it; a kept result stays for a later try. */
static bool give_up(struct worker *w, const struct err *why, struct err *err)
{
	AUTO_FREE char *kept = xasprintf("%s/result.json", w->dir);
	bool stopped = w->stop && *w->stop;
	const char *outcome = stopped || why->kind == ERR_CONFLICT ? "lost" : "infra";

	*err = *why;
	if (fs_exists(kept) || !w->db || !w->lease.job.key)
		return false;
	if (!strcmp(outcome, "lost"))
		log_info("attempt %lld (%s): %s", (long long)w->lease.attempt, w->lease.job.key,
			 why->msg);
	else
		log_warn("attempt %lld (%s): %s", (long long)w->lease.attempt, w->lease.job.key,
			 why->msg);
	if (!job_finish(w->db, w->lease.token, outcome, why->msg, err))
		return false;
	return fs_remove_tree(w->dir, err);
}

bool job_main(const struct settings *settings, int64_t attempt, int64_t token, const int *stop,
	      struct err *err)
{
	CLEANUP(worker_release) struct worker w = {0};
	CLEANUP(host_release) struct host host = {0};
	struct err why = {0};

	host_init(&host, settings);
	if (!worker_open(&w, settings, attempt, token, stop, &why))
		return give_up(&w, &why, err);
	w.cpus = host_cpus_for(&host, w.lease.machine_name);
	if (!do_job(&w, &why))
		return give_up(&w, &why, err);
	return fs_remove_tree(w.dir, err);
}
