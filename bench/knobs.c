// SPDX-License-Identifier: GPL-2.0-or-later
/* Set, read back, restore. */
#include "bench/knobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define KNOB_MAX ((size_t)1 << 16)

static char *chosen(char *text)
{
	char *open = strchr(text, '[');
	char *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return xstrdup(str_trim(text));
	return xstrndup(open + 1, (size_t)(close - open - 1));
}

bool knob_read(const char *path, char **out, struct err *err)
{
	AUTO_STR text = str_new();

	if (!fs_read(path, KNOB_MAX, &text, err))
		return false;
	*out = chosen(text.s);
	return true;
}

static void remember(struct knobs *knobs, const char *path, char *before)
{
	struct knob *knob;

	for (size_t i = 0; i < knobs->n; i++) {
		if (!strcmp(knobs->saved[i].path, path)) {
			free(before);
			return;
		}
	}
	knob = array_push(knobs->saved, knobs->n, knobs->cap);
	knob->path = xstrdup(path);
	knob->before = before;
}

bool knob_set(struct knobs *knobs, const char *path, const char *value, struct err *err)
{
	AUTO_FREE char *before = NULL;
	AUTO_FREE char *after = NULL;

	if (!knob_read(path, &before, err))
		return false;
	if (!strcmp(before, value))
		return true;
	if (!fs_poke(path, value, err))
		return false;
	remember(knobs, path, TAKE(before));
	if (!knob_read(path, &after, err))
		return false;
	if (strcmp(after, value) != 0)
		return err_set(err, ERR_FAILED, "%s: wrote \"%s\", it says \"%s\"", path, value,
			       after);
	return true;
}

void knobs_restore(struct knobs *knobs)
{
	struct err err;

	while (knobs->n) {
		struct knob *knob = &knobs->saved[--knobs->n];

		if (!fs_poke(knob->path, knob->before, &err))
			fprintf(stderr, "knob not restored to \"%s\": %s\n", knob->before, err.msg);
		free(knob->path);
		free(knob->before);
	}
	free(knobs->saved);
	knobs->saved = NULL;
	knobs->cap = 0;
}
