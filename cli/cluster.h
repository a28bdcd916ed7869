/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_CLUSTER_H
#define CLI_CLUSTER_H

/*
 * The private PostgreSQL cluster of `mmperf up`, for those who have configured none. It lives in
 * STATE/pg, listens on no network, and trusts whoever can enter STATE/pg/socket (mode 0700). When
 * we are root it belongs to user mmperf, because PostgreSQL refuses to run as root.
 */

#include "db/settings.h"

struct cluster {
	const struct settings *settings;
	char *bin;	  /* directory of initdb and pg_ctl */
	char *dir;	  /* STATE/pg */
	char *data;	  /* STATE/pg/data */
	char *socket;	  /* STATE/pg/socket */
	char *log;	  /* STATE/pg/log */
	const char *user; /* NULL = ourselves */
};

/* True when the settings name no database. */
bool cluster_wanted(const struct settings *settings);
/* Finds the programs and names the places; makes nothing. */
bool cluster_init(const struct settings *settings, struct cluster *out,
		  struct err *err) _must_check;
void cluster_release(struct cluster *cluster);

bool cluster_running(const struct cluster *cluster, bool *yes, struct err *err) _must_check;
/* The server's process is there: a look at a file, cheap enough for every few seconds. */
bool cluster_alive(const struct cluster *cluster);
/* Makes the cluster when it does not exist, starts it when it does not run (*started tells), and
 * makes the database. Safe to repeat after a crash at any point. */
bool cluster_start(const struct cluster *cluster, bool *started, struct err *err) _must_check;
/* Ends its sessions and stops it; fine when it does not run. */
bool cluster_stop(const struct cluster *cluster, struct err *err) _must_check;

#endif
