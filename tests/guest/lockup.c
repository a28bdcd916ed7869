// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lockup: holds a CPU in the kernel for about a minute or more, without a module (most kernels have no lkdtm): a BPF program
 * at the entry of system calls, where preemption is off, copies 4 MiB again and again. It does so for this process alone.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VALUE_BYTES (4 << 20)
#define COPIES	    8000 /* of one program; the verifier follows each */

/* include/uapi/linux/bpf.h has the format, not the macros. */
#define OP(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV(d, s)     OP(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_I(d, i)   OP(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_I(d, i)   OP(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define STORE_I(o, i) OP(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, o, i)
#define CALL(i)	      OP(BPF_JMP | BPF_CALL, 0, 0, 0, i)
#define MAP(d, fd)    OP(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), OP(0, 0, 0, 0, 0)

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(enum bpf_map_type type, uint32_t value_size, uint32_t entries)
{
	union bpf_attr attr = {.map_type = type};

	attr.key_size = 4;
	attr.value_size = value_size;
	attr.max_entries = entries;
	return bpf(BPF_MAP_CREATE, &attr);
}

/* Element 0 of the array into element 1, COPIES times, then the same program again. */
static int load(int array, int programs)
{
	const struct bpf_insn code[] = {
		MOV(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		OP(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32),
		OP(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 24, getpid()), /* to the end */
		STORE_I(-4, 0),
		STORE_I(-8, 1),
		MAP(BPF_REG_1, array),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD_I(BPF_REG_2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		OP(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 16, 0), /* to the end */
		MOV(BPF_REG_7, BPF_REG_0),
		MOV_I(BPF_REG_8, COPIES),
		MAP(BPF_REG_1, array),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD_I(BPF_REG_2, -8),
		MOV(BPF_REG_3, BPF_REG_7),
		MOV_I(BPF_REG_4, BPF_ANY),
		CALL(BPF_FUNC_map_update_elem),
		ADD_I(BPF_REG_8, -1),
		OP(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_8, 0, -9, 0), /* to the copy */
		MOV(BPF_REG_1, BPF_REG_6),
		MAP(BPF_REG_2, programs),
		MOV_I(BPF_REG_3, 0),
		CALL(BPF_FUNC_tail_call),
		MOV_I(BPF_REG_0, 0),
		OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char said[1 << 16];
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	int fd;

	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "GPL";
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd >= 0)
		return fd;
	attr.log_buf = (uintptr_t)said;
	attr.log_size = sizeof(said);
	attr.log_level = 1;
	bpf(BPF_PROG_LOAD, &attr);
	fprintf(stderr, "%s", said);
	return -1;
}

static int fail(const char *what)
{
	fprintf(stderr, "lockup: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(void)
{
	int array = make_map(BPF_MAP_TYPE_ARRAY, VALUE_BYTES, 2);
	int programs = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 1), program;
	union bpf_attr put = {.map_fd = (uint32_t)programs}, open = {0};
	uint32_t zero = 0;

	if (array < 0 || programs < 0)
		return fail("no map");
	program = load(array, programs);
	if (program < 0)
		return fail("no program");
	put.key = (uintptr_t)&zero;
	put.value = (uintptr_t)&program;
	if (bpf(BPF_MAP_UPDATE_ELEM, &put))
		return fail("no tail call");
	open.raw_tracepoint.name = (uintptr_t) "sys_enter";
	open.raw_tracepoint.prog_fd = (uint32_t)program;
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &open) < 0)
		return fail("no tracepoint");
	getppid(); /* here it stays */
	return 0;
}
