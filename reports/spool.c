// SPDX-License-Identifier: GPL-2.0-or-later
/* Mails as files. */
#include "reports/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "reports/header.h"

#define ABANDONED_S 3600.0 /* a mail is written in moments */

char *spool_path(const char *dir, const char *message_id)
{
	AUTO_STR out = str_new();

	str_addf(&out, "%s/", dir);
	for (const char *p = message_id; *p; p++)
		str_addc(&out, *p == '/' ? '_' : *p);
	str_add(&out, ".eml");
	return str_take(&out);
}

bool spool_has(const char *dir, const char *message_id)
{
	AUTO_FREE char *path = spool_path(dir, message_id);

	return fs_exists(path);
}

static bool write_all(int fd, const char *path, const char *s, struct err *err)
{
	size_t left = strlen(s);

	while (left) {
		ssize_t n = write(fd, s, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "spool: cannot write %s", path);
		s += n;
		left -= (size_t)n;
	}
	if (fsync(fd))
		return err_sys(err, "spool: cannot write %s", path);
	return true;
}

static char *unix_lines(const char *message)
{
	AUTO_STR out = str_new();

	for (const char *p = message; *p; p++)
		if (p[0] != '\r' || p[1] != '\n')
			str_addc(&out, *p);
	return str_take(&out);
}

/* link() refuses an existing name, which rename() would replace. */
static bool link_into_place(const char *dir, const char *temp, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = -1;

	if (link(temp, path) && errno != EEXIST)
		return err_sys(err, "spool: cannot make %s", path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		return err_sys(err, "spool: cannot sync %s", dir);
	return true;
}

bool spool_put(const char *dir, const char *message_id, const char *message, struct err *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *temp = NULL;
	AUTO_FREE char *text = unix_lines(message);
	AUTO_CLOSE int fd = -1;
	bool ok;

	if (!header_message_id_ok(message_id))
		return err_set(err, ERR_FAILED, "spool: '%s' is no Message-ID", message_id);
	if (!fs_mkdirs(dir, 0755, err))
		return false;
	fs_sweep(dir, ".new.", ABANDONED_S);
	path = spool_path(dir, message_id);
	temp = xasprintf("%s/.new.%ld", dir, (long)getpid());
	unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "spool: cannot make %s", temp);
	ok = write_all(fd, temp, text, err) && link_into_place(dir, temp, path, err);
	unlink(temp);
	return ok;
}
