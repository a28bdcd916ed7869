// SPDX-License-Identifier: GPL-2.0-or-later
/* Mails from hostile text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "reports/header.h"
#include "reports/mail.h"
#include "reports/spool.h"

static void addresses(void **state _unused)
{
	static const char *const good[] = {"a@b", "first.last+tag@example.org", "x_y@a-b.example"};
	static const char *const bad[] = {
		"",	  "a",	  "@b",	  "a@",	  "a b@c",   "a@b c",	"a@b\r\nc",   "<a@b>",
		"a..b@c", ".a@c", "a@-b", "a@b.", "a@b,c@d", "\"a\"@b", "\xc3\x96@b", "a@b@c d"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(header_address_ok(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(header_address_ok(bad[i]));
}

static void message_ids(void **state _unused)
{
	assert_true(header_message_id_ok("20260301.ada@example.org"));
	assert_false(header_message_id_ok("no-at"));
	assert_false(header_message_id_ok("a@b>\r\nBcc: c"));
	assert_false(header_message_id_ok("a b@c"));
	assert_false(header_message_id_ok("a@b@c"));
	assert_false(header_message_id_ok("@b"));
	assert_false(header_message_id_ok("a@"));
}

static void mailboxes(void **state _unused)
{
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *address = NULL;
	struct err err = {0};

	assert_true(header_mailbox_parse("\"Ada, L.\" <ada@example.org>", &name, &address, &err));
	assert_string_equal(name, "Ada, L.");
	assert_string_equal(address, "ada@example.org");
	assert_false(header_mailbox_parse("Ada <ada@example.org", &name, &address, &err));
	assert_non_null(strstr(err.msg, "the > is missing"));
	assert_false(header_mailbox_parse("nobody", &name, &address, &err));
	assert_int_equal(err.kind, ERR_USAGE);
}

static void plain_subject_is_folded(void **state _unused)
{
	AUTO_STR out = str_new();

	header_add_text(&out, "Subject",
			"[mm/mm-unstable] 0123456789ab (\"mm/swap: drop the lock\"): "
			"fault.latency +12.3 % regression");
	assert_string_equal(out.s, "Subject: [mm/mm-unstable] 0123456789ab (\"mm/swap: drop the "
				   "lock\"):\r\n fault.latency +12.3 % regression\r\n");
}

/* No line is longer than 78, every byte is printable ASCII, and no line starts a new field. */
static void check_lines(const char *s)
{
	for (size_t n; *s; s += n + 2) {
		n = strcspn(s, "\r\n");
		assert_true(n <= 78);
		for (size_t i = 0; i < n; i++)
			assert_true(s[i] >= 0x20 && s[i] <= 0x7e);
		assert_true(s[n] == '\r' && s[n + 1] == '\n');
		assert_true(!s[n + 2] || s[n + 2] == ' ');
	}
}

static void hostile_subjects_stay_one_field(void **state _unused)
{
	static const char *const subjects[] = {
		"a\r\nBcc: victim@example.org",
		"\r\n\r\nbody",
		"=?UTF-8?Q?fake?=",
		"\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96"
		"\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96\xc3\x96",
		"\xff\xfe\x01\x02",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		AUTO_STR out = str_new();

		header_add_text(&out, "Subject", subjects[i]);
		check_lines(out.s);
	}
}

static void build(const char *subject, const char *body, const char *reply, struct str *out)
{
	AUTO_STRS to = STRS_INIT;
	const struct mail mail = {.from = "mmperf <mmperf@example.org>",
				  .to = &to,
				  .subject = subject,
				  .body = body,
				  .message_id = "mmperf.1@example.org",
				  .in_reply_to = reply,
				  .date_s = 1767225600,
				  .regression = 7};
	struct err err = {0};

	strs_push(&to, "\"L, Lab\" <lab@example.org>");
	strs_push(&to, "two@example.org");
	assert_true(mail_build(&mail, out, &err));
}

static void whole_message(void **state _unused)
{
	static const char want[] = "Date: Thu, 01 Jan 2026 00:00:00 +0000\r\n"
				   "From: \"mmperf\" <mmperf@example.org>\r\n"
				   "To: \"L, Lab\" <lab@example.org>,\r\n two@example.org\r\n"
				   "Subject: s\r\n"
				   "Message-ID: <mmperf.1@example.org>\r\n"
				   "In-Reply-To: <patch@example.org>\r\n"
				   "References: <patch@example.org>\r\n"
				   "User-Agent: mmperf/" MMPERF_VERSION "\r\n"
				   "X-Mmperf-Regression: 7\r\n"
				   "Auto-Submitted: auto-generated\r\n"
				   "MIME-Version: 1.0\r\n"
				   "Content-Type: text/plain; charset=utf-8\r\n"
				   "Content-Transfer-Encoding: 7bit\r\n"
				   "\r\n"
				   "one\r\n\r\n.two ?\r\n";
	AUTO_STR out = str_new();

	build("s", "one\n\n.two \x1b\n", "patch@example.org", &out);
	assert_string_equal(out.s, want);
}

static void a_bad_reply_is_left_out(void **state _unused)
{
	AUTO_STR out = str_new();

	build("s", "b\n", "a@b>\r\nBcc: <c@d", &out);
	assert_null(strstr(out.s, "In-Reply-To"));
	assert_null(strstr(out.s, "Bcc"));
}

static void long_or_foreign_lines_are_encoded(void **state _unused)
{
	AUTO_STR body = str_new();
	AUTO_STR out = str_new();
	const char *p;

	for (int i = 0; i < 500; i++)
		str_add(&body, "\xc3\x96=");
	str_add(&body, "end \n");
	build("s", body.s, NULL, &out);
	p = strstr(out.s, "\r\n\r\n");
	assert_non_null(strstr(out.s, "quoted-printable"));
	assert_non_null(strstr(out.s, "=C3=96=3D"));
	assert_non_null(strstr(out.s, "end=20\r\n"));
	for (size_t n; *(p += 2); p += n) {
		n = strcspn(p, "\r");
		assert_true(n <= 76);
	}
}

static void a_spool_file_is_written_once(void **state _unused)
{
	char dir[] = "/tmp/mmperf-spool-XXXXXX";
	AUTO_FREE char *sub = NULL;
	AUTO_FREE char *path = NULL;
	AUTO_STR text = str_new();
	struct err err = {0};

	assert_non_null(mkdtemp(dir));
	sub = xasprintf("%s/spool", dir);
	path = spool_path(sub, "a@b");
	assert_false(spool_has(sub, "a@b"));
	assert_true(spool_put(sub, "a@b", "one\r\ntwo\r\n", &err));
	assert_true(spool_has(sub, "a@b"));
	assert_true(spool_put(sub, "a@b", "other\r\n", &err));
	assert_true(fs_read(path, 1000, &text, &err));
	assert_string_equal(text.s, "one\ntwo\n");
	assert_false(spool_put(sub, "../../x", "y", &err));
	assert_true(fs_remove_tree(dir, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(message_ids),
		cmocka_unit_test(mailboxes),
		cmocka_unit_test(plain_subject_is_folded),
		cmocka_unit_test(hostile_subjects_stay_one_field),
		cmocka_unit_test(whole_message),
		cmocka_unit_test(a_bad_reply_is_left_out),
		cmocka_unit_test(long_or_foreign_lines_are_encoded),
		cmocka_unit_test(a_spool_file_is_written_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
