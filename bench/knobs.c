// SPDX-License-Identifier: GPL-2.0-or-later
/* Set, read back, restore. */
#include "bench/knobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "bench/knob_journal.h"

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

bool knob_remember(struct knobs *knobs, const char *path, const char *before, struct err *err)
{
	for (size_t i = 0; i < knobs->n; i++) {
		if (!strcmp(knobs->paths[i], path))
			return true;
	}
	if (!knobs->n)
		knob_journal_guard();
	if (!knob_journal_add(path, before, err))
		return err_wrap(err, "%s stays as it is", path);
	*array_push(knobs->paths, knobs->n, knobs->cap) = xstrdup(path);
	return true;
}

void knob_forget(struct knobs *knobs)
{
	struct err err;

	if (!knob_journal_drop(knobs->paths[knobs->n - 1], &err))
		fprintf(stderr, "%s\n", err.msg);
	free(knobs->paths[--knobs->n]);
}

bool knob_set(struct knobs *knobs, const char *path, const char *value, struct err *err)
{
	AUTO_FREE char *before = NULL;
	AUTO_FREE char *after = NULL;
	size_t n = knobs->n;

	if (!knob_read(path, &before, err))
		return false;
	if (!strcmp(before, value))
		return true;
	if (!knob_remember(knobs, path, before, err))
		return false;
	if (!fs_poke(path, value, err)) {
		if (knobs->n > n)
			knob_forget(knobs);
		return false;
	}
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

	if (knobs->n && !knob_journal_put_back(knobs->paths, knobs->n, &err))
		fprintf(stderr, "%zu knobs not restored: %s\n", knobs->n, err.msg);
	while (knobs->n)
		free(knobs->paths[--knobs->n]);
	free(knobs->paths);
	*knobs = (struct knobs)KNOBS_INIT;
}
