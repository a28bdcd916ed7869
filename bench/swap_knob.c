// SPDX-License-Identifier: GPL-2.0-or-later
/* Swap space off, and on again. */
#include "bench/swap_knob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>

#include "base/fs.h"

#define TEXT_MAX ((size_t)1 << 16)

/* Blanks, tabs, newlines and backslashes in names are \NNN there. */
static char *unescape(const char *text)
{
	AUTO_STR out = str_new();

	while (*text) {
		char octal[4] = {0};

		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			memcpy(octal, text + 1, 3);
			str_addf(&out, "%c", (char)strtol(octal, NULL, 8));
			text += 4;
		} else {
			str_addf(&out, "%c", *text++);
		}
	}
	return str_take(&out);
}

/* "NAME TYPE SIZE USED PRIORITY", sizes in KB */
static void parse_area(struct swap_areas *areas, const char *line)
{
	AUTO_STRS fields = STRS_INIT;
	long long used_kb, priority;

	strs_split(&fields, line, " \t");
	if (fields.n != 5 || str_ends(fields.v[0], "\\040(deleted)") ||
	    !str_to_i64(fields.v[3], &used_kb) || !str_to_i64(fields.v[4], &priority))
		return;
	*array_push(areas->v, areas->n, areas->cap) =
		(struct swap_area){unescape(fields.v[0]), (int)priority, used_kb};
}

void swap_areas_parse(struct swap_areas *areas, const char *text)
{
	AUTO_STRS lines = STRS_INIT;

	strs_split(&lines, text, "\n");
	for (size_t i = 1; i < lines.n; i++)
		parse_area(areas, lines.v[i]);
}

void swap_areas_release(struct swap_areas *areas)
{
	for (size_t i = 0; i < areas->n; i++)
		free(areas->v[i].path);
	free(areas->v);
	*areas = (struct swap_areas)SWAP_AREAS_INIT;
}

bool swap_areas_fit(const struct swap_areas *areas, const char *meminfo, struct err *err)
{
	const char *line = strstr(meminfo, "MemAvailable:");
	long long free_kb = line ? strtoll(line + strlen("MemAvailable:"), NULL, 10) : 0;
	long long used_kb = 0;

	for (size_t i = 0; i < areas->n; i++)
		used_kb += areas->v[i].used_kb;
	if (used_kb <= free_kb / 2)
		return true;
	return err_set(err, ERR_FAILED, "swap stays on: %lld KB in it, %lld KB of memory available",
		       used_kb, free_kb);
}

bool swap_area_off(struct knobs *knobs, const struct swap_area *area, struct err *err)
{
	AUTO_FREE char *name = xasprintf(SWAP_KNOB "%s", area->path);
	AUTO_FREE char *priority = xasprintf("%d", area->priority);

	if (!knob_remember(knobs, name, priority, err))
		return false;
	if (!swapoff(area->path))
		return true;
	err_sys(err, "cannot stop swapping to %s", area->path);
	knob_forget(knobs);
	return false;
}

bool swap_all_off(struct knobs *knobs, struct err *err)
{
	AUTO_SWAP_AREAS areas = SWAP_AREAS_INIT;
	AUTO_STR swaps = str_new();
	AUTO_STR meminfo = str_new();

	if (!fs_read("/proc/swaps", TEXT_MAX, &swaps, err))
		return err->kind == ERR_NOTFOUND; /* a kernel without swap */
	if (!fs_read("/proc/meminfo", TEXT_MAX, &meminfo, err))
		return false;
	swap_areas_parse(&areas, swaps.s);
	if (!swap_areas_fit(&areas, meminfo.s, err))
		return false;
	for (size_t i = 0; i < areas.n; i++) {
		if (!swap_area_off(knobs, &areas.v[i], err))
			return false;
	}
	return true;
}

bool swap_area_on(const char *path, const char *priority, struct err *err)
{
	long long n;
	bool chosen = str_to_i64(priority, &n) && n >= 0;

	/* On already: someone else was faster. */
	if (!swapon(path, chosen ? SWAP_FLAG_PREFER | ((int)n & SWAP_FLAG_PRIO_MASK) : 0) ||
	    errno == EBUSY)
		return true;
	return err_sys(err, "cannot swap to %s again", path);
}
