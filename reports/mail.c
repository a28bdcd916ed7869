// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds one mail. */
#include "reports/mail.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "reports/header.h"

enum {
	LINE_MOST = 998,
	QP_MOST = 75
};

static bool is_short_ascii(const char *s)
{
	for (size_t line = 0; *s; s++) {
		line = *s == '\n' ? 0 : line + 1;
		if ((unsigned char)*s > 0x7e || line > LINE_MOST)
			return false;
	}
	return true;
}

/* Tabs stay; every other control character would be a reader's problem. */
static void add_clean_line(struct str *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		str_addc(out, (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c);
	}
}

/* RFC 2045 6.7; blanks at a line's end are encoded too. */
static void add_qp_line(struct str *out, const char *s, size_t n)
{
	size_t column = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool last = i + 1 == n;
		bool plain =
			(c >= 0x21 && c <= 0x7e && c != '=') || ((c == ' ' || c == '\t') && !last);
		size_t size = plain ? 1 : 3;

		if (column + size > QP_MOST) {
			str_add(out, "=\r\n");
			column = 0;
		}
		if (plain)
			str_addc(out, (char)c);
		else
			str_addf(out, "=%02X", c);
		column += size;
	}
}

static void add_body(struct str *out, const char *body)
{
	bool plain = is_short_ascii(body);

	str_addf(out, "Content-Transfer-Encoding: %s\r\n\r\n", plain ? "7bit" : "quoted-printable");
	while (*body) {
		size_t n = strcspn(body, "\n");
		AUTO_STR clean = str_new();

		add_clean_line(&clean, body, n);
		if (plain)
			str_addn(out, clean.s, clean.len);
		else
			add_qp_line(out, clean.s, clean.len);
		str_add(out, "\r\n");
		body += n + (body[n] == '\n');
	}
}

bool mail_build(const struct mail *mail, struct str *out, struct err *err)
{
	AUTO_STRS from = STRS_INIT;
	AUTO_STR text = str_new();

	if (!header_message_id_ok(mail->message_id))
		return err_set(err, ERR_FAILED, "mail: '%s' is no Message-ID", mail->message_id);
	strs_push(&from, mail->from);
	str_add(&text, "Date: ");
	clock_add_rfc5322(&text, mail->date_s);
	str_add(&text, "\r\n");
	if (!header_add_mailboxes(&text, "From", &from, err))
		return false;
	if (!mail->to->n)
		str_add(&text, "To: undisclosed-recipients:;\r\n");
	else if (!header_add_mailboxes(&text, "To", mail->to, err))
		return false;
	if (mail->cc && mail->cc->n && !header_add_mailboxes(&text, "Cc", mail->cc, err))
		return false;
	header_add_text(&text, "Subject", mail->subject);
	str_addf(&text, "Message-ID: <%s>\r\n", mail->message_id);
	if (mail->in_reply_to && header_message_id_ok(mail->in_reply_to))
		str_addf(&text, "In-Reply-To: <%s>\r\nReferences: <%s>\r\n", mail->in_reply_to,
			 mail->in_reply_to);
	str_addf(&text, "User-Agent: mmperf/%s\r\n", MMPERF_VERSION);
	if (mail->regression)
		str_addf(&text, "X-Mmperf-Regression: %lld\r\n", (long long)mail->regression);
	str_add(&text, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
		       "Content-Type: text/plain; charset=utf-8\r\n");
	add_body(&text, mail->body);
	str_addn(out, text.s, text.len);
	return true;
}

bool mail_new_id(const char *from, int64_t regression, const char *oid, char **out, struct err *err)
{
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *address = NULL;
	uint64_t random;

	if (!header_mailbox_parse(from, &name, &address, err))
		return false;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_sys(err, "mail: no random numbers");
	*out = xasprintf("mmperf.%lld.%.12s.%016llx@%s", (long long)regression, oid,
			 (unsigned long long)random, strrchr(address, '@') + 1);
	return true;
}
