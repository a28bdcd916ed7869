/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SPINLOCK_H
#define BENCH_SPINLOCK_H

/*
 * Whether waits for spinlocks can be seen at all. A guest without paravirtual spinlocks uses
 * test-and-set locks, which return before the tracepoint (arch/x86/include/asm/qspinlock.h); a
 * native queued spinlock tells nothing of its first waiter (kernel/locking/qspinlock.c).
 */

#include "bench/kallsyms.h"

enum spinlock_kind {
	SPINLOCK_NATIVE,
	SPINLOCK_PV,
	SPINLOCK_TEST_AND_SET
};

struct spinlock_facts {
	bool hypervisor; /* CPUID says that we are a guest */
	bool paravirt;	 /* the kernel has CONFIG_PARAVIRT */
	bool kvm;
	bool pv_unhalt; /* KVM_FEATURE_PV_UNHALT */
	bool dedicated; /* KVM_HINTS_REALTIME */
	bool nopvspin;	/* on the command line */
	unsigned cpus;
};

void spinlock_facts_read(struct spinlock_facts *facts, const struct kallsyms *syms);
enum spinlock_kind spinlock_kind_of(const struct spinlock_facts *facts);
/* False with the reason (static text) when spinlock waits cannot be seen. */
bool spinlock_measurable(const struct spinlock_facts *facts, const char **reason);

#endif
