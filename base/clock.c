// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks, dates, spans. */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

double clock_mono_s(void)
{
	return (double)clock_mono_ns() / 1e9;
}

uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int64_t clock_wall_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

void clock_sleep_s(double seconds)
{
	struct timespec left;

	if (!(seconds > 0))
		return;
	left.tv_sec = (time_t)seconds;
	left.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

void clock_add_utc(struct str *out, int64_t wall_s)
{
	time_t t = wall_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm)) {
		str_add(out, "(no date)");
		return;
	}
	str_addf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void clock_add_rfc5322(struct str *out, int64_t wall_s)
{
	/* strftime() would write the names of the current locale. */
	static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t t = wall_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm)) {
		t = 0;
		gmtime_r(&t, &tm);
	}
	str_addf(out, "%s, %02d %s %d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday,
		 months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* The largest unit and the one below it; a zero remainder is left out. */
static void add_two(struct str *out, long long whole, long long unit_s, const char *unit,
		    long long lesser_s, const char *lesser)
{
	long long rest = whole % unit_s / lesser_s;

	str_addf(out, "%lld %s", whole / unit_s, unit);
	if (rest)
		str_addf(out, " %lld %s", rest, lesser);
}

void clock_add_span(struct str *out, double seconds)
{
	long long whole;

	if (!isfinite(seconds) || fabs(seconds) > 1e15) {
		str_add(out, "unlimited");
		return;
	}
	if (seconds < 0) {
		str_addc(out, '-');
		seconds = -seconds;
	}
	whole = llround(seconds);
	if (seconds > 0 && seconds < 0.9995)
		str_addf(out, "%.3g ms", seconds * 1e3);
	else if (whole < 60)
		str_addf(out, "%lld s", whole);
	else if (whole < 3600)
		add_two(out, whole, 60, "min", 1, "s");
	else if (whole < 86400)
		add_two(out, whole, 3600, "h", 60, "min");
	else
		add_two(out, whole, 86400, "d", 3600, "h");
}
