// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine add: a section for a real machine. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cli/machine_verbs.h"
#include "cli/session.h"

#define MAX_SETTINGS ((size_t)4 << 20)

/* Names stand in settings, file names and mails. */
static bool is_name(const char *s)
{
	return *s && strlen(s) <= 64 &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] ==
		       '\0';
}

/* What would end a line or a quoted value of the settings. */
static bool is_plain(const char *s)
{
	return *s && !strpbrk(s, "\"\\\n\r#;");
}

static bool append(const char *path, const char *section, struct err *err)
{
	AUTO_STR text = str_new();

	if (!fs_read(path, MAX_SETTINGS, &text, err))
		return false;
	if (text.len && text.s[text.len - 1] != '\n')
		str_addc(&text, '\n');
	str_add(&text, section);
	return fs_write_atomic(path, text.s, text.len, 0644, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	const char *ssh = NULL, *class_name = NULL, *known = NULL;
	const struct opt opts[] = {
		{0, "ssh", OPT_STRING, &ssh, "USER@HOST", "as ssh takes it (default: the name)"},
		{0, "class", OPT_STRING, &class_name, "CLASS",
		 "machines of one class are interchangeable (default: the name)"},
		{0, "known-hosts", OPT_STRING, &known, "FILE", "holds its host key"},
		{0},
	};
	const struct settings *settings;
	AUTO_STRS words = STRS_INIT;
	AUTO_STR section = str_new();
	const char *name;
	bool help;

	if (!command_parse(session, &machine_add, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	if (help)
		return true;
	name = words.v[0];
	if (!is_name(name) || (class_name && !is_name(class_name)))
		return err_set(err, ERR_USAGE,
			       "machine add: names are letters, digits, dot, dash and underscore");
	if ((ssh && !is_plain(ssh)) || (known && !is_plain(known)))
		return err_set(err, ERR_USAGE,
			       "machine add: quotes, backslashes, # and ; cannot be in a setting");
	if (!session_settings(session, &settings, err))
		return false;
	if (conf_has(settings->conf, "machine", name))
		return err_set(err, ERR_USAGE, "there is a [machine \"%s\"] in %s already", name,
			       conf_path(settings->conf));
	str_addf(&section, "[machine \"%s\"]\n\tclass = %s\n\tdriver = kexec\n\tssh = %s\n", name,
		 class_name ? class_name : name, ssh ? ssh : name);
	if (known)
		str_addf(&section, "\tknown-hosts = %s\n", known);
	if (!append(conf_path(settings->conf), section.s, err))
		return false;
	printf("%s has a [machine \"%s\"] now; next:\n  mmperf machine check %s\n"
	       "then restart mmperf-runner (or `mmperf up`), which takes it into service\n",
	       conf_path(settings->conf), name, name);
	return true;
}

const struct command machine_add = {
	.name = "machine add",
	.summary = "write a section for it into the settings",
	.usage = "NAME [--ssh USER@HOST] [--class CLASS] [--known-hosts FILE]",
	.about = "A machine that is reached by ssh and boots kernels by kexec. mmperf.conf(5) has "
		 "the "
		 "other\n"
		 "settings: power, console, initrd, command line.",
	.run = run,
};
