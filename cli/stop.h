/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_STOP_H
#define CLI_STOP_H

/* SIGINT and SIGTERM as a flag that loops look at. */

void stop_on_signals(void);
/* Points to the flag: 0, or the signal that came. */
const int *stop_flag(void);

#endif
