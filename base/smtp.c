// SPDX-License-Identifier: GPL-2.0-or-later
/* Mail over libcurl. */
#include "base/smtp.h"

#include <string.h>

#include <curl/curl.h>

#include "base/http.h"
#include "base/secret.h"

static void free_handle(CURL **curl)
{
	curl_easy_cleanup(*curl);
}

static void free_list(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}

/* One message on its way. */
struct letter {
	const struct str *text;
	size_t sent;
	bool begun;	     /* libcurl asks for text only after the server's 354 */
	struct str *refusal; /* the server's last 4xx or 5xx line */
};

static size_t give_text(char *out, size_t size, size_t n, void *arg)
{
	struct letter *letter = arg;
	size_t left = letter->text->len - letter->sent;
	size_t take = left < size * n ? left : size * n;

	letter->begun = true;
	memcpy(out, letter->text->s + letter->sent, take);
	letter->sent += take;
	return take;
}

static size_t take_answer(char *line, size_t size, size_t n, void *arg)
{
	struct letter *letter = arg;

	/* After a refusal libcurl says QUIT, and that is answered well. */
	if (!n || (line[0] != '4' && line[0] != '5'))
		return size * n;
	str_clear(letter->refusal);
	str_add_utf8(letter->refusal, line, size * n);
	for (char *p = letter->refusal->s; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return size * n;
}

/* Addresses go into protocol lines; they may come from commit texts. */
static bool check_address(const char *address, struct err *err)
{
	const char *at = strrchr(address, '@');
	bool ok = at && at > address && at[1];

	for (const char *p = address; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("<>,;\\\"", *p))
			ok = false;
	if (!ok)
		return err_set(err, ERR_USAGE, "\"%s\" is not a mail address", address);
	return true;
}

/* A bare CR or LF is read differently by different servers: that is how mail is smuggled. */
static bool check_lines(const struct str *message, struct err *err)
{
	for (size_t i = 0; i < message->len; i++) {
		char c = message->s[i];
		bool ok = c == '\r'   ? message->s[i + 1] == '\n'
			  : c == '\n' ? i > 0 && message->s[i - 1] == '\r'
				      : c != '\0';

		if (!ok)
			return err_set(err, ERR_FAILED,
				       "the message has a bare line end or a NUL at byte %zu", i);
	}
	return true;
}

static bool log_in(CURL *curl, const struct smtp_server *server, struct str *password,
		   struct err *err)
{
	if (!server->user)
		return true;
	if (!server->starttls && !str_starts(server->url, "smtps://") &&
	    !http_is_loopback(server->url))
		return err_set(err, ERR_USAGE,
			       "a password would cross the network in the clear: set starttls, or "
			       "use smtps://");
	if (server->password_file && !secret_read(server->password_file, password, err))
		return false;
	curl_easy_setopt(curl, CURLOPT_USERNAME, server->user);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, password->s);
	return true;
}

static bool add_recipients(const struct strs *to, struct curl_slist **list, struct err *err)
{
	if (!to->n)
		return err_set(err, ERR_USAGE, "nobody to send the message to");
	for (size_t i = 0; i < to->n; i++) {
		AUTO_FREE char *bracketed = xasprintf("<%s>", to->v[i]);
		struct curl_slist *longer;

		if (!check_address(to->v[i], err))
			return false;
		longer = curl_slist_append(*list, bracketed);
		if (!longer)
			return err_set(err, ERR_FAILED, "out of memory");
		*list = longer;
	}
	return true;
}

static void set_up(CURL *curl, const struct smtp_server *server, struct letter *letter)
{
	double timeout_s = server->timeout_s > 0 ? server->timeout_s : 60;

	curl_easy_setopt(curl, CURLOPT_URL, server->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
	/* Else a server that fell silent is waited for again, 120 s, when QUIT is said to it. */
	curl_easy_setopt(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)timeout_s + 1);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_text);
	curl_easy_setopt(curl, CURLOPT_READDATA, letter);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_answer);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, letter);
	if (server->starttls)
		curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
	if (server->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, server->ca_file);
}

static enum smtp_outcome judge(CURL *curl, CURLcode code, const struct letter *letter,
			       const char *reason, struct err *err)
{
	long reply = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
	if (!code)
		return SMTP_SENT;
	if (reply >= 400)
		err_set(err, reply >= 500 ? ERR_USAGE : ERR_FAILED, "refused: %s",
			str_trim(letter->refusal->s));
	else
		err_set(err, code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_FAILED, "%s",
			reason);
	if (!letter->begun || reply >= 400)
		return SMTP_REFUSED;
	err_wrap(err, "the message may or may not have been taken");
	return SMTP_UNSURE;
}

static enum smtp_outcome transfer(CURL *curl, const struct smtp_server *server, const char *from,
				  struct curl_slist *to, struct letter *letter, struct err *err)
{
	AUTO_FREE char *bracketed = xasprintf("<%s>", from);
	char reason[CURL_ERROR_SIZE] = "";
	CURLcode code;

	set_up(curl, server, letter);
	curl_easy_setopt(curl, CURLOPT_MAIL_FROM, bracketed);
	curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, to);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	code = curl_easy_perform(curl);
	return judge(curl, code, letter, *reason ? reason : curl_easy_strerror(code), err);
}

enum smtp_outcome smtp_send(const struct smtp_server *server, const char *from,
			    const struct strs *to, const struct str *message, struct err *err)
{
	CLEANUP(free_list) struct curl_slist *list = NULL;
	AUTO_SECRET password = str_new();
	AUTO_STR refusal = str_new();
	struct letter letter = {.text = message, .refusal = &refusal};
	AUTO_FREE char *shown = str_hide_password(server->url);
	/* Last, so that it goes first: its end says QUIT and still reports the answer. */
	CLEANUP(free_handle) CURL *curl = curl_easy_init();
	enum smtp_outcome outcome = SMTP_REFUSED;

	if (!curl)
		err_set(err, ERR_FAILED, "cannot set up libcurl");
	else if (check_address(from, err) && add_recipients(to, &list, err) &&
		 check_lines(message, err) && log_in(curl, server, &password, err))
		outcome = transfer(curl, server, from, list, &letter, err);
	if (outcome != SMTP_SENT)
		err_wrap(err, "mail by %s", shown);
	return outcome;
}
