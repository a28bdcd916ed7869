/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KALLSYMS_H
#define BENCH_KALLSYMS_H

/* Kernel functions by address. */

#include "base/str.h"

#include <stdint.h>

struct kallsyms;

/* From /proc/kallsyms; an error when addresses are hidden (kernel.kptr_restrict, not root). */
bool kallsyms_load(struct kallsyms **out, struct err *err) _must_check;
/* From text of that form; only text symbols are kept. */
bool kallsyms_parse(const char *text, struct kallsyms **out, struct err *err) _must_check;
void kallsyms_free(struct kallsyms *syms);
void kallsyms_free_ptr(struct kallsyms **syms);

/* The function that holds address, without suffixes such as .isra.0; NULL when unknown. */
const char *kallsyms_find(const struct kallsyms *syms, uint64_t address);
/* True for frames that take or trace a lock: lock and scheduler text, helpers by name, and what is
 * outside the kernel's text (BPF programs). */
bool kallsyms_is_lock_text(const struct kallsyms *syms, uint64_t address);
bool kallsyms_has_prefix(const struct kallsyms *syms, const char *prefix);

#endif
