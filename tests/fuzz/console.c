// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of what a machine says on its console (libFuzzer). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runner/console.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STR line = str_new();
	AUTO_STR last = str_new();
	const char *outcome = NULL;

	if (console_diagnose((const char *)data, size, &outcome, &line) && !outcome)
		abort();
	console_last_line((const char *)data, size, &last);
	if (strchr(last.s, '\n'))
		abort();
	return 0;
}
