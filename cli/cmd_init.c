// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf init: a settings file to start from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/sample.h"
#include "cli/session.h"

#define MM_URL	   "https://git.kernel.org/pub/scm/linux/kernel/git/akpm/mm.git"
#define DEMO_STATE "/var/tmp/mmperf-demo"
#define LINES_MAX  48

/* Lines in which "@" stands for a text that is known only now. */
static const struct sample_line mm_lines[] = {
	{"machine", "qemu-1", "class", "qemu-small"},
	{"machine", "qemu-1", "driver", "qemu"},
	{"recipe", "qemu-x86", "config", "@"},
	{"suite", "fault", "benchmark", "fault"},
	{"suite", "fault", "param", "preset=guest"},
	{"suite", "compaction", "benchmark", "compaction"},
	{"suite", "compaction", "param", "preset=guest"},
	{"suite", "khugepaged", "benchmark", "khugepaged"},
	{"suite", "khugepaged", "param", "preset=guest"},
	{"tree", "mm", "url", MM_URL},
	{"tree", "mm", "branch", "mm-unstable"},
	{"tree", "mm", "branch", "mm-new"},
	{"tree", "mm", "base", "mm-stable"},
	{"tree", "mm", "recipe", "qemu-x86"},
	{0},
};

static const struct sample_line demo_lines[] = {
	{"detect", NULL, "gaps", "false"},
	{"machine", "guest", "class", "qemu-small"},
	{"machine", "guest", "driver", "qemu"},
	{"recipe", "qemu-x86", "config", "@"},
	{"state", NULL, "dir", DEMO_STATE "/state"},
	{"suite", "fault", "benchmark", "fault"},
	{"suite", "fault", "param", "threads=4"},
	{"tree", "demo", "url", DEMO_STATE "/tree/remote.git"},
	{"tree", "demo", "branch", "mm-unstable"},
	{"tree", "demo", "recipe", "qemu-x86"},
	{"tree", "demo", "poll", "2s"},
	{0},
};

static bool make_text(bool demo, struct str *out, struct err *err)
{
	struct sample_line lines[LINES_MAX] = {0};
	AUTO_FREE char *recipe = NULL;

	if (!place_data("recipes/qemu-x86.config", &recipe, err))
		return false;
	if (demo)
		memcpy(lines, demo_lines, sizeof(demo_lines));
	else
		memcpy(lines, mm_lines, sizeof(mm_lines));
	for (struct sample_line *l = lines; l->section; l++)
		if (!strcmp(l->value, "@"))
			l->value = recipe;
	str_add(out, "# Settings of mmperf, in git-config syntax; mmperf.conf(5) tells the same.\n"
		     "# A line that begins with ; shows a default. `mmperf up` reads this file.\n");
	sample_write(settings_keys, lines, out);
	return true;
}

static bool make_dir_of(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = slash && slash > path ? xstrndup(path, (size_t)(slash - path)) : NULL;

	return !dir || fs_mkdirs(dir, 0755, err);
}

static bool write_file(struct session *session, bool force, struct err *err)
{
	AUTO_FREE char *path =
		session->config_path ? xstrdup(session->config_path) : settings_default_path();
	AUTO_JSON *doc = json_object();
	AUTO_STR text = str_new();

	if (fs_exists(path) && !force)
		return err_set(err, ERR_USAGE,
			       "init: %s exists already; --force writes over it, --config FILE "
			       "names another",
			       path);
	if (!make_text(false, &text, err) || !make_dir_of(path, err) ||
	    !fs_write_atomic(path, text.s, text.len, 0644, err))
		return false;
	js_set_str(doc, "settings", path);
	if (session->json)
		session_print_json(doc);
	else
		printf("wrote %s\nedit it, then start `mmperf up`\n", path);
	return true;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	bool demo = false, force = false, help;
	const struct opt opts[] = {
		{0, "force", OPT_FLAG, &force, NULL, "write over a file that exists"},
		{0, "demo", OPT_FLAG, &demo, NULL, "print settings like the demo's instead"},
		{0},
	};
	AUTO_STRS none = STRS_INIT;
	AUTO_STR text = str_new();

	if (!command_parse(session, &cmd_init, opts, argc, argv, 0, 0, &none, &help, err))
		return false;
	if (help)
		return true;
	if (!demo)
		return write_file(session, force, err);
	if (!make_text(true, &text, err))
		return false;
	fputs(text.s, stdout);
	return true;
}

const struct command cmd_init = {
	.name = "init",
	.summary = "write a settings file to start from",
	.usage = "[--force]\n--demo",
	.about = "Writes a commented settings file that follows Andrew Morton's mm tree with one "
		 "QEMU\n"
		 "machine: to --config FILE, else $MMPERF_CONFIG, else /etc/mmperf/config for "
		 "root,\n"
		 "else $XDG_CONFIG_HOME/mmperf/config.",
	.run = run,
};
