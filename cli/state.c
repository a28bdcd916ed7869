// SPDX-License-Identifier: GPL-2.0-or-later
/* The state directory. */
#include "cli/state.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

bool state_service_user(const char **user, struct err *err)
{
	*user = NULL;
	if (geteuid() != 0)
		return true;
	if (!getpwnam("mmperf"))
		return err_set(err, ERR_FAILED,
			       "user mmperf does not exist; run deploy/setup (or `useradd --system "
			       "mmperf`), or start as a user of your own");
	*user = "mmperf";
	return true;
}

bool state_make(const struct settings *settings, struct err *err)
{
	const struct passwd *pw = NULL;
	const char *user;

	if (!state_service_user(&user, err) ||
	    !fs_mkdirs(settings->state_dir, user ? 0770 : 0700, err) ||
	    !fs_mkdirs(settings->cache_dir, 0755, err))
		return false;
	if (user)
		pw = getpwnam(user);
	if (!pw)
		return true;
	if (chown(settings->state_dir, pw->pw_uid, pw->pw_gid) || chmod(settings->state_dir, 02771))
		return err_sys(err, "cannot give %s to user %s", settings->state_dir, user);
	return true;
}

void state_share_files(void)
{
	if (geteuid() == 0)
		umask(0002);
}

bool state_lock(const struct settings *settings, int *fd, struct err *err)
{
	AUTO_FREE char *path = settings_path(settings, "up.lock");
	AUTO_CLOSE int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	char pid[32] = "";

	if (lock < 0)
		return err_sys(err, "cannot open %s", path);
	if (flock(lock, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return err_sys(err, "cannot lock %s", path);
		if (read(lock, pid, sizeof(pid) - 1) < 0)
			pid[0] = '\0';
		return err_set(err, ERR_CONFLICT,
			       "`mmperf up` already runs on %s (process %s); stop it first, or set "
			       "another [state] dir",
			       settings->state_dir, str_trim(pid));
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(lock, 0) || pwrite(lock, pid, strlen(pid), 0) < 0)
		return err_sys(err, "cannot write %s", path);
	*fd = TAKE_FD(lock);
	return true;
}
