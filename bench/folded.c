// SPDX-License-Identifier: GPL-2.0-or-later
/* Folding stacks. */
#include "bench/folded.h"

#include <stdlib.h>
#include <string.h>

void folded_release(struct folded *folded)
{
	for (size_t i = 0; i < folded->n; i++)
		free(folded->v[i].text);
	free(folded->v);
	*folded = (struct folded){0};
}

void folded_add(struct folded *folded, const struct kallsyms *syms, const uint64_t *frames,
		size_t n, uint64_t count)
{
	AUTO_STR text = str_new();
	size_t used = 0;

	while (used < n && frames[used])
		used++;
	for (size_t i = used; i-- > 0;) {
		const char *name = kallsyms_find(syms, frames[i]);

		str_addf(&text, "%s%s", text.len ? ";" : "", name ? name : "[unknown]");
	}
	if (!used)
		str_add(&text, "[user]");
	folded->samples += count;
	for (size_t i = 0; i < folded->n; i++) {
		if (!strcmp(folded->v[i].text, text.s)) {
			folded->v[i].count += count;
			return;
		}
	}
	*array_push(folded->v, folded->n, folded->cap) =
		(struct folded_stack){str_take(&text), count};
}

static int by_count(const void *a, const void *b)
{
	const struct folded_stack *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->text, y->text);
}

void folded_sort(struct folded *folded)
{
	if (folded->n)
		qsort(folded->v, folded->n, sizeof(*folded->v), by_count);
}

json_t *folded_json(const struct folded *folded, const char *source, uint64_t lost, size_t most)
{
	json_t *line = json_object(), *stacks = json_object();

	for (size_t i = 0; i < folded->n && i < most; i++)
		js_set_i64(stacks, folded->v[i].text, (int64_t)folded->v[i].count);
	js_set_str(line, "type", "profile");
	js_set_str(line, "source", source);
	js_set_i64(line, "samples", (int64_t)folded->samples);
	js_set_i64(line, "lost", (int64_t)lost);
	js_set_new(line, "stacks", stacks);
	return line;
}
