/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_OPT_H
#define BASE_OPT_H

/*
 * Command line options from one table: it parses and prints the help, so the two cannot drift.
 * Long options may be written --name=value or --name value; `--` ends them; operands may stand
 * between options.
 */

#include "base/str.h"

enum opt_type {
	OPT_FLAG,    /* bool *        --name */
	OPT_STRING,  /* const char ** --name ARG, borrowed from argv */
	OPT_INT,     /* long long *   --name N */
	OPT_FLOAT,   /* double * */
	OPT_BYTES,   /* long long *   16M */
	OPT_SECONDS, /* double *      90s */
	OPT_LIST,    /* struct strs * may be given again */
};

struct opt {
	char letter; /* 0 = none */
	const char *name;
	enum opt_type type;
	void *dest;
	const char *arg; /* word for the argument in the help; NULL for flags */
	const char *help;
};

/*
 * Parses argv[1..]; operands are collected in operands (borrowed strings are copied). The table
 * ends with a zeroed entry. -h/--help is not in the table: when met, *help is set and parsing ends.
 */
bool opt_parse(const struct opt *opts, int argc, char **argv, struct strs *operands, bool *help,
	       struct err *err) _must_check;
/* "  -n, --name ARG   help" lines, aligned. */
void opt_help(const struct opt *opts, FILE *f);

#endif
