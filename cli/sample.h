/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

/* Settings files that are complete: each key of the key table with its help, set or as a comment. */

#include "base/conf.h"

struct sample_line {
	const char *section;
	const char *name; /* NULL for unnamed sections */
	const char *key;
	const char *value;
};

/* lines: what is set, ended by a zeroed entry; keys of one section stand together. */
void sample_write(const struct conf_key *keys, const struct sample_line *lines, struct str *out);

#endif
