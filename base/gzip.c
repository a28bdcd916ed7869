// SPDX-License-Identifier: GPL-2.0-or-later
/* Compressed files over zlib. */
#include "base/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK 65536

static void close_gz(gzFile *file)
{
	if (*file)
		gzclose(*file);
}

static bool failed(gzFile file, const char *what, const char *path, struct err *err)
{
	int code = Z_OK;
	const char *text = gzerror(file, &code);

	if (code == Z_ERRNO)
		return err_sys(err, "cannot %s %s", what, path);
	return err_set(err, ERR_FAILED, "cannot %s %s: %s", what, path, text);
}

static bool compress_all(int in, const char *from, gzFile out, const char *to, struct err *err)
{
	char buf[CHUNK];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read %s", from);
		if (gzwrite(out, buf, (unsigned)n) != n)
			return failed(out, "write", to, err);
	}
	return true;
}

bool gzip_file(const char *from, const char *to, struct err *err)
{
	AUTO_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC);
	CLEANUP(close_gz) gzFile out = NULL;

	if (in < 0)
		return err_sys(err, "cannot open %s", from);
	out = gzopen(to, "wbe6");
	if (!out)
		return err_sys(err, "cannot create %s", to);
	if (!compress_all(in, from, out, to, err))
		return false;
	if (gzclose(TAKE(out)) != Z_OK)
		return err_sys(err, "cannot write %s", to);
	return true;
}

bool gzip_read(const char *path, size_t max, struct str *out, struct err *err)
{
	CLEANUP(close_gz) gzFile in = gzopen(path, "rbe");
	size_t start = out->len;
	char buf[CHUNK];
	int n;

	if (!in)
		return err_sys(err, "cannot open %s", path);
	while ((n = gzread(in, buf, sizeof(buf))) > 0) {
		if ((size_t)n > max - (out->len - start))
			return err_set(err, ERR_FAILED, "%s holds more than %zu bytes", path, max);
		str_addn(out, buf, (size_t)n);
	}
	return n == 0 || failed(in, "read", path, err);
}
