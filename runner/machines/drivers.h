/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_MACHINES_DRIVERS_H
#define RUNNER_MACHINES_DRIVERS_H

/* The drivers that there are; each has a file of its name here. */

#include "runner/machine.h"

/* Numbers from the image file itself; see fake.c. For tests of everything around a boot. */
extern const struct machine_driver machine_fake;
/* A real machine, by ssh and kexec. */
extern const struct machine_driver machine_kexec;
/* The running kernel, as it is: no boot. */
extern const struct machine_driver machine_local;
/* A guest of QEMU: KVM where there is one, else emulation. */
extern const struct machine_driver machine_qemu;

#endif
