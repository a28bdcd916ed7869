// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines that tell how far it is. */
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/show.h"

#define PLAIN_EVERY_S 5.0

void progress_init(struct progress *progress, bool quiet)
{
	*progress = (struct progress){
		.terminal = isatty(STDERR_FILENO) == 1,
		.quiet = quiet,
		.started_s = clock_mono_s(),
	};
}

void progress_release(struct progress *progress)
{
	if (progress->open)
		fputc('\n', stderr);
	free(progress->last);
	free(progress->phase);
	*progress = (struct progress){0};
}

static void add_times(const struct progress *progress, double eta_s, bool at_most, struct str *line)
{
	str_add(line, " [");
	clock_add_span(line, floor(clock_mono_s() - progress->started_s));
	if (isfinite(eta_s)) {
		str_add(line, at_most ? ", at most " : ", about ");
		clock_add_span(line, ceil(eta_s));
		str_add(line, " to go");
	}
	str_addc(line, ']');
}

static bool is_due(const struct progress *progress, const char *phase, const char *text)
{
	if (progress->quiet)
		return false;
	if (progress->terminal || !progress->phase || strcmp(progress->phase, phase))
		return true;
	return strcmp(progress->last, text) && clock_mono_s() - progress->shown_s >= PLAIN_EVERY_S;
}

static void replace(char **word, const char *by)
{
	free(*word);
	*word = xstrdup(by);
}

void progress_show(struct progress *progress, const char *phase, const char *text, double eta_s,
		   bool at_most)
{
	AUTO_STR line = str_new();

	if (!is_due(progress, phase, text))
		return;
	show_safe(text, &line);
	add_times(progress, eta_s, at_most, &line);
	if (progress->terminal)
		fprintf(stderr, "\r%s\033[K", line.s);
	else
		fprintf(stderr, "%s\n", line.s);
	fflush(stderr);
	progress->open = progress->terminal;
	progress->shown_s = clock_mono_s();
	replace(&progress->last, text);
	replace(&progress->phase, phase);
}

void progress_note(struct progress *progress, const char *fmt, ...)
{
	AUTO_STR text = str_new(), safe = str_new();
	va_list ap;

	if (progress->quiet)
		return;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	show_safe(text.s, &safe);
	fprintf(stderr, "%s%s\n", progress->open ? "\r\033[K" : "", safe.s);
	progress->open = false;
}
