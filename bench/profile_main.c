// SPDX-License-Identifier: GPL-2.0-or-later
/* profile at a shell. */
#include "bench/profile_main.h"

#include <stdio.h>

#include "base/opt.h"
#include "bench/command_run.h"
#include "bench/profile.h"

static bool watch(char *const *argv, bool json, int *status, struct err *err)
{
	CLEANUP(profile_free_ptr) struct profile *profile = NULL;
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = NULL;
	AUTO_FOLDED folded = {0};
	uint64_t lost;
	bool ok;

	if (!profile_open(&profile, err) || !kallsyms_load(&syms, err))
		return false;
	profile_switch(profile, true);
	ok = command_run("profile", argv, status, err);
	profile_switch(profile, false);
	if (!ok || !profile_read(profile, syms, &folded, &lost, err))
		return false;
	if (json) {
		AUTO_JSON *line = folded_json(&folded, profile_source(profile), lost, folded.n);
		AUTO_FREE char *text = js_text(line);

		puts(text);
		return true;
	}
	for (size_t i = 0; i < folded.n; i++)
		printf("%s %llu\n", folded.v[i].text, (unsigned long long)folded.v[i].count);
	fprintf(stderr, "profile: %llu samples of %s, %llu lost\n",
		(unsigned long long)folded.samples, profile_source(profile),
		(unsigned long long)lost);
	return true;
}

int profile_main(int argc, char **argv)
{
	bool json = false, help = false;
	const struct opt opts[] = {{0, "json", OPT_FLAG, &json, NULL, "one line of JSON"}, {0}};
	AUTO_STRS command = STRS_INIT;
	struct err err;
	int status = 0;
	bool ok = opt_parse(opts, argc, argv, &command, &help, &err);

	if (ok && (help || !command.n)) {
		printf("usage: profile [--json] -- COMMAND [ARGUMENT...]\n"
		       "Where all CPUs spend their time in the kernel while COMMAND runs: folded "
		       "stacks.\n");
		opt_help(opts, stdout);
		return help ? 0 : 2;
	}
	ok = ok && watch(command.v, json, &status, &err);
	if (ok)
		return status;
	fprintf(stderr, "profile: %s\n", err.msg);
	return err_exit_status(&err);
}
