/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_SCHEMA_H
#define DB_SCHEMA_H

/* The schema files, made into C by the Makefile from db/schema/NNNN-name.sql, in order. */

struct schema_file {
	int version; /* NNNN */
	const char *name;
	const char *sql;
};

extern const struct schema_file schema_files[]; /* ends with version 0 */

#endif
