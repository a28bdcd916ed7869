// SPDX-License-Identifier: GPL-2.0-or-later
/* Passwords in files. */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_MAX 1024

void secret_wipe(struct str *str)
{
	if (str->s)
		explicit_bzero(str->s, str->cap);
	str_release(str);
}

/* The service manager guards its credentials itself, by an ACL that looks like a group's right. */
static char *credential(const char *name)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");

	return dir && *dir && !strchr(name, '/') ? xasprintf("%s/%s", dir, name) : NULL;
}

static bool check_file(const char *path, int fd, mode_t forbidden, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(err, "cannot look at %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_USAGE, "%s is not a regular file", path);
	if (st.st_mode & forbidden)
		return err_set(err, ERR_USAGE,
			       "%s can be read by others (mode %04o): run chmod 600 %s", path,
			       (unsigned)(st.st_mode & 07777), path);
	return true;
}

bool secret_read(const char *path, struct str *out, struct err *err)
{
	AUTO_FREE char *from_systemd = credential(path);
	const char *file = from_systemd ? from_systemd : path;
	AUTO_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC);
	char buf[SECRET_MAX];
	ssize_t n;

	if (fd < 0) {
		err_sys(err, "cannot open the password file %s", file);
		err->kind = ERR_USAGE;
		return false;
	}
	if (!check_file(file, fd, from_systemd ? 007 : 077, err))
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	if (n < 0)
		return err_sys(err, "cannot read the password file %s", file);
	buf[n] = '\0';
	str_addn(out, buf, strcspn(buf, "\r\n"));
	explicit_bzero(buf, sizeof(buf));
	return out->len ? true : err_set(err, ERR_USAGE, "the password file %s is empty", file);
}

void secret_nonce(char nonce[SECRET_NONCE_SIZE])
{
	unsigned char bytes[(SECRET_NONCE_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}
