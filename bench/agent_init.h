/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_INIT_H
#define BENCH_AGENT_INIT_H

/* What process 1 must do before and after the job. */

#include "base/err.h"

/* Mounts proc, sys, dev, cgroup2, tmp, debugfs, tracefs, and, if the disk was made for us, /dev/vda on /data when it is
 * there; makes stdin, stdout and stderr the console. What cannot be mounted is said on the console. */
void init_mount_all(bool our_disk);
/* /prepare, which an archive in front of ours may bring: loads modules, brings the network up. Its words go to the console, and so
 * does how it failed; the job is done all the same. */
void init_prepare(void);
/* The virtio port of that name, waited for up to timeout_s. */
bool init_open_port(const char *name, double timeout_s, int *fd, struct err *err) _must_check;
/* Runs work(arg) in a child, reaps everything that ends, returns the child's wait status. */
int init_run(int (*work)(void *arg), void *arg);
/* sync, then power off, or restart through the firmware. Does not return. */
void init_end(bool restart) __attribute__((noreturn));

#endif
