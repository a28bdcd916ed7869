/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BENCH_MAIN_H
#define BENCH_BENCH_MAIN_H

/* The command line that every benchmark has: --help, --describe, --json, --preset, parameters. */

#include "bench/bench.h"

int bench_main(const struct bench *bench, int argc, char **argv);

#endif
