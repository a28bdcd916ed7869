// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile text made harmless. */
#include "reports/escape.h"

#include <stdint.h>
#include <string.h>

/* Code point of the valid UTF-8 sequence at s, and its length. */
static uint32_t decode(const char *s, size_t *len)
{
	const unsigned char *u = (const unsigned char *)s;

	*len = u[0] < 0x80 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	switch (*len) {
	case 1:
		return u[0];
	case 2:
		return (uint32_t)(u[0] & 0x1f) << 6 | (u[1] & 0x3f);
	case 3:
		return (uint32_t)(u[0] & 0x0f) << 12 | (uint32_t)(u[1] & 0x3f) << 6 | (u[2] & 0x3f);
	default:
		return (uint32_t)(u[0] & 0x07) << 18 | (uint32_t)(u[1] & 0x3f) << 12 |
		       (uint32_t)(u[2] & 0x3f) << 6 | (u[3] & 0x3f);
	}
}

/* Turns the direction of text, is invisible, or breaks a line where no newline stands. */
static bool deceives(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{0x7f, 0x9f},	  {0xad, 0xad},	    {0x61c, 0x61c},   {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

static void show_control(struct str *out, uint32_t c)
{
	if (c == '\n')
		str_add(out, "\\n");
	else if (c == '\r')
		str_add(out, "\\r");
	else if (c == '\t')
		str_add(out, "\\t");
	else if (c < 0x80)
		str_addf(out, "\\x%02x", (unsigned)c);
	else if (c < 0x10000)
		str_addf(out, "\\u%04x", (unsigned)c);
	else
		str_addf(out, "\\U%08x", (unsigned)c);
}

static const char *entity(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void escape(struct str *out, const char *s, size_t max, bool html)
{
	AUTO_STR valid = str_new();
	size_t len;

	if (!s)
		return;
	str_add_utf8(&valid, s, strlen(s));
	for (const char *p = valid.s; *p; p += len) {
		uint32_t c = decode(p, &len);

		if (!max--) {
			str_add(out, "...");
			return;
		}
		if (c < 0x20 || deceives(c))
			show_control(out, c);
		else if (html && entity(c))
			str_add(out, entity(c));
		else
			str_addn(out, p, len);
	}
}

void escape_text(struct str *out, const char *s)
{
	escape(out, s, SIZE_MAX, false);
}

void escape_text_cut(struct str *out, const char *s, size_t max)
{
	escape(out, s, max, false);
}

void escape_html(struct str *out, const char *s)
{
	escape(out, s, SIZE_MAX, true);
}

void escape_href(struct str *out, const char *url)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._~:/?#[]@!$&()*+,;=%";

	if (url && (str_starts(url, "http://") || str_starts(url, "https://")) &&
	    strspn(url, allowed) == strlen(url))
		escape_html(out, url);
	else
		str_addc(out, '#');
}

void escape_shell(struct str *out, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._/:=+@%,";
	AUTO_STR text = str_new();

	if (!s)
		return;
	escape_text(&text, s);
	if (text.len && strspn(text.s, plain) == text.len) {
		str_add(out, text.s);
		return;
	}
	str_addc(out, '\'');
	for (const char *p = text.s; *p; p++) {
		if (*p == '\'')
			str_add(out, "'\\''");
		else
			str_addc(out, *p);
	}
	str_addc(out, '\'');
}
