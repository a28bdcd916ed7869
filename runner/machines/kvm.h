/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_MACHINES_KVM_H
#define RUNNER_MACHINES_KVM_H

/* Whether a guest's instructions can run on the CPU itself. */

#include <stdbool.h>

/* The text of /proc/cpuinfo has a CPU that virtualises (flag vmx or svm). */
bool kvm_cpu_can(const char *cpuinfo);
/*
 * /dev/kvm can be opened and the CPU can. A /dev/kvm alone is not enough: that of a software
 * hypervisor (PVM, in some clouds) runs only kernels that were made for it, others stay silent.
 */
bool kvm_usable(void);

#endif
