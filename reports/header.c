// SPDX-License-Identifier: GPL-2.0-or-later
/* Mail header fields. */
#include "reports/header.h"

#include <ctype.h>
#include <string.h>

#include "reports/escape.h"

enum {
	LINE_WANTED = 76, /* RFC 5322 2.1.1 and RFC 2047 2 */
	WORD_MOST = 75,	  /* of an encoded word, with its frame */
};

static const char word_open[] = "=?UTF-8?Q?";
static const char word_close[] = "?=";

static bool is_plain(const char *s)
{
	if (strstr(s, "=?"))
		return false;
	for (const char *word = s; *word;) {
		size_t n = strcspn(word, " ");

		if (n > LINE_WANTED - 20)
			return false;
		word += n + strspn(word + n, " ");
	}
	for (; *s; s++)
		if (*s < 0x20 || *s > 0x7e)
			return false;
	return true;
}

/* One character in the Q encoding that is good in text and in phrases (RFC 2047 5(3)). */
static void q_encode(const char *s, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == ' ')
			str_addc(out, '_');
		else if (isascii(c) && (isalnum(c) || strchr("!*+-/", c)))
			str_addc(out, (char)c);
		else
			str_addf(out, "=%02X", c);
	}
}

static size_t utf8_size(const char *s)
{
	size_t n = 1;

	while (((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* column: where out's line stands; every word ends between characters and below WORD_MOST. */
static void add_encoded(struct str *out, const char *s, size_t *column)
{
	const size_t frame = strlen(word_open) + strlen(word_close);
	AUTO_STR word = str_new();

	while (*s) {
		str_clear(&word);
		while (*s) {
			size_t n = utf8_size(s);
			AUTO_STR one = str_new();

			q_encode(s, n, &one);
			if (*column + frame + word.len + one.len > WORD_MOST)
				break;
			str_add(&word, one.s);
			s += n;
		}
		if (word.len) {
			str_addf(out, "%s%s%s", word_open, word.s, word_close);
			*column += frame + word.len;
		}
		if (*s) {
			str_add(out, "\r\n ");
			*column = 1;
		}
	}
}

static void add_folded(struct str *out, const char *s, size_t *column)
{
	while (*s) {
		size_t blanks = strspn(s, " "), n = strcspn(s + blanks, " ");

		if (*column + blanks + n > LINE_WANTED && blanks && *column > 1) {
			str_add(out, "\r\n");
			*column = 0;
		}
		str_addn(out, s, blanks + n);
		*column += blanks + n;
		s += blanks + n;
	}
}

void header_add_text(struct str *out, const char *name, const char *value)
{
	size_t column = strlen(name) + 2;
	AUTO_STR text = str_new();
	char *trimmed;

	escape_text(&text, value);
	trimmed = str_trim(text.s);
	str_addf(out, "%s: ", name);
	if (is_plain(trimmed))
		add_folded(out, trimmed, &column);
	else
		add_encoded(out, trimmed, &column);
	str_add(out, "\r\n");
}

static bool is_atext(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isascii(s[i]) ||
		    (!isalnum((unsigned char)s[i]) && !strchr("!#$%&'*+-/=?^_`{|}~.", s[i])))
			return false;
	return n && s[0] != '.' && s[n - 1] != '.';
}

bool header_address_ok(const char *address)
{
	const char *at = strrchr(address, '@');

	if (!at || strlen(address) > 254 || at - address > 64 || strstr(address, "..") ||
	    !is_atext(address, (size_t)(at - address)))
		return false;
	at++;
	return *at && *at != '.' && *at != '-' && at[strlen(at) - 1] != '.' &&
	       strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       strlen(at);
}

bool header_mailbox_parse(const char *text, char **name, char **address, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *open = strrchr(copy, '<'), *shown = copy, *bare = copy;
	size_t n;

	if (open) {
		*open = '\0';
		bare = open + 1;
		n = strlen(bare);
		if (!n || bare[n - 1] != '>')
			return err_set(err, ERR_USAGE, "mail address '%s': the > is missing", text);
		bare[n - 1] = '\0';
	} else {
		shown = copy + strlen(copy);
	}
	bare = str_trim(bare);
	shown = str_trim(shown);
	n = strlen(shown);
	if (n >= 2 && shown[0] == '"' && shown[n - 1] == '"') {
		shown[n - 1] = '\0';
		shown++;
	}
	if (!header_address_ok(bare))
		return err_set(err, ERR_USAGE, "'%s' is not a mail address (name@host.domain)",
			       text);
	*name = xstrdup(shown);
	*address = xstrdup(bare);
	return true;
}

static void add_phrase(struct str *out, const char *name, size_t *column)
{
	AUTO_STR text = str_new();

	escape_text(&text, name);
	if (!is_plain(text.s)) {
		add_encoded(out, text.s, column);
		return;
	}
	str_addc(out, '"');
	for (const char *p = text.s; *p; p++) {
		if (*p == '"' || *p == '\\')
			str_addc(out, '\\');
		str_addc(out, *p);
	}
	str_addc(out, '"');
	*column += text.len + 2;
}

static bool add_mailbox(struct str *out, const char *mailbox, size_t *column, struct err *err)
{
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *address = NULL;

	if (!header_mailbox_parse(mailbox, &name, &address, err))
		return false;
	if (*name) {
		add_phrase(out, name, column);
		if (*column + strlen(address) + 4 > LINE_WANTED) {
			str_add(out, "\r\n");
			*column = 0;
		}
		str_addf(out, " <%s>", address);
	} else {
		str_add(out, address);
	}
	*column += strlen(address) + 3;
	return true;
}

bool header_add_mailboxes(struct str *out, const char *name, const struct strs *mailboxes,
			  struct err *err)
{
	size_t column = strlen(name) + 2;

	str_addf(out, "%s: ", name);
	for (size_t i = 0; i < mailboxes->n; i++) {
		if (i) {
			str_add(out, ",\r\n ");
			column = 1;
		}
		if (!add_mailbox(out, mailboxes->v[i], &column, err))
			return false;
	}
	str_add(out, "\r\n");
	return true;
}

bool header_message_id_ok(const char *id)
{
	const char *at = strchr(id, '@');

	if (!at || at == id || !at[1] || strchr(at + 1, '@') || strlen(id) > 200)
		return false;
	for (; *id; id++)
		if (*id <= 0x20 || *id > 0x7e || strchr("<>()[],;:\\\"", *id))
			return false;
	return true;
}
