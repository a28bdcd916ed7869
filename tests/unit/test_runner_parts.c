// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts: consoles, build logs, series; archives; the CPU plan. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/repo.h"
#include "runner/builder.h"
#include "runner/console.h"
#include "runner/console_watch.h"
#include "runner/host.h"
#include "runner/initramfs.h"
#include "runner/machine.h"
#include "runner/machines/kvm.h"
#include "runner/quiet.h"
#include "runner/serial_lines.h"
#include "runner/series.h"

static void diagnosis_is(const char *text, const char *want, const char *want_line)
{
	AUTO_STR line = str_new();
	const char *outcome = "none";

	console_diagnose(text, strlen(text), &outcome, &line);
	assert_string_equal(outcome, want);
	assert_string_equal(line.s, want_line);
}

static void test_console(void **state _unused)
{
	AUTO_STR line = str_new();

	diagnosis_is("[ 1.0] all well\n", "none", "");
	diagnosis_is("a\n[ 1.0] Kernel panic - not syncing: x\r\nb\n", "panic",
		     "[ 1.0] Kernel panic - not syncing: x");
	diagnosis_is("[ 1] Oops: 0000\n[ 2] Kernel panic - not syncing: Fatal\n", "oops",
		     "[ 1] Oops: 0000");
	diagnosis_is("watchdog: BUG: soft lockup - CPU#1\n", "hang",
		     "watchdog: BUG: soft lockup - CPU#1");
	diagnosis_is("Oops:\x1b[31m\xff", "oops", "Oops: [31m\xef\xbf\xbd");
	diagnosis_is("--- mmperf 2026-01-01 00:00:00: sysrq after an Oops: ---\n", "none", "");
	diagnosis_is("[ 9] rcu: INFO: rcu_preempt self-detected stall on CPU\n", "hang",
		     "[ 9] rcu: INFO: rcu_preempt self-detected stall on CPU");
	diagnosis_is("[ 3] Run /init as init process\nagent: no network: cannot reach 10.0.2.2 "
		     "port 5: No route to host\n",
		     "infra", "agent: no network: cannot reach 10.0.2.2 port 5: No route to host");
	console_last_line("one\ntwo \r\n\n", 11, &line);
	assert_string_equal(line.s, "two");
	str_clear(&line);
	console_last_line("one\n--- mmperf x: console lost: y ---\n\n", 39, &line);
	assert_string_equal(line.s, "one");
	str_clear(&line);
	console_last_line("--- mmperf x ---\n", 17, &line);
	assert_string_equal(line.s, "");
}

static void test_console_on_a_terminal(void **state _unused)
{
	char text[] = "\033[2Ja\tb\r\n\177\xc3\xa9";

	console_plain(text, sizeof(text) - 1);
	assert_string_equal(text, " [2Ja\tb\r\n \xc3\xa9");
}

static void test_console_facts(void **state _unused)
{
	static const char text[] =
		"[    0.000000] Linux version 6.1.0 (base)\n"
		"[   20.000000] kexec_core: Starting new kernel\n"
		"--- mmperf 2026-01-01 00:00:00: console lost: the other side closed it ---\n"
		"[    0.000000] Linux version 6.12.0 (test)\n";
	struct console_facts facts = console_facts(text, sizeof(text) - 1);

	assert_int_equal(facts.banners, 2);
	assert_int_equal(facts.kexecs, 1);
	assert_int_equal(facts.gaps, 1);
	assert_int_equal(facts.inits, 0);
}

static void sight_is(const char *console, const char *want)
{
	struct console_facts facts = console_facts(console, strlen(console));

	assert_non_null(strstr(console_sight(&facts), want));
}

static void test_console_sight(void **state _unused)
{
	sight_is("", "no jump");
	sight_is("[   20.0] kexec_core: Starting new kernel\n", "said nothing");
	sight_is("[   20.0] kexec_core: Starting new kernel\n[    0.000000] Linux version 6\n",
		 "did not come to user space");
	sight_is("[    0.000000] Linux version 6\n[    1.2] Run /sbin/init as init process\n",
		 "network did not");
	sight_is("[    0.000000] Linux version 6\n[    0.000000] Linux version 6\n",
		 "restarted by itself");
	sight_is("[    0.000000] Linux version 6\n--- mmperf: console lost: eof ---\n",
		 "proves nothing");
	assert_non_null(
		strstr(console_advice("Kernel panic - not syncing: VFS: Unable to mount root fs on "
				      "unknown-block(0,0)"),
		       "add them to the recipe"));
	assert_null(console_advice("Kernel panic - not syncing: Fatal exception"));
}

