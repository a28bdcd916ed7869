// SPDX-License-Identifier: GPL-2.0-or-later
/* The signal flag. */
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>

static int stopped_by;

static void note(int signal)
{
	__atomic_store_n(&stopped_by, signal, __ATOMIC_RELAXED);
}

void stop_on_signals(void)
{
	struct sigaction act = {.sa_handler = note};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

const int *stop_flag(void)
{
	return &stopped_by;
}
