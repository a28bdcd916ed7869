// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM. */
#include "runner/machines/kvm.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"

#define MAX_CPUINFO ((size_t)16 << 20)

static bool has_word(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 1; i + n <= len; i++)
		if (line[i - 1] == ' ' && !memcmp(line + i, word, n) &&
		    (i + n == len || line[i + n] == ' '))
			return true;
	return false;
}

bool kvm_cpu_can(const char *cpuinfo)
{
	for (const char *line = cpuinfo; *line;) {
		size_t len = strcspn(line, "\n");

		if (!strncmp(line, "flags", 5))
			return has_word(line, len, "vmx") || has_word(line, len, "svm");
		line += len + (line[len] != '\0');
	}
	return false;
}

bool kvm_usable(void)
{
	AUTO_STR cpuinfo = str_new();
	struct err ignored = {0};

	return !access("/dev/kvm", R_OK | W_OK) &&
	       fs_read("/proc/cpuinfo", MAX_CPUINFO, &cpuinfo, &ignored) && kvm_cpu_can(cpuinfo.s);
}
