// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said to a test machine, and what its answers are taken for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "runner/target.h"

static void expect_line(const char *current, bool reuse, const char *words, const char *rsdp,
			const char *wanted)
{
	AUTO_STR line = str_new();

	target_command_line(current, reuse, words, rsdp, 7, &line);
	assert_string_equal(line.s, wanted);
}

static void test_command_line(void **state _unused)
{
	expect_line("BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro crashkernel=256M quiet\n", true,
		    "panic=10 oops=panic", NULL,
		    "root=/dev/sda1 ro quiet panic=10 oops=panic mmperf.token=7");
	/* a jump from a kernel that was itself jumped into: nothing grows */
	expect_line("root=/dev/sda1 panic=10 oops=panic mmperf.token=6 acpi_rsdp=0x1", true,
		    "panic=30 oops=panic", "0x7fb7d014",
		    "root=/dev/sda1 panic=30 oops=panic mmperf.token=7 acpi_rsdp=0x7fb7d014");
	/* several consoles are meant; the same one twice is not */
	expect_line("console=tty0 console=ttyS0", true, "console=ttyS0 console=ttyS1", NULL,
		    "console=tty0 console=ttyS0 console=ttyS1 mmperf.token=7");
	expect_line("root=/dev/sda1 panicky=1", true, "panic=1", "",
		    "root=/dev/sda1 panicky=1 panic=1 mmperf.token=7");
	expect_line("root=/dev/sda1", false, "root=/dev/vda", NULL, "root=/dev/vda mmperf.token=7");
	expect_line("", true, "", NULL, "mmperf.token=7");
}

/* An ELF note: three words, name, description. */
#define NOTE_XEN   \
	"04000000" \
	"04000000" \
	"06000000" \
	"58656e00" \
	"00112233"
#define NOTE_GNU   \
	"04000000" \
	"06000000" \
	"03000000" \
	"474e5500" \
	"a1b2c3d4e5f60000"

static void expect_id(const char *notes, const char *wanted)
{
	char id[TARGET_ID_SIZE];

	target_build_id(notes, id);
	assert_string_equal(id, wanted);
}

static void test_build_id(void **state _unused)
{
	expect_id(NOTE_GNU, "a1b2c3d4e5f6");
	expect_id(NOTE_XEN NOTE_GNU, "a1b2c3d4e5f6");
	expect_id(NOTE_XEN, "");
	expect_id("", "");
	/* cut short, or lengths that point beyond the end */
	expect_id("04000000"
		  "06000000"
		  "03000000"
		  "474e5500"
		  "a1b2",
		  "");
	expect_id("ffffffff"
		  "06000000"
		  "03000000"
		  "474e5500"
		  "a1b2c3d4e5f60000",
		  "");
	expect_id("04000000"
		  "ffffff7f"
		  "03000000"
		  "474e5500"
		  "a1b2c3d4e5f60000",
		  "");
}

static void test_parse(void **state _unused)
{
	static const char text[] =
		"boot_id=6f0c0000-1111-2222-3333-444455556666\nrelease=6.12.1\n"
		"notes=" NOTE_GNU "\nloaded=1\ndisabled=0\nlockdown=none\nrsdp=\n"
		"free=2048\nuptime=12.5\ncmdline=root=/dev/vda mmperf.token=42 quiet\n"
		"healthy=6f0c0000-1111-2222-3333-444455556666\nagent=00ff\n";
	CLEANUP(target_state_release) struct target_state s = {0};
	struct err err;

	assert_true(target_state_parse(text, &s, &err));
	assert_string_equal(s.boot_id, "6f0c0000-1111-2222-3333-444455556666");
	assert_string_equal(s.build_id, "a1b2c3d4e5f6");
	assert_string_equal(s.command_line, "root=/dev/vda mmperf.token=42 quiet");
	assert_true(s.tested && s.healthy);
	assert_int_equal(s.token, 42);
	assert_string_equal(s.lockdown, "none");
	assert_string_equal(s.agent, "00ff");
	assert_int_equal(s.loaded, 1);
	assert_false(s.refuses);
	assert_int_equal(s.free_bytes, 2 << 20);
	/* a kernel without kexec has no kexec_loaded */
	assert_true(target_state_parse("boot_id=6f0c0000-1111-2222-3333-444455556666\nloaded=\n",
				       &s, &err));
	assert_int_equal(s.loaded, -1);
	assert_false(s.tested || s.healthy);
	assert_false(target_state_parse("release=6.12\n", &s, &err));
	assert_non_null(strstr(err.msg, "boot_id"));
}

/* What a real shell reads back is what was assigned. */
static void test_assign(void **state _unused)
{
	static const char *const values[] = {"plain", "", "it's", "$(id) `id` \"x\" \\ ; &",
					     "two\nlines"};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 20};
		CLEANUP(proc_result_release) struct proc_result result = {0};
		AUTO_STR script = str_new();
		struct err err;

		ssh_assign(&script, "v", values[i]);
		str_add(&script, "printf %s \"$v\"\n");
		spec.stdin_text = script.s;
		strs_pushl(&spec.argv, "sh", "-s", NULL);
		assert_true(proc_run(&spec, &result, &err));
		assert_string_equal(result.out.s, values[i]);
	}
}

static void test_explain(void **state _unused)
{
	static const struct {
		const char *said, *pattern;
		enum err_kind kind;
	} cases[] = {
		{"lab@skl1: Permission denied (publickey).\r\n", "refuses our key", ERR_USAGE},
		{"@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification "
		 "failed.\n",
		 "not the pinned one", ERR_USAGE},
		{"No ED25519 host key is known for skl1\nHost key verification failed.\n",
		 "is not known", ERR_USAGE},
		{"scp: dest open \"/var/tmp/mmperf/kernel\": Permission denied\n",
		 "mmperf/kernel\": Permission denied", ERR_FAILED},
		{"ssh: connect to host skl1 port 22: Connection refused\n", "nothing listens",
		 ERR_FAILED},
		{"ssh: connect to host skl1 port 22: Connection timed out\n", "does not answer",
		 ERR_FAILED},
		{"sudo: a password is required\n", "NOPASSWD", ERR_USAGE},
		{"something new\nand its last line\n", "skl1: and its last line", ERR_FAILED},
		{"", "does not answer", ERR_FAILED},
	};
	struct ssh ssh = {.destination = "skl1"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err;

		assert_false(ssh_explain(&ssh, cases[i].said, &err));
		assert_int_equal(err.kind, cases[i].kind);
		assert_non_null(strstr(err.msg, cases[i].pattern));
		assert_null(strchr(err.msg, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_line), cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_parse),	     cmocka_unit_test(test_assign),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