static bool ends(const char *line, bool banner)
{
	return console_ends(line, strlen(line), banner);
}

static void test_console_ends(void **state _unused)
{
	assert_true(ends("[ 1.0] Kernel panic - not syncing: x", false));
	assert_true(ends("You are in emergency mode. After logging in, type", false));
	assert_true(ends("Gave up waiting for root file system device.", false));
	assert_false(ends("watchdog: BUG: soft lockup - CPU#1 stuck for 22s!", true));
	assert_false(ends("[ 1] Oops: 0000", true)); /* the panic follows, or it lives on */
	assert_false(ends("--- mmperf x: after a Kernel panic - not syncing ---", true));
	assert_false(ends("[    0.000000] Linux version 6.12.0", false));
	assert_true(ends("[    0.000000] Linux version 6.12.0", true));
}

#define PANIC "[ 1.0] Kernel panic - not syncing: x\n"

/* What the file holds when the watch looks; empty: it goes on. */
static void watch_is(const char *before, bool up, const char *then, const char *want)
{
	char path[] = "/tmp/mmperf-test-watch-XXXXXX";
	AUTO_CLOSE int fd = mkstemp(path);
	CLEANUP(console_watch_release) struct console_watch w;

	assert_true(fd >= 0 && fs_write_fd(fd, before, strlen(before)));
	console_watch_init(&w, path);
	console_watch_from(&w, strlen(before));
	if (up)
		console_watch_is_up(&w);
	assert_false(console_watch_ended(&w));
	assert_true(fs_write_fd(fd, then, strlen(then)));
	w.look_at_s = 0;
	assert_false(console_watch_ended(&w)); /* its trace may still come */
	assert_string_equal(w.line.s, want);
	w.ended_at_s -= 60;
	assert_int_equal(console_watch_ended(&w), *want != '\0');
	unlink(path);
}

static void test_console_watch(void **state _unused)
{
	AUTO_STR flood = str_new();

	watch_is("", false, PANIC "Call Trace:\n", "[ 1.0] Kernel panic - not syncing: x");
	watch_is(PANIC, false, "[ 2.0] all well\n", "");
	watch_is("", false, "[ 1.0] Kernel panic - not syncing", ""); /* no whole line yet */
	watch_is("", false, "--- mmperf x: console lost: eof ---\n" PANIC, "");
	watch_is("", false, "[    0.000000] Linux version 6\n", "");
	watch_is("", true, "[    0.000000] Linux version 6\n", "[    0.000000] Linux version 6");
	for (int i = 0; i < 40000; i++)
		str_add(&flood, "x");
	str_add(&flood, "\n" PANIC);
	watch_is("", false, flood.s, "[ 1.0] Kernel panic - not syncing: x");
}

/* The sums are the first digits of sha256sum. */
#define PIECE_A "[ 2.0] mmperf:0:d356aa44:+{\"type\":\r\n"
#define PIECE_B "[ 2.1] mmperf:1:5ab946c2:.\"log\"}\r\n"

static void serial_is(const char *console, const char *want, const char *want_error)
{
	CLEANUP(serial_lines_release) struct serial_lines s;
	AUTO_STR out = str_new();
	struct err err = {0};

	serial_lines_init(&s, 0);
	if (serial_lines_feed(&s, console, strlen(console), &out, &err))
		assert_string_equal(want_error, "");
	else
		assert_non_null(strstr(err.msg, want_error));
	assert_string_equal(out.s, want);
}

static void test_serial_lines(void **state _unused)
{
	serial_is(PIECE_A "[ 2.05] something of the kernel's own\n" PIECE_B, "{\"type\":\"log\"}\n",
		  "");
	serial_is(PIECE_A PIECE_B PIECE_A PIECE_B, "{\"type\":\"log\"}\n{\"type\":\"log\"}\n", "");
	serial_is("mmperf: a module\nmmperf:7:abc\nmmperf::\n", "", "");
	serial_is(PIECE_B, "", "piece 1 came, 0 was due");
	serial_is(PIECE_A PIECE_A, "", "piece 0 came, 1 was due");
	serial_is("mmperf:0:d356aa44:+{\"typo\":\n", "", "damaged piece 0");
	serial_is("mmperf:0:d356aa44:+{\"ty[ 3.0] torn\npe\":\n", "", "damaged piece 0");
}

