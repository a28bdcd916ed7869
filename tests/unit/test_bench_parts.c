// SPDX-License-Identifier: GPL-2.0-or-later
/* What benchmarks read from the kernel: free memory by size, trace lines, CPU time of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bench/bpf_reason.h"
#include "bench/freemem.h"
#include "bench/kthread.h"
#include "bench/tracing.h"

static const char buddyinfo[] = "Node 0, zone      DMA      1      0      0      0      0      0   "
				"   0      0      0      0 "
				"     0 \n"
				"Node 0, zone   Normal   1022      1      0      0      0      0   "
				"   0      0      0      2 "
				"     1 \n"
				"Node 1, zone   Normal      0      0      0      0      0      0   "
				"   0      0      0      0 "
				"     4 \n";

static const char pagetypeinfo[] =
	"Page block order: 9\nPages per block:  512\n\n"
	"Free pages count per migrate type at order       0      1\n"
	"Node    0, zone      DMA, type    Unmovable      7      7\n\n"
	"Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate \n"
	"Node 0, zone      DMA            1            7            0            0            0 \n"
	"Node 0, zone   Normal          161         2015          192            0            0 \n"
	"Node 1, zone   Normal            5            6            7            0            0 \n";

static void free_memory_by_size(void **state)
{
	struct freemem mem = {0, 0, -1, -1, -1};
	struct err err;

	(void)state;
	assert_true(freemem_parse_buddyinfo(&mem, buddyinfo, -1, &err));
	assert_int_equal(mem.pages, 1 + 1022 + 2 + 1024 + 1024 + 4096);
	assert_int_equal(mem.huge_pages, 1024 + 1024 + 4096);
	mem = (struct freemem){0, 0, -1, -1, -1};
	assert_true(freemem_parse_buddyinfo(&mem, buddyinfo, 1, &err));
	assert_int_equal(mem.pages, 4096);
	assert_true(freemem_unusable(&mem) == 0);
	mem = (struct freemem){0, 0, -1, -1, -1};
	assert_true(freemem_parse_buddyinfo(&mem, buddyinfo, 0, &err));
	assert_true(freemem_unusable(&mem) > 0.33 && freemem_unusable(&mem) < 0.34);
}

static void no_free_memory_is_an_error(void **state)
{
	struct freemem mem = {0, 0, -1, -1, -1};
	struct err err;

	(void)state;
	assert_false(freemem_parse_buddyinfo(&mem, buddyinfo, 5, &err));
	assert_false(freemem_parse_buddyinfo(&mem, "Node 0, zone", -1, &err));
	assert_non_null(strstr(err.msg, "buddyinfo"));
}

static void page_blocks_by_type(void **state)
{
	struct freemem mem = {0, 0, -1, -1, -1};

	(void)state;
	freemem_parse_pagetypeinfo(&mem, pagetypeinfo, 0);
	assert_int_equal(mem.unmovable, 162);
	assert_int_equal(mem.movable, 2022);
	assert_int_equal(mem.reclaimable, 192);
	freemem_parse_pagetypeinfo(&mem, pagetypeinfo, -1);
	assert_int_equal(mem.reclaimable, 199);
	freemem_parse_pagetypeinfo(&mem, "Page block order: 9\n", -1);
	assert_int_equal(mem.unmovable, -1);
}

static void this_kernel_has_free_memory(void **state)
{
	struct freemem mem;
	struct err err;

	(void)state;
	assert_true(freemem_read(&mem, -1, &err));
	assert_true(mem.pages > 0 && mem.huge_pages <= mem.pages);
	assert_true(freemem_unusable(&mem) >= 0 && freemem_unusable(&mem) <= 1);
}

static const char trace[] =
	"# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/2   #P:2\n#\n"
	"      khugepaged-36      [001] .....    12.5: mm_khugepaged_scan_pmd: mm=00000000a, "
	"scan_pfn=0x1f, referenced=0, none_or_zero=0, status=lack_referenced_page, unmapped=0\n"
	"      khugepaged-36      [001] .....    12.6: mm_khugepaged_scan_file: mm=00000000a, "
	"scan_pfn=0x1f, filename=zero, present=512, swap=0, result=succeeded\n";

static void events_as_the_kernel_prints_them(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_FREE char *status = NULL, *result = NULL, *none = NULL, *pfn = NULL, *progress = NULL;
	struct err err;

	(void)state;
	assert_true(tracing_parse(trace, &lines, &err));
	assert_int_equal(lines.n, 2);
	status = tracing_field(lines.v[0], "status");
	assert_string_equal(status, "lack_referenced_page");
	result = tracing_field(lines.v[1], "result");
	assert_string_equal(result, "succeeded");
	none = tracing_field(lines.v[1], "status");
	assert_null(none);
	/* As kernels of 2026 tell how far it came. */
	progress =
		tracing_field(" khugepaged-36 [001] ..... 12.7: mm_khugepaged_scan: mm=00000000a, "
			      "progress=4096, full_scan_finished=0",
			      "progress");
	assert_string_equal(progress, "4096");
	/* Not the end of another field's name. */
	pfn = tracing_field(lines.v[0], "pfn");
	assert_null(pfn);
}

