/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_ONLINE_H
#define STATS_ONLINE_H

/*
 * A series watched commit by commit: is its newest stretch off the level before it? A generalised
 * likelihood ratio over the last 1 .. ONLINE_WINDOW commits against the rest of the segment
 * (Siegmund and Venkatraman 1995), in both directions. Boots are cut off at some deviations, so
 * that one of them cannot alarm; the noise is that of commits, which has layouts in it, and a
 * stretch is as certain as the correlation of neighbouring commits allows.
 */

#include <stdbool.h>
#include <stddef.h>

enum {
	ONLINE_WINDOW = 20, /* commits: what rises more slowly is the segmentation's to find */
	ONLINE_HISTORY = 8, /* commits of a segment before anything is said about it */
};

/* Normal deviate that raises a candidate. */
extern const double online_z;

struct online;

struct online *online_new(void);
void online_free(struct online *online);
void online_free_ptr(struct online **online);

struct alarm {
	bool raised;
	size_t since;  /* first commit (as counted by online_push) of the stretch */
	size_t after;  /* the last commit that is before it with 19 of 20 certainty */
	double effect; /* its mean less the mean of the segment before it */
	double z;      /* of that, > 0 is higher */
};

/* The next commit: its boots' numbers, n >= 1, on the scale of logs, in the order of the boots. */
struct alarm online_push(struct online *online, const double *boots, size_t n);
/* What an alarm was: a change starts a new segment at `since`, and what was no change counts to
 * the segment's level from there on. */
void online_settle(struct online *online, size_t since, bool changed);

/*
 * The step that the next `commits` commits of n boots would reveal with this probability, by the
 * noise and history so far; inf while there is too little of them. The alarm before the last of
 * them only adds to it.
 */
double online_detectable(const struct online *online, size_t commits, size_t n, double power);

#endif
