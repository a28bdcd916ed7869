// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces into lines. */
#include "runner/serial_lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"

#define MARK	 "mmperf:"
#define SUM_SIZE 8
#define MAX_LINE ((size_t)16 << 20)

void serial_lines_init(struct serial_lines *s, size_t at)
{
	*s = (struct serial_lines){.at = at, .line = str_new()};
}

void serial_lines_release(struct serial_lines *s)
{
	str_release(&s->line);
}

struct piece {
	uint64_t seq;
	const char *sum, *data;
	size_t n;
	bool last;
};

/* False: a line of somebody else. What comes before our mark is the kernel's time. */
static bool parse(const char *line, size_t n, struct piece *out)
{
	const char *p = memmem(line, n, MARK, sizeof(MARK) - 1), *end = line + n;
	size_t digits = 0;

	if (!p)
		return false;
	p += sizeof(MARK) - 1;
	for (out->seq = 0; p < end && *p >= '0' && *p <= '9' && digits < 18; p++, digits++)
		out->seq = out->seq * 10 + (uint64_t)(*p - '0');
	if (!digits || end - p < SUM_SIZE + 3 || p[0] != ':' || p[SUM_SIZE + 1] != ':' ||
	    (p[SUM_SIZE + 2] != '.' && p[SUM_SIZE + 2] != '+'))
		return false;
	out->sum = p + 1;
	out->last = p[SUM_SIZE + 2] == '.';
	out->data = p + SUM_SIZE + 3;
	out->n = (size_t)(end - out->data);
	return true;
}

static bool take(struct serial_lines *s, const struct piece *piece, struct str *out,
		 struct err *err)
{
	char sum[HASH_HEX_SIZE];

	hash_of(piece->data, piece->n, sum);
	if (memcmp(sum, piece->sum, SUM_SIZE) != 0)
		return err_set(err, ERR_FAILED,
			       "the console damaged piece %llu of the agent's lines",
			       (unsigned long long)piece->seq);
	/* Process 1, once its child is dead, begins at 0. */
	if (piece->seq != s->next && (piece->seq || s->line.len))
		return err_set(
			err, ERR_FAILED,
			"the console lost some of the agent's lines: piece %llu came, %llu was due",
			(unsigned long long)piece->seq, (unsigned long long)s->next);
	s->next = piece->seq + 1;
	if (s->line.len + piece->n > MAX_LINE)
		return err_set(err, ERR_FAILED, "the agent's line never ends");
	str_addn(&s->line, piece->data, piece->n);
	if (!piece->last)
		return true;
	str_addn(out, s->line.s, s->line.len);
	str_addc(out, '\n');
	str_clear(&s->line);
	return true;
}

bool serial_lines_feed(struct serial_lines *s, const char *text, size_t n, struct str *out,
		       struct err *err)
{
	const char *end;

	for (; (end = memchr(text, '\n', n)); n -= (size_t)(end + 1 - text), text = end + 1) {
		size_t length = (size_t)(end - text);
		struct piece piece;

		while (length && text[length - 1] == '\r')
			length--;
		if (parse(text, length, &piece) && !take(s, &piece, out, err))
			return false;
	}
	return true;
}

static bool append(const char *path, const struct str *text, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	return (fd >= 0 && fs_write_fd(fd, text->s, text->len)) ||
	       err_sys(err, "cannot write %s", path);
}

bool serial_lines_pull(struct serial_lines *s, const char *console, const char *lines,
		       struct err *err)
{
	AUTO_CLOSE int fd = open(console, O_RDONLY | O_CLOEXEC);
	AUTO_STR text = str_new(), out = str_new();
	const char *last;
	char buf[65536];
	ssize_t n;

	for (off_t at = (off_t)s->at; fd >= 0 && (n = pread(fd, buf, sizeof(buf), at)) > 0; at += n)
		str_addn(&text, buf, (size_t)n);
	last = memrchr(text.s, '\n', text.len);
	if (!last)
		return true;
	s->at += (size_t)(last + 1 - text.s);
	return serial_lines_feed(s, text.s, (size_t)(last + 1 - text.s), &out, err) &&
	       (!out.len || append(lines, &out, err));
}
