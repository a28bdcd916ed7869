// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of agent lines (libFuzzer). */
#include <stddef.h>
#include <stdint.h>

#include "runner/collect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(collect_free_ptr) struct collect *c = collect_new("n");
	struct err err;

	/* In two pieces: where a line is cut must not matter. */
	if (collect_feed(c, (const char *)data, size / 2, &err) &&
	    collect_feed(c, (const char *)data + size / 2, size - size / 2, &err) &&
	    collect_ended(c))
		collect_result(c);
	return 0;
}
