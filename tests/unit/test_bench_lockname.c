// SPDX-License-Identifier: GPL-2.0-or-later
/* Naming of locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/lockname.h"

static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 T folio_batch_move_lru\n"
			      "ffffffff81002000 t lru_add_drain_cpu\n"
			      "ffffffff81003000 T folio_lruvec_lock_irqsave\n"
			      "ffffffff81004000 T __page_cache_release.part.0\n"
			      "ffffffff81005000 T collapse_huge_page.isra.0\n"
			      "ffffffff81006000 T __vm_munmap\n"
			      "ffffffff81007000 t list_lru_add\n"
			      "ffffffff81008000 T deferred_split_folio\n"
			      "ffffffff81009000 T unheard_of\n"
			      "ffffffff8100a000 t get_page_from_freelist\n"
			      "ffffffff8100b000 T bpf_trace_run2\n"
			      "ffffffff8100c000 T __folio_split\n"
			      "ffffffff8100d000 T percpu_counter_add_batch\n"
			      "ffffffff8100e000 t __handle_mm_fault\n"
			      "ffffffff8100d000 D some_data\n"
			      "ffffffff81100000 T __lock_text_start\n"
			      "ffffffff81100000 T _raw_spin_lock_irqsave\n"
			      "ffffffff81101000 T __lock_text_end\n"
			      "ffffffff81102000 T __sched_text_start\n"
			      "ffffffff81102000 T down_write_killable\n"
			      "ffffffff81102800 t rwsem_down_write_slowpath\n"
			      "ffffffff81103000 T __sched_text_end\n"
			      "ffffffff81103000 T _etext\n";

enum {
	MOVE = 0x1010,
	DRAIN = 0x2010,
	HELPER = 0x3010,
	RELEASE = 0x4010,
	COLLAPSE = 0x5010,
	MUNMAP = 0x6010,
	LIST_ADD = 0x7010,
	DEFERRED = 0x8010,
	UNHEARD = 0x9010,
	FREELIST = 0xa010,
	TRACE = 0xb010,
	SPLIT = 0xc010,
	COUNTER = 0xd010,
	FAULT = 0xe010,
	RAW_LOCK = 0x100010,
	DOWN_WRITE = 0x102010,
	SLOWPATH = 0x102810,
	BPF_PROG = 0x40000000,
};

static struct kallsyms *syms;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	return kallsyms_parse(symbols, &syms, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	kallsyms_free(syms);
	return 0;
}

/* frames: offsets from the start of text, ended by 0. */
static void add_row(struct lock_rows *rows, uint64_t lock, uint32_t flags, uint64_t wait_ns,
		    const uint32_t *frames)
{
	struct lock_row *row = array_push(rows->v, rows->n, rows->cap);

	row->key = (struct lock_key){.lock = lock, .flags = flags, .stack = (int32_t)rows->n};
	for (size_t i = 0; frames[i]; i++)
		row->frames[i] = 0xffffffff81000000ULL + frames[i];
	lock_stat_add(&row->stat, wait_ns);
}

#define ROW(rows, lock, flags, wait, ...) \
	add_row(rows, lock, flags, wait, (const uint32_t[]){__VA_ARGS__, 0})

static const struct lock_wait *find(const struct lock_waits *waits, const char *class,
				    const char *site)
{
	for (size_t i = 0; i < waits->n; i++) {
		if (!strcmp(waits->v[i].class, class) && !strcmp(waits->v[i].site, site))
			return &waits->v[i];
	}
	return NULL;
}

