// SPDX-License-Identifier: GPL-2.0-or-later
/* Kexec. */
#include "bench/agent_kexec.h"

#include <fcntl.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

bool kexec_into(const char *kernel, const char *initrd, const char *cmdline, struct err *err)
{
	AUTO_CLOSE int kernel_fd = open(kernel, O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int initrd_fd = open(initrd, O_RDONLY | O_CLOEXEC);

	if (kernel_fd < 0)
		return err_sys(err, "kexec: cannot open %s", kernel);
	if (initrd_fd < 0)
		return err_sys(err, "kexec: cannot open %s", initrd);
	if (syscall(SYS_kexec_file_load, kernel_fd, initrd_fd, strlen(cmdline) + 1, cmdline, 0UL))
		return err_sys(err, "kexec: cannot load %s (CONFIG_KEXEC_FILE?)", kernel);
	sync();
	reboot((int)LINUX_REBOOT_CMD_KEXEC);
	return err_sys(err, "kexec: cannot start %s", kernel);
}
