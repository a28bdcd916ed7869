// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments of subcommands. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session.h"

size_t command_common(struct session *session, struct opt out[COMMAND_COMMON_MAX])
{
	const struct opt common[] = {
		{0, "config", OPT_STRING, &session->config_path, "FILE", "read these settings"},
		{0, "json", OPT_FLAG, &session->json, NULL, "answer in JSON"},
	};

	memset(out, 0, COMMAND_COMMON_MAX * sizeof(*out));
	memcpy(out, common, sizeof(common));
	return ARRAY_SIZE(common);
}

static struct opt *with_common(struct session *session, const struct opt *opts)
{
	struct opt common[COMMAND_COMMON_MAX];
	size_t n = command_common(session, common), own = 0;
	struct opt *all;

	while (opts && opts[own].name)
		own++;
	all = xcalloc(own + n + 1, sizeof(*all));
	if (own)
		memcpy(all, opts, own * sizeof(*all));
	memcpy(all + own, common, n * sizeof(*all));
	return all;
}

static void print_usage(const struct command *command)
{
	AUTO_STRS forms = STRS_INIT;

	strs_split(&forms, command->usage, "\n");
	if (!forms.n)
		printf("usage: mmperf %s [options]\n", command->name);
	for (size_t i = 0; i < forms.n; i++)
		printf("%s mmperf %s %s\n", i ? "      " : "usage:", command->name, forms.v[i]);
}

static void print_help(const struct command *command, const struct opt *opts)
{
	print_usage(command);
	printf("\n%s\n", command->about ? command->about : command->summary);
	printf("\noptions:\n");
	opt_help(opts, stdout);
}

static bool count_fits(const struct command *command, const struct strs *operands, size_t min,
		       size_t max, struct err *err)
{
	AUTO_STRS forms = STRS_INIT;

	if (operands->n >= min && operands->n <= max)
		return true;
	strs_split(&forms, command->usage, "\n");
	if (operands->n > max)
		return err_set(err, ERR_USAGE, "%s: \"%s\" is too much; usage: mmperf %s %s",
			       command->name, operands->v[max], command->name,
			       forms.n ? forms.v[0] : "");
	return err_set(err, ERR_USAGE, "%s: an argument is missing; usage: mmperf %s %s",
		       command->name, command->name, forms.n ? forms.v[0] : "");
}

bool command_parse(struct session *session, const struct command *command, const struct opt *opts,
		   int argc, char **argv, size_t min, size_t max, struct strs *operands, bool *done,
		   struct err *err)
{
	AUTO_FREE struct opt *all = with_common(session, opts);

	if (!opt_parse(all, argc, argv, operands, done, err))
		return err_wrap(err, "%s", command->name);
	if (*done) {
		print_help(command, all);
		return true;
	}
	return count_fits(command, operands, min, max, err);
}