static void lost_events_are_told(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	struct err err;

	(void)state;
	assert_false(tracing_parse("# entries-in-buffer/entries-written: 100/205   #P:2\n", &lines,
				   &err));
	assert_non_null(strstr(err.msg, "buffer"));
}

static void cpu_time_of_kernel_threads(void **state)
{
	(void)state;
	assert_true(kthread_cpu_ns("no-such-thread") == -1);
	/* There is one for each CPU, and it has run. */
	assert_true(kthread_cpu_ns("ksoftirqd/") >= 0 || kthread_cpu_ns("kthreadd") == -1);
}

/* A program of that name is none: the benchmark of khugepaged has khugepaged's. */
static void programs_are_no_kernel_threads(void **state)
{
	double start_s = clock_mono_s();
	AUTO_FREE char *pid = xasprintf("%d", (int)getpid());

	(void)state;
	prctl(PR_SET_NAME, "khugepagedX");
	assert_true(kthread_cpu_ns("khugepagedX") == -1);
	assert_false(kthread_is(pid));
	assert_true(kthread_await_rest("khugepagedX", 5));
	assert_true(clock_mono_s() - start_s < 5);
}

static void kernel_threads_come_to_rest(void **state)
{
	(void)state;
	assert_true(kthread_await_rest("no-such-thread", 0));
	/* Not in a namespace of processes of our own. */
	if (kthread_cpu_ns("kthreadd") < 0)
		return;
	assert_true(kthread_is("2"));
	assert_true(kthread_await_rest("kthreadd", 30));
}

/* What a kernel says when it refuses a program. */
static void reason_of_the_verifier(void **state)
{
	char reason[80];

	(void)state;
	assert_true(
		bpf_reason("libbpf: prog 'a': BPF program load failed: Permission denied\n"
			   "libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\n"
			   "0: (b7) r0 = 0\nprocessed 1 insns\n"
			   "239: (61) r1 = *(u32 *)(r0 +48)\n"
			   "R0 unbounded memory access, make sure to bounds check any such access\n"
			   "processed 234 insns (limit 1000000) max_states_per_insn 0\n"
			   "-- END PROG LOAD LOG --\nlibbpf: failed to load object 'x'\n",
			   reason, sizeof(reason)));
	assert_string_equal(
		reason, "R0 unbounded memory access, make sure to bounds check any such access");
	assert_true(bpf_reason("libbpf: Error in bpf_object__probe_loading(): Operation not "
			       "permitted(1).\nlibbpf: failed\n",
			       reason, 40));
	assert_string_equal(reason, "libbpf: Error in bpf_object__probe_load");
	assert_false(bpf_reason("", reason, sizeof(reason)));
	assert_false(bpf_reason("\nprocessed 0 insns", reason, sizeof(reason)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_memory_by_size),
		cmocka_unit_test(no_free_memory_is_an_error),
		cmocka_unit_test(page_blocks_by_type),
		cmocka_unit_test(this_kernel_has_free_memory),
		cmocka_unit_test(events_as_the_kernel_prints_them),
		cmocka_unit_test(lost_events_are_told),
		cmocka_unit_test(cpu_time_of_kernel_threads),
		cmocka_unit_test(programs_are_no_kernel_threads),
		cmocka_unit_test(kernel_threads_come_to_rest),
		cmocka_unit_test(reason_of_the_verifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
