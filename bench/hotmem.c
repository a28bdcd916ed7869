// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory to collapse. */
#include "bench/hotmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/thp.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define PAGE ((size_t)4096)

/* At a multiple of 2 MiB; the descriptor is not needed afterwards. */
static bool map_fd(int fd, size_t size, int prot, int flags, char **out, struct err *err)
{
	void *place;

	if (!pages_reserve(size, &place, err))
		return false;
	*out = mmap(place, size, prot, flags | MAP_FIXED, fd, 0);
	return *out != MAP_FAILED || err_sys(err, "cannot map %zu bytes", size);
}

static bool map_shmem(size_t size, char **out, struct err *err)
{
	return map_fd(-1, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, out, err);
}

static bool write_all(int fd, size_t size)
{
	AUTO_FREE char *block = xcalloc(1, PMD_SIZE);

	for (size_t at = 0; at < size; at += PMD_SIZE) {
		if (!fs_write_fd(fd, block, PMD_SIZE))
			return false;
	}
	return !fsync(fd);
}

/* khugepaged collapses what may be executed and nobody has open for writing. */
static bool map_file(const char *dir, size_t size, char **out, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/mmperf-khugepaged.XXXXXX", dir);
	int writer = mkostemp(path, O_CLOEXEC);
	AUTO_CLOSE int reader = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = writer >= 0 && write_all(writer, size);

	mem_close_ptr(&writer);
	unlink(path);
	if (!ok || reader < 0)
		return err_sys(err, "cannot make a file of %zu bytes in %s", size, dir);
	return map_fd(reader, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, out, err);
}

void hot_touch(const struct hot *hot, char *p)
{
	for (size_t at = 0; at < hot->size; at += PAGE) {
		if (hot->kind == HOT_FILE)
			(void)*(const volatile char *)(p + at);
		else
			(*(volatile char *)(p + at))++;
	}
}

bool hot_map(const struct hot *hot, char **out, struct err *err)
{
	size_t size = hot->size;
	char *p = NULL;

	if (hot->kind == HOT_ANON    ? !pages_map(size, &p, err)
	    : hot->kind == HOT_SHMEM ? !map_shmem(size, &p, err)
				     : !map_file(hot->dir, size, &p, err))
		return false;
	/* Base pages first: only a collapse may make them huge. */
	(void)madvise(p, size, MADV_NOHUGEPAGE);
	if (hot->kind == HOT_FILE)
		hot_touch(hot, p);
	else
		memset(p, 1, size);
	/* Twice: when shared memory is judged by the advice, the kernel looks at the advice from before
	 * this call, and only then makes the process known to khugepaged. */
	for (int i = 0; i < 2; i++) {
		if (madvise(p, size, MADV_HUGEPAGE))
			return err_sys(err,
				       "madvise(MADV_HUGEPAGE) (CONFIG_TRANSPARENT_HUGEPAGE?)");
	}
	*out = p;
	return true;
}

bool hot_collapse(char *p)
{
	return !madvise(p, PMD_SIZE, MADV_COLLAPSE);
}

/* 0, or the errno of collapsing one PMD of that kind. */
static bool try_one(const struct hot *hot, int *error, struct err *err)
{
	struct hot one = {.kind = hot->kind, .size = PMD_SIZE, .dir = hot->dir};
	char *p;

	if (!hot_map(&one, &p, err))
		return false;
	*error = hot_collapse(p) ? 0 : errno;
	munmap(p, PMD_SIZE);
	return true;
}

bool hot_refused(const struct hot *hot, const char **why, struct err *err)
{
	static const char *const reasons[] = {
		[HOT_ANON] = NULL,
		[HOT_SHMEM] = "this kernel does not collapse shared memory (shmem_enabled?)",
		[HOT_FILE] = "this kernel does not collapse a file's pages "
			     "(CONFIG_READ_ONLY_THP_FOR_FS, or the file system)",
	};
	const struct hot anon = {.kind = HOT_ANON};
	int known, error;

	*why = NULL;
	/* EINVAL is also what a kernel says that knows no MADV_COLLAPSE. */
	if (!try_one(&anon, &known, err) || !try_one(hot, &error, err))
		return false;
	if (known != EINVAL && error == EINVAL)
		*why = reasons[hot->kind];
	return true;
}
