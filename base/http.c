// SPDX-License-Identifier: GPL-2.0-or-later
/* HTTP over libcurl. */
#include "base/http.h"

#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/clock.h"

static void free_handle(CURL **curl)
{
	curl_easy_cleanup(*curl);
}

static void free_list(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}

void http_init(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct body {
	struct str *out;
	size_t start; /* length of out before */
	size_t max;
	bool too_large;
};

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct body *body = arg;
	size_t bytes = size * n;

	if (bytes > body->max - (body->out->len - body->start)) {
		body->too_large = true;
		return 0;
	}
	str_addn(body->out, data, bytes);
	return bytes;
}

static void set_up(CURL *curl, const char *url, double timeout_s, struct body *body)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "mmperf");
	curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

/* There is a complete answer, of whatever status. */
static bool answered(CURLcode code, const struct body *body, const char *reason, struct err *err)
{
	if (body->too_large)
		return err_set(err, ERR_FAILED, "the answer is larger than %zu bytes", body->max);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return err_set(err, ERR_TIMEOUT, "no complete answer in time");
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
		return err_set(err, ERR_USAGE, "the server is not the one that is trusted: %s",
			       reason);
	return code ? err_set(err, ERR_FAILED, "%s", reason) : true;
}

static bool outcome(CURL *curl, CURLcode code, const struct body *body, const char *reason,
		    struct err *err)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (!answered(code, body, reason, err))
		return false;
	if (status == 404 || status == 410)
		return err_set(err, ERR_NOTFOUND, "HTTP status %ld", status);
	if (status != 200)
		return err_set(err, ERR_FAILED, "HTTP status %ld", status);
	return true;
}

bool http_get(const char *url, double timeout_s, size_t max, struct str *out, struct err *err)
{
	CLEANUP(free_handle) CURL *curl = curl_easy_init();
	struct body body = {.out = out, .start = out->len, .max = max};
	AUTO_FREE char *shown = str_hide_password(url);
	char reason[CURL_ERROR_SIZE] = "";
	CURLcode code;

	if (!curl)
		return err_set(err, ERR_FAILED, "cannot set up libcurl");
	set_up(curl, url, timeout_s, &body);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	code = curl_easy_perform(curl);
	if (outcome(curl, code, &body, *reason ? reason : curl_easy_strerror(code), err))
		return true;
	out->len = body.start;
	out->s[out->len] = '\0';
	return err_wrap(err, "GET %s", shown);
}

void http_request_release(struct http_request *request)
{
	strs_release(&request->headers);
}

void http_answer_release(struct http_answer *answer)
{
	str_release(&answer->body);
	strs_release(&answer->headers);
}

const char *http_header(const struct http_answer *answer, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < answer->headers.n; i++) {
		const char *line = answer->headers.v[i];

		if (!strncasecmp(line, name, n) && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
	}
	return NULL;
}

double http_retry_after_s(const struct http_answer *answer, double otherwise)
{
	const char *text = http_header(answer, "Retry-After");
	long long seconds;
	time_t date;

	if (!text)
		return otherwise;
	if (str_to_i64(text, &seconds))
		return seconds < 0 ? otherwise : (double)seconds;
	date = curl_getdate(text, NULL);
	return date < 0 ? otherwise : (double)(date - clock_wall_s());
}

static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
	struct strs *headers = arg;
	AUTO_FREE char *line = xstrndup(data, size * n);

	/* "100 Continue" and the like have headers of their own, before the answer's. */
	if (str_starts(line, "HTTP/")) {
		strs_release(headers);
		*headers = (struct strs)STRS_INIT;
	} else if (*str_trim(line)) {
		strs_push(headers, str_trim(line));
	}
	return size * n;
}

bool http_is_loopback(const char *url)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
	const char *host = strstr(url, "://");

	for (size_t i = 0; host && i < ARRAY_SIZE(hosts); i++) {
		size_t n = strlen(hosts[i]);

		if (!strncmp(host + 3, hosts[i], n) && strchr(":/", host[3 + n]))
			return true;
	}
	return false;
}

static bool log_in(CURL *curl, const struct http_request *r, struct err *err)
{
	if (!r->user)
		return true;
	if (!r->cleartext && !str_starts(r->url, "https://") && !http_is_loopback(r->url))
		return err_set(err, ERR_USAGE,
			       "a password would cross the network in the clear: use https://");
	curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	curl_easy_setopt(curl, CURLOPT_USERNAME, r->user);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, r->password ? r->password : "");
	return true;
}

static void trust(CURL *curl, const struct http_request *r)
{
	if (r->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, r->ca_file);
	if (!r->pin)
		return;
	curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, r->pin);
	/* The key is known: who signed it, and for which name, does not matter. */
	if (!r->ca_file) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

static bool add_headers(const struct strs *headers, struct curl_slist **list, struct err *err)
{
	for (size_t i = 0; i < headers->n; i++) {
		struct curl_slist *longer = curl_slist_append(*list, headers->v[i]);

		if (!longer)
			return err_set(err, ERR_FAILED, "out of memory");
		*list = longer;
	}
	return true;
}

static bool perform(CURL *curl, const struct http_request *r, struct http_answer *answer,
		    struct err *err)
{
	CLEANUP(free_list) struct curl_slist *headers = NULL;
	struct body body = {.out = &answer->body, .max = r->max};
	char reason[CURL_ERROR_SIZE] = "";
	long status = 0;
	CURLcode code;

	set_up(curl, r->url, r->timeout_s, &body);
	if (r->body)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method ? r->method : "GET");
	if (!add_headers(&r->headers, &headers, err) || !log_in(curl, r, err))
		return false;
	trust(curl, r);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer->headers);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	answer->status = (int)status;
	return answered(code, &body, *reason ? reason : curl_easy_strerror(code), err);
}

bool http_ask(const struct http_request *request, struct http_answer *answer, struct err *err)
{
	CLEANUP(free_handle) CURL *curl = curl_easy_init();
	AUTO_FREE char *shown = str_hide_password(request->url);

	*answer = (struct http_answer){.body = str_new()};
	if (!curl)
		return err_set(err, ERR_FAILED, "cannot set up libcurl");
	return perform(curl, request, answer, err) ||
	       err_wrap(err, "%s %s", request->method ? request->method : "GET", shown);
}
