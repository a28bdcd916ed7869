// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of what consoles send: telnet streams and netconsole datagrams (libFuzzer). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runner/consoles/drivers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where a stream is cut must not matter, and nothing is ever added to it. */
static void feed_telnet(const char *bytes, size_t n)
{
	struct console_link whole = {.fd = -1}, parts = {.fd = -1};
	AUTO_STR once = str_new(), twice = str_new();

	console_telnet.take(&whole, bytes, n, &once);
	console_telnet.take(&parts, bytes, n / 2, &twice);
	console_telnet.take(&parts, bytes + n / 2, n - n / 2, &twice);
	if (once.len > n || once.len != twice.len || memcmp(once.s, twice.s, once.len) != 0)
		abort();
}

static void feed_netconsole(const char *bytes, size_t n)
{
	struct console_link link = {.fd = -1};
	AUTO_STR out = str_new();

	console_netconsole.take(&link, bytes, n, &out);
	if (out.len > n || memcmp(out.s, bytes + n - out.len, out.len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	feed_telnet((const char *)data, size);
	feed_netconsole((const char *)data, size);
	return 0;
}
