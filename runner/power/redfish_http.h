/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_POWER_REDFISH_HTTP_H
#define RUNNER_POWER_REDFISH_HTTP_H

/*
 * Talking to a Redfish service (DMTF DSP0266): paths below machine.bmc-url, Basic or a session.
 * Busy answers (503) are asked again, as long as the verb lasts.
 */

#include "base/http.h"
#include "base/js.h"
#include "runner/power/drivers.h"

struct redfish;

/* bmc-url, bmc-user, bmc-password-file and what belongs to them. */
bool redfish_check(const struct power_link *link, struct err *err) _must_check;
/* With bmc-auth = session it logs in; redfish_close() logs out, however the verb ended. */
bool redfish_open(const struct power_link *link, struct redfish **out, struct err *err) _must_check;
void redfish_close(struct redfish *rf);
void redfish_close_ptr(struct redfish **rf);

/*
 * path: absolute on this service; a whole URL of it is taken too, one of another host refused. body
 * and etag (If-Match) may be NULL. Any status but 401, 403 and 503 is an answer, to be released
 * either way.
 */
bool redfish_call(struct redfish *rf, const char *method, const char *path, const json_t *body,
		  const char *etag, struct http_answer *answer, struct err *err) _must_check;
/* GET that must succeed; *etag (may be NULL) is to be freed. */
bool redfish_get(struct redfish *rf, const char *path, json_t **out, char **etag,
		 struct err *err) _must_check;
/* Fills err with what the service says about a refusal. ERR_NOTFOUND for 400, 404, 405 and 501. */
bool redfish_refused(const struct http_answer *answer, struct err *err);
/* Sleeps, at most until the verb's end; false when that has come. */
bool redfish_wait(const struct redfish *rf, double seconds, struct err *err) _must_check;

#endif
