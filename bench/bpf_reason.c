// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a BPF program was refused. */
#include "bench/bpf_reason.h"

#include <string.h>

/* Copies the line that ends before `end`; false when it is empty. */
static bool line_before(const char *text, const char *end, char *out, size_t size)
{
	const char *begin = end;
	size_t n;

	while (begin > text && begin[-1] != '\n')
		begin--;
	n = (size_t)(end - begin);
	if (!n)
		return false;
	n = n < size ? n : size - 1;
	memcpy(out, begin, n);
	out[n] = '\0';
	return true;
}

bool bpf_reason(const char *text, char *out, size_t size)
{
	const char *at = NULL, *next = text;

	/* The verifier tells its reason right before its count; of several programs the last was refused. */
	while ((next = strstr(next, "\nprocessed "))) {
		at = next;
		next++;
	}
	if (at)
		return line_before(text, at, out, size);
	at = strchr(text, '\n');
	return at && line_before(text, at, out, size);
}
