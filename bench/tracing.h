/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_TRACING_H
#define BENCH_TRACING_H

/* Kernel events of one stretch, in a trace instance of our own. Lines are taken as the kernel
 * prints them, since the fields of an event move between versions and their names do not. */

#include "base/str.h"

struct tracing {
	char *dir; /* of the instance; NULL = not open */
};

#define TRACING_INIT \
	{            \
		NULL \
	}
#define AUTO_TRACING CLEANUP(tracing_close) struct tracing

/* events: "huge_memory/mm_khugepaged_scan_pmd", ...; those that this kernel lacks are left out.
 * ERR_NOTFOUND when there is none of them, or no tracefs; one that is not mounted is mounted for this
 * process alone, which has to have one thread. Nothing is recorded yet. */
bool tracing_open(struct tracing *tracing, const char *const *events, size_t n,
		  struct err *err) _must_check;
bool tracing_switch(struct tracing *tracing, bool on, struct err *err) _must_check;
/* The lines so far, without the header. False when some were overwritten. */
bool tracing_read(struct tracing *tracing, struct strs *lines, struct err *err) _must_check;
void tracing_close(struct tracing *tracing);

/* The same for a text in the form of tracefs' file `trace`. */
bool tracing_parse(const char *text, struct strs *lines, struct err *err) _must_check;
/* What stands behind "FIELD=" in a line, up to a comma or blank; the caller frees it, NULL = not
 * there. */
char *tracing_field(const char *line, const char *field);

#endif
