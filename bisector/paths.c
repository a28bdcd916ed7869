// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicion by paths touched. */
#include "bisector/paths.h"

#include <stdlib.h>
#include <string.h>

/* Words of uname -m by their beginnings, and the kernel's directories for them. */
static const struct {
	const char *machine, *arch;
} arches[] = {
	{"x86_64", "x86"},    {"i386", "x86"},	    {"i486", "x86"},	{"i586", "x86"},
	{"i686", "x86"},      {"aarch64", "arm64"}, {"arm", "arm"},	{"riscv", "riscv"},
	{"ppc", "powerpc"},   {"s390", "s390"},	    {"mips", "mips"},	{"loongarch", "loongarch"},
	{"parisc", "parisc"}, {"sparc", "sparc"},   {"alpha", "alpha"}, {"m68k", "m68k"},
};

void path_rule_init(struct path_rule *rule, const char *unlikely, const char *machine, double share)
{
	*rule = (struct path_rule){.share = share};
	strs_split(&rule->unlikely, unlikely, " \t");
	for (size_t i = 0; machine && !rule->arch && i < ARRAY_SIZE(arches); i++)
		if (str_starts(machine, arches[i].machine))
			rule->arch = xstrdup(arches[i].arch);
}

void path_rule_release(struct path_rule *rule)
{
	strs_release(&rule->unlikely);
	free(rule->arch);
	*rule = (struct path_rule){0};
}

static bool matches(const char *pattern, const char *path)
{
	if (*pattern == '*')
		return str_ends(path, pattern + 1);
	if (str_ends(pattern, "/"))
		return str_starts(path, pattern);
	return !strcmp(path, pattern);
}

/* A file right in arch/ is everybody's. */
bool path_rule_foreign(const struct path_rule *rule, const char *path)
{
	size_t n = rule->arch ? strlen(rule->arch) : 0;

	if (!n || !str_starts(path, "arch/") || !strchr(path + 5, '/'))
		return false;
	return strncmp(path + 5, rule->arch, n) || path[5 + n] != '/';
}

static bool is_unlikely(const struct path_rule *rule, const char *path)
{
	for (size_t i = 0; i < rule->unlikely.n; i++)
		if (matches(rule->unlikely.v[i], path))
			return true;
	return path_rule_foreign(rule, path);
}

double path_rule_weight(const struct path_rule *rule, const char *paths)
{
	AUTO_STRS list = STRS_INIT;

	if (paths)
		strs_split(&list, paths, "\n");
	for (size_t i = 0; i < list.n; i++)
		if (!is_unlikely(rule, list.v[i]))
			return 1;
	return list.n ? rule->share : 1;
}
