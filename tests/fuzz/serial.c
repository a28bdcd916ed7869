// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of the agent's lines on a serial line (libFuzzer): anything at all, and lines that are cut as the agent cuts them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "runner/serial_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(const char *text, size_t n, struct str *out, bool must)
{
	CLEANUP(serial_lines_release) struct serial_lines s;
	struct err err;

	serial_lines_init(&s, 0);
	if (!serial_lines_feed(&s, text, n, out, &err) && must)
		abort();
}

/* A line without an end of its own, in pieces of up to 16 bytes, with noise between them. */
static void feed_line(const char *line, size_t n)
{
	AUTO_STR console = str_new(), out = str_new();
	unsigned seq = 0;

	do {
		size_t part = n > 16 ? 16 : n;
		char sum[HASH_HEX_SIZE];

		hash_of(line, part, sum);
		str_addf(&console, "[    1.0] mmperf:%u:%.8s:%c", seq++, sum, n > 16 ? '+' : '.');
		str_addn(&console, line, part);
		str_add(&console, "\r\n[    1.1] of the kernel's own\n");
		line += part;
		n -= part;
	} while (n);
	feed(console.s, console.len, &out, true);
	line -= out.len - 1;
	if (out.s[out.len - 1] != '\n' || memcmp(out.s, line, out.len - 1) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STR out = str_new();

	feed((const char *)data, size, &out, false);
	if (out.len > size)
		abort();
	if (!memchr(data, '\n', size) && !memchr(data, '\r', size))
		feed_line((const char *)data, size);
	return 0;
}
