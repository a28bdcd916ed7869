/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_STATISTICS_H
#define DB_STATISTICS_H

/* What the planner of queries knows of the tables. */

#include "db/conn.h"

/* Analyses the tables that grew by a fifth since they were last. Some milliseconds when there is none. */
bool statistics_refresh(struct db *db, struct err *err) _must_check;

#endif
