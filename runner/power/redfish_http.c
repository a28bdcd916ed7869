// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to a BMC, with its logins and its moods. */
#include "runner/power/redfish_http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"

#define SESSIONS   "/redfish/v1/SessionService/Sessions"
/* Slow BMCs need ten seconds for a system resource that they collect from their parts. */
#define REQUEST_S  20.0
#define LOGOUT_S   5.0
#define BUSY_S	   2.0
#define MAX_ANSWER ((size_t)4 << 20)

struct redfish {
	const struct power_link *link;
	char *base; /* bmc-url without a slash at its end */
	const char *user;
	struct str password;
	char *token; /* of the session; NULL = Basic */
	char *session;
};

static bool wants_session(const struct power_link *link)
{
	return !strcmp(power_str(link, "bmc-auth"), "session");
}

bool redfish_check(const struct power_link *link, struct err *err)
{
	const char *url, *user, *file, *auth = power_str(link, "bmc-auth");
	AUTO_SECRET password = str_new();

	if (!power_need(link, "bmc-url", &url, err) || !power_need(link, "bmc-user", &user, err) ||
	    !power_need(link, "bmc-password-file", &file, err))
		return false;
	if (!str_starts(url, "https://") && !str_starts(url, "http://"))
		return err_set(err, ERR_USAGE, "bmc-url = %s: not an https:// address", url);
	if (strchr(url, '@'))
		return err_set(err, ERR_USAGE,
			       "bmc-url holds a user name: that goes to bmc-user, the password to "
			       "bmc-password-file");
	if (strcmp(auth, "basic") != 0 && strcmp(auth, "session") != 0)
		return err_set(err, ERR_USAGE, "bmc-auth = %s: basic or session", auth);
	return secret_read(file, &password, err);
}

static char *base_of(const char *url)
{
	char *base = xstrdup(url);

	for (size_t n = strlen(base); n && base[n - 1] == '/'; n--)
		base[n - 1] = '\0';
	return base;
}

/* Service and targets are named by the BMC: a password must not follow a foreign name. */
static bool url_of(const struct redfish *rf, const char *path, char **out, struct err *err)
{
	size_t n = strlen(rf->base);

	if (!strncmp(path, rf->base, n) && path[n] == '/')
		path += n;
	if (path[0] != '/' || path[1] == '/')
		return err_set(err, ERR_FAILED, "the BMC names an address that is not its own: %s",
			       path);
	*out = xasprintf("%s%s", rf->base, path);
	return true;
}

static void authorise(const struct redfish *rf, struct http_request *request)
{
	const struct power_link *link = rf->link;

	request->ca_file = power_str(link, "bmc-ca-file");
	request->pin = power_str(link, "bmc-pin");
	request->cleartext =
		conf_bool(link->settings->conf, "machine", link->machine, "bmc-cleartext");
	request->max = MAX_ANSWER;
	strs_pushl(&request->headers, "Accept: application/json", "OData-Version: 4.0", NULL);
	if (rf->token) {
		strs_pushf(&request->headers, "X-Auth-Token: %s", rf->token);
		return;
	}
	request->user = rf->user;
	request->password = rf->password.s;
}

static void wipe_request(struct http_request *request)
{
	for (size_t i = 0; i < request->headers.n; i++)
		explicit_bzero(request->headers.v[i], strlen(request->headers.v[i]));
	http_request_release(request);
}

static bool once(const struct redfish *rf, const char *method, const char *path, const char *body,
		 const char *etag, double timeout_s, struct http_answer *answer, struct err *err)
{
	CLEANUP(wipe_request)
	struct http_request request = {.method = method, .body = body, .timeout_s = timeout_s};
	AUTO_FREE char *url = NULL;

	if (!url_of(rf, path, &url, err))
		return false;
	request.url = url;
	authorise(rf, &request);
	if (body)
		strs_push(&request.headers, "Content-Type: application/json");
	if (etag)
		strs_pushf(&request.headers, "If-Match: %s", etag);
	return http_ask(&request, answer, err);
}

bool redfish_wait(const struct redfish *rf, double seconds, struct err *err)
{
	double left;

	if (!power_left(rf->link, seconds, &left, err))
		return false;
	clock_sleep_s(left);
	return true;
}

/* The service's own words, if it has any (DSP0266 8.6, Error responses). */
static void add_message(const struct http_answer *answer, struct str *out)
{
	AUTO_JSON *body = NULL;
	const json_t *error, *first;
	const char *text;
	struct err ignored;

	if (!js_parse(answer->body.s, answer->body.len, &body, &ignored))
		return;
	error = json_object_get(body, "error");
	first = json_array_get(json_object_get(error, "@Message.ExtendedInfo"), 0);
	text = js_str_or(first, "Message", js_str_or(error, "message", ""));
	str_add(out, *text ? ": " : "");
	str_add_utf8(out, text, strnlen(text, 300));
}

bool redfish_refused(const struct http_answer *answer, struct err *err)
{
	static const int unknown[] = {400, 404, 405, 501};
	enum err_kind kind = ERR_FAILED;
	AUTO_STR said = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		if (answer->status == unknown[i])
			kind = ERR_NOTFOUND;
	add_message(answer, &said);
	return err_set(err, kind, "the BMC answers HTTP %d%s", answer->status, said.s);
}

