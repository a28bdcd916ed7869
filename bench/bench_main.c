// SPDX-License-Identifier: GPL-2.0-or-later
/* A benchmark's command line. */
#include "bench/bench_main.h"

#include <stdlib.h>

#include "base/opt.h"
#include "bench/bench_run.h"

struct flags {
	bool json, sync, describe;
	const char *preset;
};

/* The parameters of the table, then the common options; values[i] belongs to params[i]. */
static struct opt *options(const struct bench *bench, struct flags *flags, const char ***values)
{
	const struct opt common[] = {
		{0, "preset", OPT_STRING, &flags->preset, "NAME", "start from these parameters"},
		{0, "json", OPT_FLAG, &flags->json, NULL, "print lines of JSON"},
		{0, "sync", OPT_FLAG, &flags->sync, NULL,
		 "as --json, and wait for a byte on stdin at the ends of each measured phase"},
		{0, "describe", OPT_FLAG, &flags->describe, NULL,
		 "print parameters and metrics as JSON"},
	};
	struct opt *opts;
	size_t n = 0;

	while (bench->params[n].name)
		n++;
	opts = xcalloc(n + ARRAY_SIZE(common) + 1, sizeof(*opts));
	*values = xcalloc(n + 1, sizeof(**values));
	for (size_t i = 0; i < n; i++)
		opts[i] = (struct opt){.name = bench->params[i].name,
				       .type = OPT_STRING,
				       .dest = &(*values)[i],
				       .arg = "VALUE"};
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		opts[n + i] = common[i];
	return opts;
}

static void help(const struct bench *bench, const struct opt *opts)
{
	const struct opt *common = opts;

	printf("%s (version %d): %s\n\nParameters, --NAME VALUE:\n", bench->name, bench->version,
	       bench->about);
	for (const struct bench_param *p = bench->params; p->name; p++, common++)
		printf("  --%-16s %s%s%s%s%s [%s]\n", p->name, p->help, p->unit ? ", in " : "",
		       p->unit ? p->unit : "", p->choices ? ": " : "", p->choices ? p->choices : "",
		       p->fallback);
	printf("\nOptions:\n");
	opt_help(common, stdout);
	if (bench->presets)
		printf("\nPresets:\n");
	for (const struct bench_preset *p = bench->presets; p && p->name; p++)
		printf("  %-16s %s: %s\n", p->name, p->help, p->values);
	printf("\nMetrics (* judged first; ! not judged on emulated machines):\n");
	for (const struct bench_metric *m = bench->metrics; m->name; m++)
		printf(" %c%c %-18s %-8s %s%s\n", m->primary ? '*' : ' ',
		       bench_wants_real_cpus(bench, m) ? '!' : ' ', m->name, m->unit, m->help,
		       m->family ? " (NAME-N)" : "");
}

static bool prepare(struct bench_run *run, const struct bench *bench, const struct flags *flags,
		    const char *const *values, struct err *err)
{
	if (flags->preset && !bench_run_preset(run, flags->preset, err))
		return false;
	for (size_t i = 0; bench->params[i].name; i++) {
		if (values[i] && !bench_run_set(run, bench->params[i].name, values[i], err))
			return false;
	}
	return true;
}

static int describe(const struct bench *bench)
{
	AUTO_JSON *json = bench_describe(bench);
	AUTO_FREE char *text = js_pretty(json);

	fputs(text, stdout);
	return 0;
}

static int fail(const struct bench *bench, const struct err *err)
{
	fprintf(stderr, "%s: %s\n", bench->name, err->msg);
	return err_exit_status(err);
}

int bench_main(const struct bench *bench, int argc, char **argv)
{
	struct flags flags = {0};
	AUTO_FREE const char **values = NULL;
	AUTO_FREE struct opt *opts = options(bench, &flags, &values);
	CLEANUP(bench_run_free_ptr) struct bench_run *run = NULL;
	AUTO_STRS operands = STRS_INIT;
	bool want_help = false;
	struct err err;

	if (!opt_parse(opts, argc, argv, &operands, &want_help, &err))
		return fail(bench, &err);
	if (want_help) {
		help(bench, opts);
		return 0;
	}
	if (flags.describe)
		return describe(bench);
	if (operands.n) {
		err_set(&err, ERR_USAGE, "\"%s\": parameters are given as --NAME VALUE",
			operands.v[0]);
		return fail(bench, &err);
	}
	run = bench_run_new(bench, flags.sync ? BENCH_SYNC : flags.json ? BENCH_JSON : BENCH_HUMAN);
	if (!prepare(run, bench, &flags, values, &err) || !bench_run_execute(run, &err))
		return fail(bench, &err);
	return 0;
}
