// SPDX-License-Identifier: GPL-2.0-or-later
/* decide list | decide PART: figures of the decisions, one line each, columns separated by '|'. */
#include "tests/bench/decide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct decide_part *const tables[] = {
	decide_search_parts,
	decide_detect_parts,
	decide_labelled_parts,
};

void decide_row(const char *what, const char *condition, const char *goal, double measured,
		const char *unit)
{
	printf("%s|%s|%s|%.6g|%s\n", what, condition, goal, measured, unit);
	fflush(stdout);
}

size_t decide_trials(const struct decide *decide, size_t usual, size_t full)
{
	return (size_t)fmax(10.0, decide->scale * (double)(decide->full ? full : usual));
}

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

int main(int argc, char **argv)
{
	const struct decide decide = {
		.seed = strtoull(setting("SEED", "1"), NULL, 0),
		.full = *setting("FULL", "") != '\0',
		.scale = strtod(setting("SCALE", "1"), NULL),
		.data = setting("DATA", NULL),
	};
	bool list = argc == 2 && !strcmp(argv[1], "list"), found = list;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct decide_part *part = tables[t]; part->name; part++) {
			if (list)
				printf("%s\n", part->name);
			if (argc != 2 || strcmp(argv[1], part->name) != 0)
				continue;
			part->run(&decide);
			found = true;
		}
	if (!found)
		fprintf(stderr, "usage: decide list | decide PART\n");
	return found ? 0 : 2;
}
