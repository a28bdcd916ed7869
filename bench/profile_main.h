/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PROFILE_MAIN_H
#define BENCH_PROFILE_MAIN_H

/* `profile [--json] -- COMMAND`: folded kernel stacks on stdout; ends with COMMAND's status. */
int profile_main(int argc, char **argv);

#endif
