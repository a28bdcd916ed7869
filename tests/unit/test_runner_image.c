// SPDX-License-Identifier: GPL-2.0-or-later
/* Identity of kernels, hostile ELF files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>
#include <unistd.h>

#include "base/fs.h"
#include "runner/image.h"

/* A small ELF file: text, rodata, a note, debug text, section names. */
struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[6];
	char names[64];
	char text[32];
	char rodata[96];
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[20];
	} note;
	char debug[16];
};

static void section(struct file *f, int i, uint32_t name, uint32_t type, uint64_t flags,
		    const void *data, size_t n)
{
	f->sections[i] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = 0x1000 * (uint64_t)i,
		.sh_offset = (uint64_t)((const char *)data - (const char *)f),
		.sh_size = n,
	};
}

static struct file make(void)
{
	struct file f = {.names = "\0.text\0.rodata\0.notes\0.debug\0.names"};

	memcpy(f.head.e_ident, ELFMAG, SELFMAG);
	f.head.e_ident[EI_CLASS] = ELFCLASS64;
	f.head.e_ident[EI_DATA] = ELFDATA2LSB;
	f.head.e_shoff = offsetof(struct file, sections);
	f.head.e_shentsize = sizeof(Elf64_Shdr);
	f.head.e_shnum = 6;
	f.head.e_shstrndx = 5;
	strcpy(f.text, "code");
	strcpy(f.rodata, "data, Linux version 6.12 (a@b) #1 Mon");
	f.note.head = (Elf64_Nhdr){4, 20, NT_GNU_BUILD_ID};
	memcpy(f.note.name, "GNU", 4);
	memset(f.note.id, 0xab, 20);
	section(&f, 1, 1, SHT_PROGBITS, SHF_ALLOC, f.text, sizeof(f.text));
	section(&f, 2, 7, SHT_PROGBITS, SHF_ALLOC, f.rodata, sizeof(f.rodata));
	section(&f, 3, 15, SHT_NOTE, SHF_ALLOC, &f.note, sizeof(f.note));
	section(&f, 4, 22, SHT_PROGBITS, 0, f.debug, sizeof(f.debug));
	section(&f, 5, 29, SHT_STRTAB, 0, f.names, sizeof(f.names));
	/* section() kept addresses of a local copy only as offsets, so the file may move. */
	return f;
}

static bool identify(const void *data, size_t n, struct image_identity *out, struct err *err)
{
	AUTO_FREE char *path = xasprintf("/tmp/mmperf-image-%d", (int)getpid());
	bool ok;

	assert_true(fs_write_atomic(path, data, n, 0600, err));
	ok = image_identify(path, out, err);
	unlink(path);
	return ok;
}

static struct image_identity of(const struct file *f)
{
	struct image_identity id;
	struct err err;

	if (!identify(f, sizeof(*f), &id, &err))
		fail_msg("%s", err.msg);
	return id;
}

static bool same(const struct file *a, const struct file *b)
{
	struct image_identity x = of(a), y = of(b);

	return !strcmp(x.content_hash, y.content_hash);
}

static void test_build_id(void **state _unused)
{
	struct file f = make();
	struct image_identity id = of(&f);

	assert_string_equal(id.build_id, "abababababababababababababababababababab");
}

static void test_what_counts(void **state _unused)
{
	struct file a = make(), b = make();

	assert_true(same(&a, &b));
	strcpy(b.debug, "other");
	b.note.id[3] = 1;
	assert_true(same(&a, &b));
	strcpy(b.rodata, "data, Linux version 6.12 (c@d) #9 Tue");
	assert_true(same(&a, &b));
	strcpy(b.rodata, "date, Linux version 6.12 (c@d) #9 Tue");
	assert_false(same(&a, &b));
	b = make();
	b.text[7] = 1;
	assert_false(same(&a, &b));
	b = make();
	b.sections[1].sh_addr += 16;
	assert_false(same(&a, &b));
	b = make();
	b.sections[1].sh_flags |= SHF_EXECINSTR;
	assert_false(same(&a, &b));
}

static void test_nobits_has_no_bytes(void **state _unused)
{
	struct file a = make(), b;

	a.sections[1].sh_type = SHT_NOBITS;
	a.sections[1].sh_offset = UINT64_MAX;
	b = a;
	b.text[3] = 'x';
	assert_true(same(&a, &b));
	b.sections[1].sh_size++;
	assert_false(same(&a, &b));
}

static void test_no_build_id(void **state _unused)
{
	struct file f = make();
	struct image_identity id;
	struct err err;

	f.note.head.n_type = 7;
	assert_false(identify(&f, sizeof(f), &id, &err));
	assert_non_null(strstr(err.msg, "build-id"));
}

/* Every byte of the headers turned over: an answer or an error, never a read outside. */
static void test_hostile_headers(void **state _unused)
{
	static const unsigned char turns[] = {0x01, 0x80, 0xff};
	struct file good = make();

	for (size_t at = 0; at < offsetof(struct file, names) + sizeof(good.names); at++) {
		for (size_t t = 0; t < ARRAY_SIZE(turns); t++) {
			struct file f = good;
			struct image_identity id;
			struct err err;

			((unsigned char *)&f)[at] ^= turns[t];
			if (!identify(&f, sizeof(f), &id, &err))
				assert_true(*err.msg);
		}
	}
	for (size_t n = 0; n < sizeof(good); n += 7) {
		struct image_identity id;
		struct err err;

		if (!identify(&good, n, &id, &err))
			assert_true(*err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_what_counts),
		cmocka_unit_test(test_nobits_has_no_bytes),
		cmocka_unit_test(test_no_build_id),
		cmocka_unit_test(test_hostile_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
