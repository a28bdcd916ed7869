// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of a mail about a hostile commit (libFuzzer): no line of its head may be the stranger's. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reports/mail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each line of the head begins with a field of ours or with a fold; lines end in CRLF only. */
static void check_head(const char *text)
{
	static const char *const fields[] = {"From: ",
					     "To: ",
					     "Cc: ",
					     "Subject: ",
					     "Date: ",
					     "Message-ID",
					     "In-Reply-To: ",
					     "References: ",
					     "MIME-",
					     "Content-",
					     "X-",
					     "User-Agent: ",
					     "Auto-Submitted: ",
					     " "};
	const char *end = strstr(text, "\r\n\r\n");

	if (!end)
		abort();
	while (text < end + 2) {
		const char *line_end = strstr(text, "\r\n");
		bool ours = false;

		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			ours |= !strncmp(text, fields[i], strlen(fields[i]));
		if (!ours || memchr(text, '\n', (size_t)(line_end - text)))
			abort();
		text = line_end + 2;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	AUTO_STR out = str_new();
	const struct strs nobody = {0};
	struct mail mail = {.from = "mmperf <mmperf@example.org>",
			    .to = &nobody,
			    .subject = text,
			    .body = text,
			    .message_id = "mmperf.1.0123456789ab.0@example.org",
			    .in_reply_to = text,
			    .regression = 1};
	struct err err;

	if (!mail_build(&mail, &out, &err))
		abort();
	check_head(out.s);
	return 0;
}
