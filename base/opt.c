// SPDX-License-Identifier: GPL-2.0-or-later
/* Command line options. */
#include "base/opt.h"

#include <limits.h>
#include <string.h>

static bool fill(const struct opt *opt, const char *value)
{
	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)opt->dest = true;
		return true;
	case OPT_STRING:
		*(const char **)opt->dest = value;
		return true;
	case OPT_INT:
		return str_to_i64(value, opt->dest);
	case OPT_FLOAT:
		return str_to_f64(value, opt->dest);
	case OPT_BYTES:
		return str_to_bytes(value, opt->dest);
	case OPT_SECONDS:
		return str_to_seconds(value, opt->dest);
	case OPT_LIST:
		strs_push(opt->dest, value);
		return true;
	}
	return false;
}

static const char *wanted(enum opt_type type)
{
	switch (type) {
	case OPT_INT:
		return "a whole number";
	case OPT_FLOAT:
		return "a number";
	case OPT_BYTES:
		return "a size such as 512, 64K, 16M or 2G";
	case OPT_SECONDS:
		return "a time such as 90, 250ms, 90s, 15m or 2h";
	case OPT_FLAG:
	case OPT_STRING:
	case OPT_LIST:
		break;
	}
	return "text";
}

static bool take_value(const struct opt *opt, const char *value, struct err *err)
{
	if (fill(opt, value))
		return true;
	return err_set(err, ERR_USAGE, "--%s: \"%s\" is not %s", opt->name, value,
		       wanted(opt->type));
}

static const struct opt *find_long(const struct opt *opts, const char *name, size_t n)
{
	for (; opts->name; opts++)
		if (strlen(opts->name) == n && !memcmp(opts->name, name, n))
			return opts;
	return NULL;
}

static const struct opt *find_letter(const struct opt *opts, char letter)
{
	for (; opts->name; opts++)
		if (opts->letter && opts->letter == letter)
			return opts;
	return NULL;
}

static bool unknown_long(const struct opt *opts, const char *name, struct err *err)
{
	for (; opts->name; opts++)
		if (str_resembles(name, opts->name))
			return err_set(err, ERR_USAGE, "unknown option --%s; did you mean --%s?",
				       name, opts->name);
	return err_set(err, ERR_USAGE, "unknown option --%s; --help lists the options", name);
}

/* Where parsing stands: argv[next] has not been looked at. */
struct cursor {
	const struct opt *opts;
	int argc;
	char **argv;
	int next;
};

static bool take_next(struct cursor *c, const struct opt *opt, struct err *err)
{
	if (c->next >= c->argc)
		return err_set(err, ERR_USAGE, "--%s needs a value: %s", opt->name,
			       opt->arg ? opt->arg : wanted(opt->type));
	return take_value(opt, c->argv[c->next++], err);
}

static bool parse_long(struct cursor *c, const char *name, struct err *err)
{
	size_t n = strcspn(name, "=");
	const struct opt *opt = find_long(c->opts, name, n);

	if (!opt) {
		AUTO_FREE char *bare = xstrndup(name, n);

		return unknown_long(c->opts, bare, err);
	}
	if (opt->type == OPT_FLAG && name[n])
		return err_set(err, ERR_USAGE, "--%s takes no value", opt->name);
	if (opt->type == OPT_FLAG)
		return take_value(opt, "", err);
	return name[n] ? take_value(opt, name + n + 1, err) : take_next(c, opt, err);
}

/* -a, -ab (flags), -n5, -n 5 */
static bool parse_letters(struct cursor *c, const char *letters, bool *help, struct err *err)
{
	for (; *letters; letters++) {
		const struct opt *opt = find_letter(c->opts, *letters);

		if (!opt && *letters == 'h') {
			*help = true;
			return true;
		}
		if (!opt)
			return err_set(err, ERR_USAGE,
				       "unknown option -%c; --help lists the options", *letters);
		if (opt->type != OPT_FLAG)
			return letters[1] ? take_value(opt, letters + 1, err)
					  : take_next(c, opt, err);
		if (!take_value(opt, "", err))
			return false;
	}
	return true;
}

bool opt_parse(const struct opt *opts, int argc, char **argv, struct strs *operands, bool *help,
	       struct err *err)
{
	struct cursor c = {.opts = opts, .argc = argc, .argv = argv, .next = 1};
	bool ended = false;

	*help = false;
	while (c.next < argc) {
		const char *arg = argv[c.next++];
		bool ok = true;

		if (ended || arg[0] != '-' || !arg[1])
			strs_push(operands, arg);
		else if (!strcmp(arg, "--"))
			ended = true;
		else if (!strcmp(arg, "--help"))
			*help = true;
		else if (arg[1] == '-')
			ok = parse_long(&c, arg + 2, err);
		else
			ok = parse_letters(&c, arg + 1, help, err);
		if (!ok || *help)
			return ok;
	}
	return true;
}

static void add_left(struct str *out, const struct opt *opt)
{
	if (opt->letter)
		str_addf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		str_addf(out, "      --%s", opt->name);
	if (opt->type != OPT_FLAG)
		str_addf(out, " %s", opt->arg ? opt->arg : "VALUE");
}

void opt_help(const struct opt *opts, FILE *f)
{
	static const struct opt help = {
		.letter = 'h', .name = "help", .help = "show this help and exit"};
	size_t width = 0;

	for (const struct opt *opt = opts; opt->name; opt++) {
		AUTO_STR left = str_new();

		add_left(&left, opt);
		width = left.len > width ? left.len : width;
	}
	for (const struct opt *opt = opts;; opt++) {
		const struct opt *shown = opt->name ? opt : &help;
		AUTO_STR left = str_new();

		add_left(&left, shown);
		fprintf(f, "%-*s  %s\n", (int)width, left.s, shown->help ? shown->help : "");
		if (!opt->name)
			break;
	}
}
