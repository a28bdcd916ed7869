// SPDX-License-Identifier: GPL-2.0-or-later
/* Huge pages of our own. */
#include "bench/thp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"

/* From the kernel's UAPI (linux/fs.h of 6.7); older headers lack it. */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_IOCTL   _IOWR('f', 16, struct scan_arg)
#define SCAN_IS_HUGE (1ULL << 6)

/* From linux/kernel-page-flags.h. */
#define FLAG_HEAD (1ULL << 15)
#define FLAG_TAIL (1ULL << 16)
#define FLAG_THP  (1ULL << 22)
#define PFN_MASK  ((1ULL << 55) - 1)
#define PRESENT	  (1ULL << 63)
#define PER_PMD	  (PMD_SIZE / 4096)

static bool set_size(struct knobs *knobs, const char *dir, bool on, struct err *err)
{
	AUTO_FREE char *path = xasprintf(THP_DIR "/%s/enabled", dir);

	return knob_set(knobs, path, on ? "always" : "never", err);
}

static bool set_sizes(struct knobs *knobs, long long kb, bool *found, struct err *err)
{
	DIR *dir = opendir(THP_DIR);
	const struct dirent *entry;
	bool ok = true;

	if (!dir)
		return err_sys(err, "cannot list " THP_DIR);
	while (ok && (entry = readdir(dir))) {
		if (!str_starts(entry->d_name, "hugepages-"))
			continue;
		bool wanted = strtoll(entry->d_name + strlen("hugepages-"), NULL, 10) == kb;

		ok = set_size(knobs, entry->d_name, wanted, err);
		/* Sizes that only shmem can have lack the file. */
		if (ok)
			*found |= wanted;
		else
			ok = err->kind == ERR_NOTFOUND;
	}
	closedir(dir);
	return ok;
}

bool thp_allow_only(struct knobs *knobs, const char *folio, struct err *err)
{
	bool none = !strcmp(folio, "none"), found = false;
	long long bytes = 0;
	const char *top;

	if (!strcmp(folio, "inherit"))
		return true;
	if (!none && !str_to_bytes(folio, &bytes))
		return err_set(err, ERR_USAGE,
			       "folio \"%s\" should be inherit, none or a size such as 16K or 2M",
			       folio);
	if (none && !fs_exists(THP_DIR))
		return true;
	if (!set_sizes(knobs, bytes / 1024, &found, err))
		return false;
	if (!none && !found && (size_t)bytes != PMD_SIZE)
		return err_set(err, ERR_FAILED, "this kernel has no anonymous folios of %s", folio);
	/* The top switch rules where no size has its own, and sizes that say "inherit". */
	top = !none && !found ? "always" : "never";
	return knob_set(knobs, THP_DIR "/enabled", top, err);
}

bool thp_pmd_by_madvise(struct knobs *knobs, struct err *err)
{
	static const char pmd[] = THP_DIR "/hugepages-2048kB/enabled";
	bool found = false;

	return set_sizes(knobs, 0, &found, err) &&
	       (!fs_exists(pmd) || knob_set(knobs, pmd, "inherit", err)) &&
	       knob_set(knobs, THP_DIR "/enabled", "madvise", err) &&
	       knob_set(knobs, THP_DIR "/defrag", "madvise", err);
}

bool thp_max_ptes_none(struct knobs *knobs, const char *value, struct err *err)
{
	long long n;

	if (!strcmp(value, "inherit"))
		return true;
	if (!str_to_i64(value, &n) || n < 0 || n >= (long long)PER_PMD)
		return err_set(err, ERR_USAGE,
			       "--max_ptes_none: \"%s\" should be inherit or 0 to 511", value);
	return knob_set(knobs, THP_DIR "/khugepaged/max_ptes_none", value, err);
}

bool pages_view_open(struct pages_view *view, struct err *err)
{
	AUTO_CLOSE int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	struct scan_arg probe = {.size = sizeof(probe)};

	if (pagemap < 0)
		return err_sys(err, "cannot open /proc/self/pagemap (CONFIG_PROC_PAGE_MONITOR)");
	view->by_ioctl = !ioctl(pagemap, SCAN_IOCTL, &probe);
	if (!view->by_ioctl && flags < 0)
		return err_sys(err, "cannot open /proc/kpageflags (are you root?)");
	view->pagemap = TAKE_FD(pagemap);
	view->flags = TAKE_FD(flags);
	return true;
}