static void first_error_is(const char *log, const char *want)
{
	AUTO_STR line = str_new();

	builder_first_error(log, strlen(log), &line);
	assert_string_equal(line.s, want);
}

static void test_first_error(void **state _unused)
{
	first_error_is("  CC mm/a.o\nmm/a.c:3:1: error: expected ';'\nmake: *** [x] Error 1\n",
		       "mm/a.c:3:1: error: expected ';'");
	first_error_is("ld: mm/b.o: undefined reference to `f'\nmake: *** x\n",
		       "ld: mm/b.o: undefined reference to `f'");
	first_error_is("make: *** No rule\n", "make: *** No rule");
	first_error_is("strange\n\n", "strange");
	first_error_is("", "");
}

static void test_series(void **state _unused)
{
	struct tree_text texts[] = {
		{"base", "Patch series \"no\"\nThis patch (of 9):"},
		{"mm: a", "alone"},
		{"mm: b", "Patch series \"B\", v2.\n\ntext\n\nThis patch (of 2):\n"},
		{"mm-b-fix", "fix"},
		{"mm: b2", "second"},
		{"mm: c", "alone"},
		{"mm: d", "Patch series \"D\".\n\nThis patch (of 3):\n"},
		{"mm: e", "Patch series \"E\".\n\nThis patch (of 1000000):\n"},
	};
	static const int want[] = {0, 1, 2, 2, 2, 5, 6, 6};
	int first[ARRAY_SIZE(texts)];

	series_groups(texts, ARRAY_SIZE(texts), first);
	assert_memory_equal(first, want, sizeof(want));
}

/* The system's cpio reads what we write. */
static void test_initramfs(void **state _unused)
{
	AUTO_FREE char *path = xasprintf("/tmp/mmperf-cpio-%d", (int)getpid());
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 10};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	CLEANUP(initramfs_release) struct initramfs fs;
	struct err err;

	initramfs_init(&fs);
	initramfs_dir(&fs, "dev");
	initramfs_file(&fs, "job.json", 0644, "12345", 5);
	initramfs_file(&fs, "empty", 0600, "", 0);
	initramfs_end(&fs);
	assert_int_equal(fs.bytes.len % 512, 0);
	assert_true(fs_write_atomic(path, fs.bytes.s, fs.bytes.len, 0600, &err));
	strs_pushl(&spec.argv, "cpio", "-tv", "--quiet", "-F", path, NULL);
	strs_push(&spec.env, "TZ=UTC0");
	assert_true(proc_run(&spec, &result, &err));
	unlink(path);
	assert_int_equal(result.status, 0);
	assert_non_null(strstr(result.out.s, "drwxr-xr-x"));
	assert_non_null(strstr(result.out.s, "5 Jan  1  1970 job.json"));
	assert_non_null(strstr(result.out.s, " empty"));
}

static struct settings settings_of(const char *text)
{
	AUTO_FREE char *path = xasprintf("/tmp/mmperf-conf-%d", (int)getpid());
	struct settings settings;
	struct err err;

