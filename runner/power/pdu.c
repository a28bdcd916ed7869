// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power at the socket, by HTTP: pdudaemon, a PDU, a relay. One address for each order. Most take an
 * order to carry it out later and cannot be asked what came of it.
 */
#include "runner/power/drivers.h"

#include <string.h>

#include "base/http.h"
#include "base/secret.h"

#define REQUEST_S  20.0
#define MAX_ANSWER ((size_t)1 << 20)

static const char *const keys[POWER_VERBS] = {
	[POWER_ON] = "pdu-on",
	[POWER_OFF] = "pdu-off",
	[POWER_CYCLE] = "pdu-cycle",
};

static bool pdu_check(struct power_link *link, struct err *err)
{
	const char *url, *file;
	AUTO_SECRET password = str_new();

	for (int verb = 0; verb < POWER_VERBS; verb++) {
		url = keys[verb] ? power_str(link, keys[verb]) : NULL;
		if (url && !str_starts(url, "http://") && !str_starts(url, "https://"))
			return err_set(err, ERR_USAGE, "%s = %s: not an http:// address",
				       keys[verb], url);
	}
	file = power_str(link, "pdu-password-file");
	return power_need(link, "pdu-on", &url, err) && power_need(link, "pdu-off", &url, err) &&
	       (!power_str(link, "pdu-user") ||
		(power_need(link, "pdu-password-file", &file, err) &&
		 secret_read(file, &password, err)));
}

static bool fetch(const struct power_link *link, const char *url, struct http_answer *answer,
		  struct err *err)
{
	struct http_request request = {.method = power_str(link, "pdu-method"),
				       .url = url,
				       .user = power_str(link, "pdu-user"),
				       .max = MAX_ANSWER};
	AUTO_SECRET password = str_new();

	request.cleartext =
		conf_bool(link->settings->conf, "machine", link->machine, "pdu-cleartext");
	if (!power_left(link, REQUEST_S, &request.timeout_s, err) ||
	    (request.user && !secret_read(power_str(link, "pdu-password-file"), &password, err)))
		return false;
	request.password = password.s;
	if (!http_ask(&request, answer, err))
		return false;
	if (answer->status == 401 || answer->status == 403)
		return err_set(err, ERR_USAGE,
			       "the PDU answers HTTP %d: correct pdu-user or pdu-password-file",
			       answer->status);
	return answer->status / 100 == 2 ||
	       err_set(err, ERR_FAILED, "the PDU answers HTTP %d: %.200s", answer->status,
		       str_trim(answer->body.s));
}

static bool pdu_order(struct power_link *link, enum power_verb verb, struct err *err)
{
	const char *url = keys[verb] ? power_str(link, keys[verb]) : NULL;
	CLEANUP(http_answer_release) struct http_answer answer = {0};

	if (!url)
		return err_set(err, ERR_NOTFOUND, "a PDU only switches");
	return fetch(link, url, &answer, err);
}

static bool pdu_ask(struct power_link *link, enum power_state *out, struct err *err)
{
	const char *url = power_str(link, "pdu-state");
	CLEANUP(http_answer_release) struct http_answer answer = {0};

	if (!url)
		return err_set(err, ERR_NOTFOUND, "pdu-state is not set");
	if (!fetch(link, url, &answer, err))
		return false;
	*out = strstr(answer.body.s, power_str(link, "pdu-state-on")) ? POWER_IS_ON : POWER_IS_OFF;
	return true;
}

const struct power_driver power_pdu = {
	.name = "pdu",
	.check = pdu_check,
	.order = pdu_order,
	.ask = pdu_ask,
};