void pages_view_close(struct pages_view *view)
{
	mem_close_ptr(&view->pagemap);
	mem_close_ptr(&view->flags);
}

static bool huge_by_ioctl(const struct pages_view *view, uint64_t start, bool *huge,
			  struct err *err)
{
	struct scan_region region = {0};
	struct scan_arg arg = {.size = sizeof(arg),
			       .start = start,
			       .end = start + PMD_SIZE,
			       .vec = (uint64_t)(uintptr_t)&region,
			       .vec_len = 1,
			       .category_mask = SCAN_IS_HUGE,
			       .return_mask = SCAN_IS_HUGE};

	if (ioctl(view->pagemap, SCAN_IOCTL, &arg) < 0)
		return err_sys(err, "PAGEMAP_SCAN");
	*huge = region.start == start && region.end == start + PMD_SIZE;
	return true;
}

/* One folio as large as the range: the first page is its head and all others are tails. A smaller
 * folio would show a second head. */
static bool huge_by_flags(const struct pages_view *view, uint64_t start, bool *huge,
			  struct err *err)
{
	uint64_t first, flags[PER_PMD];

	*huge = false;
	if (pread(view->pagemap, &first, sizeof(first), (off_t)(start / 4096 * 8)) != sizeof(first))
		return err_sys(err, "cannot read /proc/self/pagemap");
	if (!(first & PRESENT))
		return true;
	if (!(first & PFN_MASK))
		return err_set(err, ERR_FAILED,
			       "/proc/self/pagemap hides page frames: run as root");
	if ((first & PFN_MASK) % PER_PMD)
		return true;
	if (pread(view->flags, flags, sizeof(flags), (off_t)((first & PFN_MASK) * 8)) !=
	    sizeof(flags))
		return err_sys(err, "cannot read /proc/kpageflags");
	if (!(flags[0] & FLAG_HEAD) || !(flags[0] & FLAG_THP))
		return true;
	for (size_t i = 1; i < PER_PMD; i++) {
		if (!(flags[i] & FLAG_TAIL))
			return true;
	}
	*huge = true;
	return true;
}

bool pages_is_huge(const struct pages_view *view, const void *p, bool *huge, struct err *err)
{
	uint64_t start = (uint64_t)(uintptr_t)p;

	return view->by_ioctl ? huge_by_ioctl(view, start, huge, err)
			      : huge_by_flags(view, start, huge, err);
}

bool pages_count_huge(const struct pages_view *view, const void *p, size_t size, size_t *n,
		      struct err *err)
{
	*n = 0;
	for (size_t at = 0; at + PMD_SIZE <= size; at += PMD_SIZE) {
		bool huge;

		if (!pages_is_huge(view, (const char *)p + at, &huge, err))
			return false;
		*n += huge;
	}
	return true;
}

bool pages_map(size_t size, char **out, struct err *err)
{
	void *p;

	if (!pages_reserve(size, &p, err))
		return false;
	if (mprotect(p, size, PROT_READ | PROT_WRITE))
		return err_sys(err, "cannot map %zu bytes", size);
	*out = p;
	return true;
}

void pages_touch(char *p, size_t size, int value)
{
	for (size_t at = 0; at < size; at += 4096)
		*(volatile char *)(p + at) = (char)value;
}

int64_t pages_minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

bool pages_reserve(size_t size, void **out, struct err *err)
{
	size_t whole = size + PMD_SIZE;
	char *p = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t aligned;

	if (p == MAP_FAILED)
		return err_sys(err, "cannot reserve %zu bytes of address space", whole);
	aligned = ((uintptr_t)p + PMD_SIZE - 1) & ~(PMD_SIZE - 1);
	if (aligned > (uintptr_t)p)
		munmap(p, aligned - (uintptr_t)p);
	if ((uintptr_t)p + whole > aligned + size)
		munmap((char *)aligned + size, (uintptr_t)p + whole - (aligned + size));
	*out = (void *)aligned;
	return true;
}
