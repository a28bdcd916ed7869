// SPDX-License-Identifier: GPL-2.0-or-later
/* Naming the toolchain. */
#include "runner/toolchain.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"

static bool ask(const char *program, struct str *all, struct str *first, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 30};
	CLEANUP(proc_result_release) struct proc_result result = {0};

	strs_pushl(&spec.argv, program, "--version", NULL);
	strs_push(&spec.env, "LC_ALL=C");
	if (!proc_run(&spec, &result, err))
		return err_wrap(err, "toolchain");
	if (result.status)
		return err_set(err, ERR_FAILED, "toolchain: `%s --version` failed with status %d",
			       program, result.status);
	str_add_utf8(all, result.out.s, result.out.len);
	str_addf(first, "%s%.*s", first->len ? ", " : "", (int)strcspn(result.out.s, "\n"),
		 result.out.s);
	return true;
}

bool toolchain_find(const struct settings *settings, struct toolchain *out, struct err *err)
{
	const char *compiler = conf_str(settings->conf, "build", NULL, "compiler");
	AUTO_STR all = str_new(), first = str_new();

	if (!ask(compiler, &all, &first, err) || !ask("as", &all, &first, err) ||
	    !ask("ld", &all, &first, err))
		return false;
	hash_of(all.s, all.len, out->hash);
	out->description = str_take(&first);
	return true;
}

void toolchain_release(struct toolchain *toolchain)
{
	free(toolchain->description);
	*toolchain = (struct toolchain){0};
}
