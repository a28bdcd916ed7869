/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

/* Passwords: read from a file when they are used, wiped afterwards; never in a message. And what nobody can guess. */

#include "base/str.h"

#define AUTO_SECRET CLEANUP(secret_wipe) struct str

/*
 * The first line of a regular file that only its owner can read. A name without a slash is a
 * credential of our systemd service (LoadCredential=), when it has any. ERR_USAGE tells what to do.
 */
bool secret_read(const char *path, struct str *out, struct err *err) _must_check;
/* Overwrites and releases. */
void secret_wipe(struct str *str);

#define SECRET_NONCE_SIZE 33
/* 128 bits of the kernel's, as hex digits. */
void secret_nonce(char nonce[SECRET_NONCE_SIZE]);

#endif
