// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel symbol table. */
#include "bench/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define KALLSYMS_MAX ((size_t)256 << 20)

struct symbol {
	uint64_t address;
	const char *name; /* into text */
	bool module;
};

struct range {
	uint64_t start, end;
};

struct kallsyms {
	char *text;
	struct symbol *v;
	size_t n, cap;
	struct range lock_text, sched_text;
};

void kallsyms_free(struct kallsyms *syms)
{
	if (!syms)
		return;
	free(syms->text);
	free(syms->v);
	free(syms);
}

void kallsyms_free_ptr(struct kallsyms **syms)
{
	kallsyms_free(*syms);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void cut_suffix(char *name)
{
	/* A dot is never part of a C name: .isra.0, .constprop.0, .part.0, .cold, .llvm.123 */
	char *dot = strchr(name + 1, '.');

	if (dot)
		*dot = '\0';
}

static void note_bounds(struct kallsyms *syms, const char *name, uint64_t address)
{
	if (!strcmp(name, "__lock_text_start"))
		syms->lock_text.start = address;
	else if (!strcmp(name, "__lock_text_end"))
		syms->lock_text.end = address;
	else if (!strcmp(name, "__sched_text_start"))
		syms->sched_text.start = address;
	else if (!strcmp(name, "__sched_text_end"))
		syms->sched_text.end = address;
}

/* "ffffffff81000000 T name\t[module]" */
static bool parse_line(struct kallsyms *syms, char *line)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	char *name, *module;

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	name = end + 3;
	module = strpbrk(name, "\t ");
	if (module)
		*module = '\0';
	if (!strchr("tTwW", end[1]) || !*name)
		return true;
	note_bounds(syms, name, address);
	if (str_ends(name, "_start") || str_ends(name, "_end") || str_starts(name, "__pfx_"))
		return true;
	cut_suffix(name);
	*array_push(syms->v, syms->n, syms->cap) = (struct symbol){address, name, module != NULL};
	return true;
}

/* Behind the end of its text the kernel keeps code of its start and of the ends of modules that are built in. It never runs again, and
 * what is loaded later, BPF programs among it, may lie right behind. */
static void drop_behind_text(struct kallsyms *syms)
{
	uint64_t end = UINT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < syms->n; i++) {
		if (!syms->v[i].module && !strcmp(syms->v[i].name, "_etext"))
			end = syms->v[i].address;
	}
	for (size_t i = 0; i < syms->n; i++) {
		if (syms->v[i].module || syms->v[i].address <= end)
			syms->v[kept++] = syms->v[i];
	}
	syms->n = kept;
}

bool kallsyms_parse(const char *text, struct kallsyms **out, struct err *err)
{
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = xcalloc(1, sizeof(*syms));
	char *next = NULL, *line;

	syms->text = xstrdup(text);
	for (line = strtok_r(syms->text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		if (!parse_line(syms, line))
			return err_set(err, ERR_FAILED, "kernel symbols: \"%.80s\" is no symbol",
				       line);
	}
	if (!syms->n || !syms->v[syms->n - 1].address)
		return err_set(err, ERR_FAILED,
			       "kernel symbols: no addresses; run as root with kptr_restrict 0");
	qsort(syms->v, syms->n, sizeof(*syms->v), by_address);
	drop_behind_text(syms);
	*out = TAKE(syms);
	return true;
}

bool kallsyms_load(struct kallsyms **out, struct err *err)
{
	AUTO_STR text = str_new();

	return fs_read("/proc/kallsyms", KALLSYMS_MAX, &text, err) &&
	       kallsyms_parse(text.s, out, err);
}

const char *kallsyms_find(const struct kallsyms *syms, uint64_t address)
{
	size_t lo = 0, hi = syms->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (syms->v[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !strcmp(syms->v[lo - 1].name, "_etext"))
		return NULL;
	return syms->v[lo - 1].name;
}

static bool in_range(const struct range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

bool kallsyms_is_lock_text(const struct kallsyms *syms, uint64_t address)
{
	static const char *const prefixes[] = {
		"__bpf_trace_",
		"__down_",
		"__mutex_lock",
		"__pv_queued_",
		"__raw_",
		"__rt_mutex",
		"__traceiter_",
		"_raw_",
		"bpf_",
		"down_",
		"do_raw_spin_",
		"mutex_lock",
		"native_queued_",
		"percpu_rwsem_",
		"pv_queued_",
		"queued_",
		"downgrade_write",
		"up_read",
		"up_write",
		"rwsem_",
		"trace_contention",
		"mutex_spin_on_",
		"__percpu_down_read",
	};
	const char *name;

	if (in_range(&syms->lock_text, address) || in_range(&syms->sched_text, address))
		return true;
	name = kallsyms_find(syms, address);
	if (!name)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (str_starts(name, prefixes[i]))
			return true;
	}
	return false;
}

bool kallsyms_has_prefix(const struct kallsyms *syms, const char *prefix)
{
	for (size_t i = 0; i < syms->n; i++) {
		if (str_starts(syms->v[i].name, prefix))
			return true;
	}
	return false;
}
