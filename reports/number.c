// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers for people. */
#include "reports/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scale {
	double from;
	double divide;
	const char *unit;
};

static const struct scale times[] = {
	{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
static const struct scale sizes[] = {{1099511627776.0, 1099511627776.0, "TiB"},
				     {1073741824.0, 1073741824.0, "GiB"},
				     {1048576.0, 1048576.0, "MiB"},
				     {1024.0, 1024.0, "KiB"},
				     {0, 1, "B"}};
static const struct scale rates[] = {
	{1e9, 1e9, "G/s"}, {1e6, 1e6, "M/s"}, {1e3, 1e3, "k/s"}, {0, 1, "/s"}};
static const struct scale counts[] = {
	{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}, {0, 1, ""}};
static const struct scale cycles[] = {
	{1e9, 1e9, "Gcycles"}, {1e6, 1e6, "Mcycles"}, {0, 1, "cycles"}};
static const struct scale ratios[] = {{0, 1, ""}};

static const struct scale *scale_of(double value, const char *unit)
{
	static const struct {
		const char *unit;
		const struct scale *scales;
	} table[] = {{"ns", times},	{"bytes", sizes},   {"count/s", rates},
		     {"count", counts}, {"cycles", cycles}, {"ratio", ratios}};
	const struct scale *scale = ratios;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].unit, unit))
			scale = table[i].scales;
	while (scale->from > 0 && fabs(value) < scale->from)
		scale++;
	return scale;
}

/* To four digits, so that 99.999 is known to be as wide as 100.0. */
static double rounded(double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3e", v);
	return strtod(text, NULL);
}

/* Four digits, without an exponent while that is readable. */
static void add_digits(struct str *out, double v)
{
	double size = rounded(fabs(v));
	int before = size >= 1 ? (int)floor(log10(size)) + 1 : 1;

	if (size >= 1e7 || (size > 0 && size < 1e-4))
		str_addf(out, "%.3e", v);
	else if (size > 0 && size < 1)
		str_addf(out, "%.4f", v);
	else
		str_addf(out, "%.*f", before < 4 ? 4 - before : 0, v);
}

void number_add(struct str *out, double value, const char *unit)
{
	const struct scale *scale;

	if (!isfinite(value)) {
		str_addc(out, '-');
		return;
	}
	if (value == 0)
		value = 0;
	scale = scale_of(value, unit ? unit : "");
	add_digits(out, value / scale->divide);
	if (*scale->unit)
		str_addf(out, "%s%s", scale->unit[0] == '/' || scale->unit[1] == '/' ? "" : " ",
			 scale->unit);
}

void number_add_pct(struct str *out, double pct)
{
	if (!isfinite(pct))
		str_addc(out, '-');
	else if (pct >= 900)
		str_addf(out, "x %.*f", pct < 9900 ? 1 : 0, 1 + pct / 100);
	else if (fabs(pct) < 0.005)
		str_add(out, "0.00 %");
	else
		str_addf(out, "%+.*f %%", fabs(pct) < 0.1 ? 2 : 1, pct);
}

static void add_limit(struct str *out, double pct)
{
	if (isnan(pct))
		str_addc(out, '-');
	else if (isinf(pct))
		str_add(out, pct < 0 ? "-inf" : "inf");
	else if (pct >= 900)
		str_addf(out, "x %.*f", pct < 9900 ? 1 : 0, 1 + pct / 100);
	else
		str_addf(out, "%+.*f", fabs(pct) < 0.1 ? 2 : 1, pct);
}

void number_add_interval(struct str *out, double lo_pct, double hi_pct)
{
	if (isnan(lo_pct) || isnan(hi_pct)) {
		str_addc(out, '-');
		return;
	}
	add_limit(out, lo_pct);
	str_add(out, " .. ");
	add_limit(out, hi_pct);
	if (isfinite(hi_pct) && hi_pct < 900)
		str_add(out, " %");
}

void number_add_probability(struct str *out, double p)
{
	if (!isfinite(p))
		str_addc(out, '-');
	else if (p < 1 && p > 0.9999)
		str_add(out, "> 0.9999");
	else if (p > 0 && p < 0.0001)
		str_add(out, "< 0.0001");
	else
		str_addf(out, "%.4f", p);
}

void number_add_share(struct str *out, double share)
{
	double pct = 100 * share;

	if (!isfinite(pct))
		str_addc(out, '-');
	else
		str_addf(out, "%.*f %%", pct < 1 ? 3 : pct < 10 ? 2 : 1, pct);
}

static struct number_text short_lived(const struct str *text)
{
	struct number_text out;

	snprintf(out.s, sizeof(out.s), "%s", text->s);
	return out;
}

struct number_text number_value(double value, const char *unit)
{
	AUTO_STR text = str_new();

	number_add(&text, value, unit);
	return short_lived(&text);
}

struct number_text number_pct(double pct)
{
	AUTO_STR text = str_new();

	number_add_pct(&text, pct);
	return short_lived(&text);
}

struct number_text number_interval(double lo_pct, double hi_pct)
{
	AUTO_STR text = str_new();

	number_add_interval(&text, lo_pct, hi_pct);
	return short_lived(&text);
}

struct number_text number_share(double share)
{
	AUTO_STR text = str_new();

	number_add_share(&text, share);
	return short_lived(&text);
}
