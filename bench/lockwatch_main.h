/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCKWATCH_MAIN_H
#define BENCH_LOCKWATCH_MAIN_H

/* `lockwatch [--json] -- COMMAND...`: who waited for which lock while COMMAND ran. */

int lockwatch_main(int argc, char **argv);

#endif
