// SPDX-License-Identifier: GPL-2.0-or-later
/* A console, as it grows. */
#include "runner/console_watch.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "runner/console.h"

#define LOOK_S	0.2
/* A trace of a hundred lines takes a second at 115200 baud; the reason stands before it. */
#define GRACE_S 2.0

void console_watch_init(struct console_watch *w, const char *path)
{
	*w = (struct console_watch){.path = path, .banner_from = SIZE_MAX, .line = str_new()};
}

void console_watch_release(struct console_watch *w)
{
	str_release(&w->line);
}

void console_watch_from(struct console_watch *w, size_t at)
{
	w->at = at;
	w->banner_from = SIZE_MAX;
	w->gap = false;
	w->look_at_s = w->ended_at_s = 0;
	str_clear(&w->line);
}

void console_watch_is_up(struct console_watch *w)
{
	struct stat st;

	w->banner_from = stat(w->path, &st) ? 0 : (size_t)st.st_size;
}

static void take_line(struct console_watch *w, size_t at, const char *line, size_t n)
{
	if (console_is_gap(line, n))
		w->gap = true;
	else if (!w->gap && !w->line.len && console_ends(line, n, at >= w->banner_from))
		console_last_line(line, n, &w->line);
}

/* Whole lines only: the rest is read again. */
static void read_on(struct console_watch *w)
{
	AUTO_CLOSE int fd = open(w->path, O_RDONLY | O_CLOEXEC);
	char buf[16384];
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, buf, sizeof(buf), (off_t)w->at)) > 0) {
		const char *start = buf, *end;

		while ((end = memchr(start, '\n', (size_t)(buf + n - start)))) {
			take_line(w, w->at + (size_t)(start - buf), start, (size_t)(end - start));
			start = end + 1;
		}
		if (start == buf && n < (ssize_t)sizeof(buf))
			return;
		/* A line that fills the buffer is nobody's message. */
		w->at += start == buf ? (size_t)n : (size_t)(start - buf);
	}
}

bool console_watch_ended(struct console_watch *w)
{
	double now = clock_mono_s();

	if (now >= w->look_at_s && !w->line.len) {
		w->look_at_s = now + LOOK_S;
		read_on(w);
		w->ended_at_s = now;
	}
	return w->line.len && now >= w->ended_at_s + GRACE_S;
}