static void named_by_call_site(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	/* Frames of lock text, of tracing and of generated code are no call sites. */
	ROW(&rows, 1, LOCK_F_SPIN, 10, BPF_PROG, TRACE, RAW_LOCK, HELPER, MOVE, DRAIN);
	ROW(&rows, 2, LOCK_F_SPIN, 20, BPF_PROG, TRACE, RAW_LOCK, HELPER, RELEASE, UNHEARD);
	ROW(&rows, 3, LOCK_F_WRITE, 30, SLOWPATH, DOWN_WRITE, MUNMAP);
	ROW(&rows, 4, LOCK_F_SPIN, 40, RAW_LOCK, UNHEARD, FREELIST);
	ROW(&rows, 5, LOCK_F_SPIN, 50, RAW_LOCK, UNHEARD, MUNMAP);
	/* A fault may count in the middle of taking its page table's lock. */
	ROW(&rows, 6, LOCK_F_SPIN, 5, RAW_LOCK, COUNTER, FAULT);
	ROW(&rows, 7, LOCK_F_SPIN, 5, RAW_LOCK, UNHEARD, FAULT);
	lock_waits_name(&rows, syms, &waits);
	assert_non_null(find(&waits, "lruvec", "folio_batch_move_lru"));
	assert_non_null(find(&waits, "lruvec", "__page_cache_release"));
	assert_non_null(find(&waits, "mmap_lock", "__vm_munmap"));
	assert_non_null(find(&waits, "zone", "unheard_of"));
	assert_non_null(find(&waits, "other:unheard_of", "unheard_of"));
	assert_non_null(find(&waits, "percpu_counter", "percpu_counter_add_batch"));
	assert_non_null(find(&waits, "pte", "unheard_of"));
	assert_int_equal(waits.n, 7);
	assert_int_equal(waits.v[0].stat.sum_ns, 50);
}

static void type_decides(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	/* The same function under another type of lock is another lock. */
	ROW(&rows, 1, LOCK_F_READ, 1, DOWN_WRITE, COLLAPSE);
	ROW(&rows, 2, LOCK_F_SPIN, 1, RAW_LOCK, MUNMAP);
	lock_waits_name(&rows, syms, &waits);
	assert_non_null(find(&waits, "mmap_lock", "collapse_huge_page"));
	assert_non_null(find(&waits, "other:__vm_munmap", "__vm_munmap"));
}

static void inner_spinlock_is_the_sleeping_lock(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	ROW(&rows, 1, LOCK_F_SPIN, 1, RAW_LOCK, SLOWPATH, DOWN_WRITE, MUNMAP);
	lock_waits_name(&rows, syms, &waits);
	assert_non_null(find(&waits, "mmap_lock", "__vm_munmap"));
}

static void address_names_the_ambiguous(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_stat sum;

	(void)state;
	/* collapse_huge_page write-locks mmap_lock and anon_vma: only the address tells which. */
	ROW(&rows, 1, LOCK_F_WRITE, 5, DOWN_WRITE, COLLAPSE);
	ROW(&rows, 1, LOCK_F_WRITE, 7, DOWN_WRITE, MUNMAP);
	ROW(&rows, 2, LOCK_F_WRITE, 11, DOWN_WRITE, COLLAPSE);
	/* __folio_split takes four spinlocks. */
	ROW(&rows, 3, LOCK_F_SPIN, 13, RAW_LOCK, SPLIT);
	ROW(&rows, 3, LOCK_F_SPIN, 17, RAW_LOCK, MOVE);
	/* An unknown site on a known lock. */
	ROW(&rows, 3, LOCK_F_SPIN, 19, RAW_LOCK, UNHEARD);
	lock_waits_name(&rows, syms, &waits);
	lock_waits_class(&waits, "mmap_lock", &sum);
	assert_int_equal(sum.sum_ns, 12);
	assert_int_equal(sum.count, 2);
	assert_int_equal(sum.max_ns, 7);
	assert_non_null(find(&waits, "other:collapse_huge_page", "collapse_huge_page"));
	lock_waits_class(&waits, "lruvec", &sum);
	assert_int_equal(sum.sum_ns, 13 + 17 + 19);
}

static void contradiction_names_nothing(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	/* Memory that was reused held two locks: each sure site keeps its own name. */
	ROW(&rows, 1, LOCK_F_SPIN, 1, RAW_LOCK, MOVE);
	ROW(&rows, 1, LOCK_F_SPIN, 2, RAW_LOCK, FREELIST);
	ROW(&rows, 1, LOCK_F_SPIN, 4, RAW_LOCK, UNHEARD);
	lock_waits_name(&rows, syms, &waits);
	assert_int_equal(find(&waits, "lruvec", "folio_batch_move_lru")->stat.sum_ns, 1);
	assert_int_equal(find(&waits, "zone", "get_page_from_freelist")->stat.sum_ns, 2);
	assert_int_equal(find(&waits, "other:unheard_of", "unheard_of")->stat.sum_ns, 4);
}

