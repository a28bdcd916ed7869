/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_MACHINE_MAIL_H
#define REPORTS_MACHINE_MAIL_H

/* Telling a machine's owner that it was taken out of service. */

#include "reports/delivery.h"

/* One mail for each event that nobody was told of, queued and marked in one transaction; without an
 * owner, or without a server, into the spool. */
bool machine_mail_queue(struct delivery *d, struct db *db, struct err *err) _must_check;

#endif