static bool is_refusal(const struct redfish *rf, const struct http_answer *answer, struct err *err)
{
	if (answer->status != 401 && answer->status != 403)
		return false;
	redfish_refused(answer, err);
	err->kind = ERR_USAGE;
	err_wrap(err, "%s: user %s is refused: correct bmc-user or bmc-password-file", rf->base,
		 rf->user);
	return true;
}

/* 503: the BMC is busy, or all its sessions are taken. */
static bool out_of_patience(const struct redfish *rf, const struct http_answer *answer,
			    struct err *err)
{
	double said_s = http_retry_after_s(answer, BUSY_S), left;
	double wait_s = said_s > 0 ? said_s : BUSY_S;

	if (power_left(rf->link, INFINITY, &left, err) && left > wait_s) {
		clock_sleep_s(wait_s);
		return false;
	}
	redfish_refused(answer, err);
	err->kind = ERR_TIMEOUT;
	err_wrap(err,
		 "%s: busy for all of power-timeout (sessions may be exhausted: bmc-auth = basic "
		 "needs none)",
		 rf->base);
	return true;
}

static bool call_text(struct redfish *rf, const char *method, const char *path, const char *body,
		      const char *etag, struct http_answer *answer, struct err *err)
{
	double left;

	*answer = (struct http_answer){0};
	do {
		http_answer_release(answer);
		*answer = (struct http_answer){0};
		if (!power_left(rf->link, REQUEST_S, &left, err) ||
		    !once(rf, method, path, body, etag, left, answer, err))
			return false;
		if (is_refusal(rf, answer, err))
			return false;
		if (answer->status != 503)
			return true;
	} while (!out_of_patience(rf, answer, err));
	return false;
}

bool redfish_call(struct redfish *rf, const char *method, const char *path, const json_t *body,
		  const char *etag, struct http_answer *answer, struct err *err)
{
	AUTO_FREE char *text = body ? js_text(body) : NULL;

	return call_text(rf, method, path, text, etag, answer, err);
}

bool redfish_get(struct redfish *rf, const char *path, json_t **out, char **etag, struct err *err)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};

	if (!redfish_call(rf, "GET", path, NULL, NULL, &answer, err))
		return false;
	if (answer.status != 200) {
		redfish_refused(&answer, err);
		err->kind = ERR_FAILED;
		return err_wrap(err, "%s%s", rf->base, path);
	}
	if (!js_parse(answer.body.s, answer.body.len, out, err))
		return err_wrap(err, "%s%s", rf->base, path);
	if (etag)
		*etag = xstrdup_null(http_header(&answer, "ETag"));
	return true;
}

static char *login_text(const struct redfish *rf)
{
	AUTO_JSON *login = json_object();

	js_set_str(login, "UserName", rf->user);
	js_set_str(login, "Password", rf->password.s);
	return js_text(login);
}

static bool log_in(struct redfish *rf, struct err *err)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};
	AUTO_FREE char *text = login_text(rf);
	const char *token, *session;
	bool ok = call_text(rf, "POST", SESSIONS, text, NULL, &answer, err);

	explicit_bzero(text, strlen(text));
	if (!ok)
		return false;
	token = http_header(&answer, "X-Auth-Token");
	session = http_header(&answer, "Location");
	if (answer.status / 100 != 2)
		return redfish_refused(&answer, err);
	rf->session = xstrdup_null(session);
	rf->token = xstrdup_null(token);
	if (token && session)
		return true;
	return err_set(err, ERR_FAILED, "the BMC opened a session without %s: set bmc-auth = basic",
		       token ? "Location" : "X-Auth-Token");
}

bool redfish_open(const struct power_link *link, struct redfish **out, struct err *err)
{
	CLEANUP(redfish_close_ptr) struct redfish *rf = xcalloc(1, sizeof(*rf));

	*rf = (struct redfish){.link = link,
			       .base = base_of(power_str(link, "bmc-url")),
			       .user = power_str(link, "bmc-user"),
			       .password = str_new()};
	if (!secret_read(power_str(link, "bmc-password-file"), &rf->password, err))
		return false;
	if (wants_session(link) && !log_in(rf, err))
		return false;
	*out = TAKE(rf);
	return true;
}

/* Also when the verb's time is over: a session that stays costs the next ones theirs. */
static void log_out(struct redfish *rf)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};
	struct err err;

	if (!once(rf, "DELETE", rf->session, NULL, NULL, LOGOUT_S, &answer, &err))
		log_warn("machine %s: a session stays on the BMC: %s", rf->link->machine, err.msg);
	else if (answer.status / 100 != 2 && answer.status != 404)
		log_warn("machine %s: a session stays on the BMC: HTTP %d", rf->link->machine,
			 answer.status);
}

void redfish_close(struct redfish *rf)
{
	if (!rf)
		return;
	if (rf->session)
		log_out(rf);
	if (rf->token)
		explicit_bzero(rf->token, strlen(rf->token));
	free(rf->token);
	free(rf->session);
	free(rf->base);
	secret_wipe(&rf->password);
	free(rf);
}

void redfish_close_ptr(struct redfish **rf)
{
	redfish_close(*rf);
}