	assert_true(fs_write_atomic(path, text, strlen(text), 0600, &err));
	if (!settings_load(path, &settings, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	return settings;
}

static void test_host_plan(void **state _unused)
{
	static const int cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
	CLEANUP(settings_release)
	struct settings settings = settings_of(
		"[host]\nname = me\n"
		"[machine \"a\"]\nclass = q\ndriver = qemu\ncpus = 4\n"
		"[machine \"f\"]\nclass = f\ndriver = fake\n"
		"[machine \"other\"]\nclass = q\ndriver = qemu\ncpus = 4\nhost = elsewhere\n");
	CLEANUP(host_release) struct host wide = {0}, narrow = {0};

	host_plan(&wide, &settings, cpus, 8);
	assert_int_equal(wide.n, 2);
	assert_false(wide.turns);
	assert_string_equal(host_cpus_for(&wide, "a"), "4,5,6,7");
	assert_string_equal(host_cpus_for(&wide, NULL), "0,1,2,3");
	assert_null(host_cpus_for(&wide, "f"));
	assert_true(host_keeps_busy(&wide, "a"));
	assert_false(host_keeps_busy(&wide, "f"));
	host_plan(&narrow, &settings, cpus, 5);
	assert_true(narrow.turns);
	assert_null(host_cpus_for(&narrow, "a"));
}

static void test_machine_knobs(void **state _unused)
{
	CLEANUP(settings_release)
	struct settings settings =
		settings_of("[machine \"asis\"]\nclass = q\ndriver = local\n"
			    "[machine \"set\"]\nclass = q\ndriver = local\nsmt = off\nlru-gen = "
			    "on\nswap = off\n"
			    "[machine \"odd\"]\nclass = q\ndriver = local\nswap = on\n");
	AUTO_JSON *job = json_object();
	struct err err;

	assert_true(machine_add_knobs(settings.conf, "asis", job, &err));
	assert_null(json_object_get(job, "knobs"));
	assert_true(machine_add_knobs(settings.conf, "set", job, &err));
	AUTO_FREE char *text = js_text(job);

	assert_string_equal(text,
			    "{\"knobs\":{\"lru_gen\":\"on\",\"smt\":\"off\",\"swap\":\"off\"}}");
	assert_false(machine_add_knobs(settings.conf, "odd", job, &err));
	assert_string_equal(err.msg, "machine.odd.swap: \"on\" should be keep or off");
}

static void test_host_offer(void **state _unused)
{
	struct host turns = {.turns = true}, wide = {0};
	struct host_load idle = {0}, builds = {.builds = 1}, boots = {.boots = 1};

	assert_true(host_offer(&turns, &idle).build);
	assert_true(host_offer(&turns, &idle).boot);
	assert_false(host_offer(&turns, &builds).boot);
	assert_false(host_offer(&turns, &boots).build);
	assert_false(host_offer(&turns, &boots).boot);
	assert_true(host_offer(&wide, &builds).boot);
	assert_false(host_offer(&wide, &builds).build);
	assert_true(host_offer(&wide, &boots).build);
}

static int begin(void **state _unused)
{
	repo_init();
	return 0;
}

static void test_disturbance(void **state)
{
	static const char stat[] = "cpu  900 0 90 9000 9 0 9 9 0 0\n"
				   "cpu0 100 10 20 5000 3 1 2 4 50 0\n"
				   "cpu1 200 0 40 4000 3 0 0 0 90 0\n"
				   "cpu10 1 0 0 10 0 0 0 0 0 0\n"
				   "intr 12345 0 0\n"
				   "cpu2 9999 0 0 0 0 0 0 0 0 0\n";
	struct quiet quiet;
	int n;

	(void)state;
	assert_true(fabs(quiet_busy(stat, NULL, 100, &n) - 3.78) < 1e-9 && n == 3);
	assert_true(fabs(quiet_busy(stat, "1", 100, &n) - 2.40) < 1e-9 && n == 1);
	assert_true(fabs(quiet_busy(stat, "0-1", 100, &n) - 3.77) < 1e-9 && n == 2);
	assert_true(fabs(quiet_busy(stat, "10,1", 100, &n) - 2.41) < 1e-9 && n == 2);
	assert_true(quiet_busy(stat, "7", 100, &n) == 0 && n == 0);
	assert_true(quiet_busy("", NULL, 100, &n) == 0 && n == 0);
	assert_true(quiet_begin(&quiet, NULL));
	assert_true(quiet_share(&quiet, getpid()) < 0); /* too short to tell */
}

static void test_kvm(void **state _unused)
{
	assert_true(kvm_cpu_can("processor\t: 0\nflags\t\t: fpu vmx sse\nbugs\t: x\n"));
	assert_true(kvm_cpu_can("flags\t\t: fpu svm\n"));
	assert_false(kvm_cpu_can("processor\t: 0\nflags\t\t: fpu vmx_x xsvm sse\n"));
	assert_false(kvm_cpu_can("vmx flags\t: none\nmodel name : vmx\n"));
	assert_false(kvm_cpu_can(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disturbance),   cmocka_unit_test(test_console),
		cmocka_unit_test(test_console_facts), cmocka_unit_test(test_console_sight),
		cmocka_unit_test(test_console_ends),  cmocka_unit_test(test_console_watch),
		cmocka_unit_test(test_serial_lines),  cmocka_unit_test(test_console_on_a_terminal),
		cmocka_unit_test(test_first_error),   cmocka_unit_test(test_series),
		cmocka_unit_test(test_initramfs),     cmocka_unit_test(test_host_plan),
		cmocka_unit_test(test_machine_knobs), cmocka_unit_test(test_host_offer),
		cmocka_unit_test(test_kvm),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
