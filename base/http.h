/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

/* HTTP over libcurl: bounded in time and size. */

#include "base/str.h"

/* Once per process, before any thread. */
void http_init(void);
/* GET; appends the body to out. Errors name the URL and the status. */
bool http_get(const char *url, double timeout_s, size_t max, struct str *out,
	      struct err *err) _must_check;

struct http_request {
	const char *method;   /* NULL = GET */
	const char *url;      /* http or https */
	const char *body;     /* NULL = none */
	struct strs headers;  /* "Name: value" */
	const char *user;     /* Basic; NULL = none */
	const char *password; /* crosses the network by https, or to this host, unless cleartext */
	const char *ca_file;  /* NULL = the system's */
	const char *pin;      /* "sha256//BASE64" of the server's public key, instead of any CA */
	bool cleartext;
	double timeout_s;
	size_t max; /* bytes of the answer's body */
};

struct http_answer {
	int status;
	struct str body;
	struct strs headers; /* "Name: value", of the last answer */
};

/*
 * One request; redirects are not followed, since a header may hold a secret. Any status is an
 * answer. False when there was none; answer is to be released either way. ERR_USAGE when settings
 * must be changed: a server that cannot be trusted, or a password in the clear.
 */
bool http_ask(const struct http_request *request, struct http_answer *answer,
	      struct err *err) _must_check;
void http_request_release(struct http_request *request);
void http_answer_release(struct http_answer *answer);
/* The value of a header, NULL when absent; borrowed. */
const char *http_header(const struct http_answer *answer, const char *name);
/* What Retry-After says, in seconds from now; otherwise when it says nothing. */
double http_retry_after_s(const struct http_answer *answer, double otherwise);

/* Whether a URL of any scheme names this host: what is sent there crosses no network. */
bool http_is_loopback(const char *url);

#endif
