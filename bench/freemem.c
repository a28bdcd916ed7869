// SPDX-License-Identifier: GPL-2.0-or-later
/* Free memory by size of block. */
#include "bench/freemem.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define PMD_ORDER 9
#define FILE_MAX  ((size_t)4 << 20)

/* "Node 0, zone   Normal <rest>": the rest, or NULL when it is another node's line. */
static const char *behind_zone(const char *line, long long node)
{
	const char *zone = strstr(line, "zone");
	char *end;

	if (!str_starts(line, "Node ") || !zone)
		return NULL;
	if (node >= 0 && strtoll(line + strlen("Node "), &end, 10) != node)
		return NULL;
	zone += strlen("zone");
	zone += strspn(zone, " ");
	return zone + strcspn(zone, " ");
}

bool freemem_parse_buddyinfo(struct freemem *out, const char *text, long long node, struct err *err)
{
	AUTO_STRS lines = STRS_INIT;

	strs_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *rest = behind_zone(lines.v[i], node);
		char *end = NULL;

		for (int order = 0; rest; order++, rest = end) {
			int64_t n = strtoll(rest, &end, 10) << order;

			if (end == rest)
				break;
			out->pages += n;
			out->huge_pages += order >= PMD_ORDER ? n : 0;
		}
	}
	if (!out->pages)
		return err_set(err, ERR_FAILED, "/proc/buddyinfo tells of no free page");
	return true;
}

void freemem_parse_pagetypeinfo(struct freemem *out, const char *text, long long node)
{
	const char *table = strstr(text, "Number of blocks type");
	AUTO_STRS lines = STRS_INIT;

	out->unmovable = out->movable = out->reclaimable = -1;
	if (!table)
		return;
	strs_split(&lines, table, "\n");
	for (size_t i = 1; i < lines.n; i++) {
		const char *rest = behind_zone(lines.v[i], node);
		long long n[3];

		if (!rest || sscanf(rest, "%lld %lld %lld", &n[0], &n[1], &n[2]) != 3)
			continue;
		out->unmovable = n[0] + (out->unmovable < 0 ? 0 : out->unmovable);
		out->movable = n[1] + (out->movable < 0 ? 0 : out->movable);
		out->reclaimable = n[2] + (out->reclaimable < 0 ? 0 : out->reclaimable);
	}
}

bool freemem_read(struct freemem *out, long long node, struct err *err)
{
	AUTO_STR buddies = str_new();
	AUTO_STR types = str_new();
	struct err ignored;

	*out = (struct freemem){0, 0, -1, -1, -1};
	if (!fs_read("/proc/buddyinfo", FILE_MAX, &buddies, err) ||
	    !freemem_parse_buddyinfo(out, buddies.s, node, err))
		return false;
	if (fs_read("/proc/pagetypeinfo", FILE_MAX, &types, &ignored))
		freemem_parse_pagetypeinfo(out, types.s, node);
	return true;
}

double freemem_unusable(const struct freemem *mem)
{
	return mem->pages ? 1 - (double)mem->huge_pages / (double)mem->pages : 0;
}
