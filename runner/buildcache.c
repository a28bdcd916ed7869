// SPDX-License-Identifier: GPL-2.0-or-later
/* Finished builds on disk. */
#include "runner/buildcache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/js.h"

#define MAX_META 65536

static char *cache_dir(const struct settings *settings)
{
	return xasprintf("%s/builds", settings->cache_dir);
}

static char *entry_dir(const struct settings *settings, const struct build *build)
{
	AUTO_FREE char *text = xasprintf("%s\n%s\n%lld\n%s", build->tree_oid, build->toolchain_hash,
					 (long long)build->layout_seed, build->recipe_content);
	char key[HASH_HEX_SIZE];

	hash_of(text, strlen(text), key);
	return xasprintf("%s/builds/%s", settings->cache_dir, key);
}

/* The files of an entry: name there, and where made keeps the path. */
struct part {
	const char *name;
	char **path;
};

#define PARTS(made)                                                                     \
	{                                                                               \
		{"kernel", &(made)->kernel}, {"system-map", &(made)->system_map},       \
			{"modules", &(made)->modules}, {"config", &(made)->config},     \
			{"build-log", &(made)->log}, {"functions", &(made)->functions}, \
	}

static bool read_meta(const char *dir, json_t **out)
{
	AUTO_FREE char *path = xasprintf("%s/meta.json", dir);
	AUTO_STR text = str_new();
	struct err ignored;

	return fs_read(path, MAX_META, &text, &ignored) &&
	       js_parse(text.s, text.len, out, &ignored);
}

static bool parts_intact(const char *dir, const json_t *meta, struct made *made)
{
	const struct part parts[] = PARTS(made);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *wanted = js_str_or(meta, parts[i].name, NULL);
		char found[HASH_HEX_SIZE];
		struct err ignored;

		if (!wanted)
			continue;
		*parts[i].path = xasprintf("%s/%s", dir, parts[i].name);
		if (!hash_file(*parts[i].path, found, &ignored) || strcmp(found, wanted) != 0)
			return false;
	}
	return true;
}

bool buildcache_get(const struct settings *settings, const struct build *build, struct made *out,
		    bool *hit, struct err *err)
{
	AUTO_FREE char *dir = entry_dir(settings, build);
	CLEANUP(made_release) struct made made = {0};
	AUTO_JSON *meta = NULL;

	*hit = false;
	if (!read_meta(dir, &meta))
		return true;
	made.built = js_bool_or(meta, "built", false);
	made.error = xstrdup_null(js_str_or(meta, "error", NULL));
	made.incremental = js_bool_or(meta, "incremental", false);
	made.seconds = js_f64_or(meta, "seconds", 0);
	snprintf(made.identity.content_hash, sizeof(made.identity.content_hash), "%s",
		 js_str_or(meta, "content_hash", ""));
	snprintf(made.identity.build_id, sizeof(made.identity.build_id), "%s",
		 js_str_or(meta, "build_id", ""));
	if (!parts_intact(dir, meta, &made))
		return fs_remove_tree(dir, err);
	/* The age of an entry is that of its last use. */
	utimensat(AT_FDCWD, dir, NULL, 0);
	*out = made;
	made = (struct made){0};
	*hit = true;
	return true;
}

static bool copy_parts(const char *dir, const struct made *made, json_t *meta, struct err *err)
{
	const struct part parts[] = PARTS((struct made *)made);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", dir, parts[i].name);
		char hash[HASH_HEX_SIZE];

		if (!*parts[i].path)
			continue;
		if (!fs_copy(*parts[i].path, path, 0644, err) || !hash_file(path, hash, err))
			return false;
		js_set_str(meta, parts[i].name, hash);
	}
	return true;
}

static bool write_entry(const char *dir, const struct made *made, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/meta.json", dir), *text = NULL;
	AUTO_JSON *meta = json_object();

	js_set_bool(meta, "built", made->built);
	js_set_bool(meta, "incremental", made->incremental);
	js_set_f64(meta, "seconds", made->seconds);
	js_set_str(meta, "error", made->error);
	if (made->built) {
		js_set_str(meta, "content_hash", made->identity.content_hash);
		js_set_str(meta, "build_id", made->identity.build_id);
	}
	if (!copy_parts(dir, made, meta, err))
		return false;
	text = js_text(meta);
	return fs_write_atomic(path, text, strlen(text), 0644, err);
}

bool buildcache_put(const struct settings *settings, const struct build *build,
		    const struct made *made, struct err *err)
{
	AUTO_FREE char *dir = entry_dir(settings, build);
	AUTO_FREE char *fresh = xasprintf("%s.%d", dir, (int)getpid());
	struct err ignored;

	if (!fs_mkdirs(fresh, 0755, err))
		return false;
	if (!write_entry(fresh, made, err) || !fs_remove_tree(dir, err)) {
		if (!fs_remove_tree(fresh, &ignored))
			return false;
		return false;
	}
	if (rename(fresh, dir))
		return err_sys(err, "cannot rename %s", fresh);
	return true;
}

static char *oldest_entry(const char *dir)
{
	DIR *d = opendir(dir);
	AUTO_FREE char *oldest = NULL;
	struct timespec least = {0};
	struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = xasprintf("%s/%s", dir, e->d_name);
		struct stat st;

		if (e->d_name[0] == '.' || lstat(path, &st))
			continue;
		if (!oldest || st.st_mtim.tv_sec < least.tv_sec) {
			free(oldest);
			oldest = TAKE(path);
			least = st.st_mtim;
		}
	}
	if (d)
		closedir(d);
	return TAKE(oldest);
}

bool buildcache_shrink(const struct settings *settings, int64_t min_free, struct err *err)
{
	AUTO_FREE char *dir = cache_dir(settings);
	char *oldest;

	while (fs_free_bytes(settings->cache_dir) < min_free && (oldest = oldest_entry(dir))) {
		bool ok = fs_remove_tree(oldest, err);

		free(oldest);
		if (!ok)
			return false;
	}
	return true;
}
