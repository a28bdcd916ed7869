// SPDX-License-Identifier: GPL-2.0-or-later
/* Which spinlock slow path. */
#include "bench/spinlock.h"

#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/fs.h"

#define CPUID_KVM	  0x40000000u /* arch/x86/include/uapi/asm/kvm_para.h */
#define KVM_PV_UNHALT	  (1u << 7)
#define KVM_HINT_REALTIME (1u << 0)

static void ask_cpu(struct spinlock_facts *facts)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	char who[12];

	__cpuid(1, a, b, c, d);
	facts->hypervisor = (c >> 31) & 1;
	if (!facts->hypervisor)
		return;
	__cpuid(CPUID_KVM, a, b, c, d);
	memcpy(who, &b, 4);
	memcpy(who + 4, &c, 4);
	memcpy(who + 8, &d, 4);
	facts->kvm = !memcmp(who, "KVMKVMKVM\0\0\0", sizeof(who));
	if (!facts->kvm || a < CPUID_KVM + 1)
		return;
	__cpuid(CPUID_KVM + 1, a, b, c, d);
	facts->pv_unhalt = (a & KVM_PV_UNHALT) != 0;
	facts->dedicated = (d & KVM_HINT_REALTIME) != 0;
#else
	facts->hypervisor = false;
#endif
}

void spinlock_facts_read(struct spinlock_facts *facts, const struct kallsyms *syms)
{
	AUTO_STR cmdline = str_new();
	struct err err;

	*facts = (struct spinlock_facts){.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
	ask_cpu(facts);
	facts->paravirt = kallsyms_has_prefix(syms, "paravirt_") ||
			  kallsyms_has_prefix(syms, "native_pv_lock_init");
	if (fs_read("/proc/cmdline", 65536, &cmdline, &err)) {
		AUTO_STRS words = STRS_INIT;

		strs_split(&words, cmdline.s, " \n");
		facts->nopvspin = strs_has(&words, "nopvspin");
	}
}

enum spinlock_kind spinlock_kind_of(const struct spinlock_facts *facts)
{
	if (!facts->hypervisor || !facts->paravirt || facts->nopvspin)
		return SPINLOCK_NATIVE;
	if (!facts->kvm || !facts->pv_unhalt)
		return SPINLOCK_TEST_AND_SET;
	return facts->dedicated || facts->cpus == 1 ? SPINLOCK_NATIVE : SPINLOCK_PV;
}

bool spinlock_measurable(const struct spinlock_facts *facts, const char **reason)
{
	enum spinlock_kind kind = spinlock_kind_of(facts);

	*reason = NULL;
	if (kind == SPINLOCK_TEST_AND_SET)
		*reason = "virtual machine with test-and-set spinlocks: waits are not traced";
	else if (kind == SPINLOCK_NATIVE && facts->cpus < 3)
		*reason =
			"fewer than 3 CPUs: a queued spinlock is traced from its second waiter on";
	return !*reason;
}
