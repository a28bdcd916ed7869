// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading kernel consoles. */
#include "runner/console.h"

#include <string.h>

#define LINE_LENGTH 200

/* An oops comes before the panic that it causes; the first match in this order of lines wins. */
static const struct {
	const char *text;
	const char *outcome;
} signs[] = {
	{"BUG: unable to handle", "oops"},
	{"BUG: kernel NULL pointer dereference", "oops"},
	{"Unable to handle kernel", "oops"},
	{"general protection fault", "oops"},
	{"kernel BUG at", "oops"},
	{"invalid opcode:", "oops"},
	{"Internal error: Oops", "oops"},
	{"Oops:", "oops"},
	{"soft lockup", "hang"},
	{"hard LOCKUP", "hang"},
	{"detected stall", "hang"},
	{"self-detected stall", "hang"},
	{"blocked for more than", "hang"},
	{"Kernel panic - not syncing", "panic"},
};

static void add_plain(struct str *out, const char *s, size_t n)
{
	AUTO_STR text = str_new();
	char *cut;

	str_add_utf8(&text, s, n < LINE_LENGTH ? n : LINE_LENGTH);
	for (char *p = text.s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	cut = str_trim(text.s);
	str_add(out, cut);
}

static const char *sign_of(const char *line, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (memmem(line, n, signs[i].text, strlen(signs[i].text)))
			return signs[i].outcome;
	return NULL;
}

bool console_diagnose(const char *text, size_t n, const char **outcome, struct str *line)
{
	while (n) {
		const char *nl = memchr(text, '\n', n);
		size_t length = nl ? (size_t)(nl - text) : n;
		const char *sign = sign_of(text, length);

		if (sign) {
			*outcome = sign;
			add_plain(line, text, length);
			return true;
		}
		text += length + (nl != NULL);
		n -= length + (nl != NULL);
	}
	return false;
}

void console_last_line(const char *text, size_t n, struct str *line)
{
	size_t end = n, start;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	start = end;
	while (start && text[start - 1] != '\n')
		start--;
	add_plain(line, text + start, end - start);
}
