// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf report: all about one regression. */
#include <string.h>

#include "cli/command.h"
#include "cli/session.h"
#include "reports/format.h"

static bool print_report(struct session *session, long long id, const char *format_name,
			 struct err *err)
{
	const struct report_format *format = report_format_find(format_name);
	CLEANUP(report_release) struct report report = {0};
	const struct settings *settings;
	AUTO_FREE char *pages = NULL;
	AUTO_STR text = str_new();
	const char *url;
	struct db *db;

	if (!format)
		return err_set(err, ERR_USAGE, "report: there is no format \"%s\"", format_name);
	if (!session_settings(session, &settings, err) || !session_db(session, &db, err))
		return false;
	url = conf_str(settings->conf, "report", NULL, "url");
	pages = settings_path(settings, "pages");
	if (!report_read(db, id, url ? url : pages, &report, err))
		return false;
	format->write(&text, &report);
	fputs(text.s, stdout);
	return true;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	bool html = false, help;
	const struct opt opts[] = {
		{0, "html", OPT_FLAG, &html, NULL, "as the page, with its plots"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	long long id;

	if (!command_parse(session, &cmd_report, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	if (help)
		return true;
	if (!str_to_i64(words.v[0], &id) || id < 1)
		return err_set(err, ERR_USAGE,
			       "report: \"%s\" is no number of a regression; `mmperf regressions` "
			       "lists them",
			       words.v[0]);
	return print_report(session, id, session->json ? "json" : html ? "html" : "text", err);
}

const struct command cmd_report = {
	.name = "report",
	.summary = "all about one regression",
	.usage = "ID [--html | --json]",
	.about = "The text that is mailed, or the page, or the same as JSON. `mmperf regressions` "
		 "lists\n"
		 "the numbers.",
	.run = run,
};