static void shared_site_takes_the_next_frame(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	ROW(&rows, 1, LOCK_F_SPIN, 1, RAW_LOCK, LIST_ADD, DEFERRED);
	ROW(&rows, 2, LOCK_F_SPIN, 2, RAW_LOCK, LIST_ADD, UNHEARD);
	lock_waits_name(&rows, syms, &waits);
	assert_non_null(find(&waits, "deferred_split", "deferred_split_folio"));
	assert_non_null(find(&waits, "list_lru", "list_lru_add"));
}

static void no_stack(void **state)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};

	(void)state;
	ROW(&rows, 1, LOCK_F_SPIN, 1, MOVE);
	rows.v[0].key.stack = -17;
	lock_waits_name(&rows, syms, &waits);
	assert_non_null(find(&waits, "other:unknown", "unknown"));
}

static void bad_symbols(void **state)
{
	struct kallsyms *other;
	struct err err;

	(void)state;
	assert_false(kallsyms_parse("what is this\n", &other, &err));
	assert_non_null(strstr(err.msg, "what is this"));
	assert_false(kallsyms_parse("0000000000000000 T hidden\n", &other, &err));
	assert_non_null(strstr(err.msg, "root"));
}

/* As Debian's 6.1 has them: parts that run once lie behind the text, modules far behind it. */
static void behind_the_text(void **state)
{
	static const char text[] = "ffffffff81000000 T first\n"
				   "ffffffff81003000 T _etext\n"
				   "ffffffff81f00000 T _einittext\n"
				   "ffffffff81f00100 t some_module_exit\n"
				   "ffffffffc0000000 t of_module\t[module]\n"
				   "ffffffffc0001000 t bpf_prog_0123456789abcdef_begin\t[bpf]\n";
	struct kallsyms *other;
	struct err err;

	(void)state;
	assert_true(kallsyms_parse(text, &other, &err));
	assert_string_equal(kallsyms_find(other, 0xffffffff81000010), "first");
	assert_null(kallsyms_find(other, 0xffffffff81f00110));
	assert_null(kallsyms_find(other, 0xffffffffa0000000));
	assert_string_equal(kallsyms_find(other, 0xffffffffc0000010), "of_module");
	assert_true(kallsyms_is_lock_text(other, 0xffffffffc0001010));
	kallsyms_free(other);
}

static void table_is_sound(void **state)
{
	static const char *const kinds[] = {"site", "helper", "outer", "shared"};
	size_t n = 0;

	(void)state;
	for (const struct lock_site *s = lock_sites; s->class; s++, n++) {
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			known |= !strcmp(kinds[i], s->kind);
		assert_true(known);
		assert_true(!strcmp(s->flags, "SPIN") || !strcmp(s->flags, "READ") ||
			    !strcmp(s->flags, "WRITE") || !strcmp(s->flags, "MUTEX"));
		assert_true(*s->function);
	}
	assert_true(n > 100);
}

static void health(void **state)
{
	struct lock_health h = {.begins = 1000, .ends = 990, .lost = 10};
	const char *reason;

	(void)state;
	assert_true(lock_health_ok(&h, &reason));
	h.lost = 11;
	assert_false(lock_health_ok(&h, &reason));
	assert_non_null(strstr(reason, "lost"));
	h = (struct lock_health){.begins = 0};
	assert_true(lock_health_ok(&h, &reason));
	h = (struct lock_health){.begins = 100, .stack_failures = 2};
	assert_false(lock_health_ok(&h, &reason));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_by_call_site),
		cmocka_unit_test(type_decides),
		cmocka_unit_test(inner_spinlock_is_the_sleeping_lock),
		cmocka_unit_test(address_names_the_ambiguous),
		cmocka_unit_test(contradiction_names_nothing),
		cmocka_unit_test(shared_site_takes_the_next_frame),
		cmocka_unit_test(no_stack),
		cmocka_unit_test(bad_symbols),
		cmocka_unit_test(behind_the_text),
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(health),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
