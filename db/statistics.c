// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics of tables. */
#include "db/statistics.h"

#include "base/log.h"
#include "db/row.h"

bool statistics_refresh(struct db *db, struct err *err)
{
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, "select refresh_statistics() as n", DBV_NONE, DB_ONE, &rows, err))
		return err_wrap(err, "statistics of tables");
	if (row_i64(rows, 0, "n"))
		log_debug("statistics of %lld tables are new", (long long)row_i64(rows, 0, "n"));
	return true;
}
