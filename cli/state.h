/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_STATE_H
#define CLI_STATE_H

/* The state directory: whose it is, and who may run things in it. See docs/security.md. */

#include "db/settings.h"

/* The user that daemons and cluster run as: NULL when we are not root. An error tells what to run
 * when root has no user mmperf. */
bool state_service_user(const char **user, struct err *err) _must_check;
/* Makes state and cache directories; root's state belongs to user mmperf and its group. */
bool state_make(const struct settings *settings, struct err *err) _must_check;
/* What the runner makes as root the other daemons must be able to change: group rights stay on. */
void state_share_files(void);
/* One `mmperf up` at a time: held as long as *fd is open. ERR_CONFLICT names who holds it. */
bool state_lock(const struct settings *settings, int *fd, struct err *err) _must_check;

#endif
