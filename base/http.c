// SPDX-License-Identifier: GPL-2.0-or-later
/* HTTP over libcurl. */
#include "base/http.h"

#include <curl/curl.h>

static void free_handle(CURL **curl)
{
	curl_easy_cleanup(*curl);
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
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "mmperf");
	curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

static bool outcome(CURL *curl, CURLcode code, const struct body *body, const char *reason,
		    struct err *err)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (body->too_large)
		return err_set(err, ERR_FAILED, "the answer is larger than %zu bytes", body->max);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return err_set(err, ERR_TIMEOUT, "no complete answer in time");
	if (code)
		return err_set(err, ERR_FAILED, "%s", reason);
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
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	code = curl_easy_perform(curl);
	if (outcome(curl, code, &body, *reason ? reason : curl_easy_strerror(code), err))
		return true;
	out->len = body.start;
	out->s[out->len] = '\0';
	return err_wrap(err, "GET %s", shown);
}
