// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbols MAP: holds the functions that /proc/kallsyms tells against the image's own System.map, less
 * what the kernel was moved by at its start. Status 0 when each is there under the same name.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	unsigned long address;
	char name[512];
};

struct table {
	struct symbol *v;
	size_t n;
	unsigned long text; /* where the kernel begins */
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Text alone, as profiles have nothing else; of modules nothing, which have no part in a System.map. */
static bool load(struct table *table, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024], type;
	struct symbol one;

	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '[') ||
		    sscanf(line, "%lx %c %511s", &one.address, &type, one.name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (!(table->n & (table->n - 1)))
			table->v = realloc(table->v, (table->n ? 2 * table->n : 1) * sizeof(one));
		if (!table->v)
			return false;
		if (!strcmp(one.name, "_text"))
			table->text = one.address;
		table->v[table->n++] = one;
	}
	if (file)
		fclose(file);
	if (table->n)
		qsort(table->v, table->n, sizeof(one), by_address);
	return table->n && table->text;
}

int main(int argc, char **argv)
{
	struct table map = {0}, live = {0};
	size_t other = 0;

	if (argc != 2 || !load(&map, argv[1]) || !load(&live, "/proc/kallsyms"))
		return 2;
	for (size_t i = 0; i < live.n; i++) {
		struct symbol there = live.v[i];

		there.address -= live.text - map.text;
		if (bsearch(&there, map.v, map.n, sizeof(there), by_address))
			continue;
		if (!other++)
			printf("symbols: %s at %lx is not in the map\n", there.name, there.address);
	}
	printf("symbols: %zu functions, %zu not in the map, moved by %#lx\n", live.n, other,
	       live.text - map.text);
	return other ? 1 : 0;
}
