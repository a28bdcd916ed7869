// SPDX-License-Identifier: GPL-2.0-or-later
/* Identity of kernels. */
#include "runner/image.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct elf {
	const unsigned char *data;
	size_t size;
	const Elf64_Shdr *sections;
	size_t n_sections;
	const char *names; /* NUL-ended somewhere inside */
	size_t names_size;
};

static bool bad(struct err *err, const char *what)
{
	return err_set(err, ERR_FAILED, "not a usable vmlinux: %s", what);
}

static bool inside(const struct elf *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

static bool has_content(const Elf64_Shdr *s)
{
	return s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL;
}

static bool open_names(struct elf *elf, size_t index, struct err *err)
{
	const Elf64_Shdr *s = &elf->sections[index];

	if (index >= elf->n_sections || !has_content(s) || !s->sh_size)
		return bad(err, "no section names");
	elf->names = (const char *)elf->data + s->sh_offset;
	elf->names_size = s->sh_size;
	if (elf->names[elf->names_size - 1])
		return bad(err, "section names do not end");
	return true;
}

static bool open_sections(struct elf *elf, struct err *err)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)elf->data;

	if (elf->size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return bad(err, "no ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(err, "not 64 bit, little endian");
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shoff % 8 ||
	    !inside(elf, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return bad(err, "no section table");
	elf->sections = (const Elf64_Shdr *)(elf->data + h->e_shoff);
	elf->n_sections = h->e_shnum;
	for (size_t i = 0; i < elf->n_sections; i++)
		if (has_content(&elf->sections[i]) &&
		    !inside(elf, elf->sections[i].sh_offset, elf->sections[i].sh_size))
			return bad(err, "a section reaches beyond the file");
	return open_names(elf, h->e_shstrndx, err);
}

static const char *section_name(const struct elf *elf, const Elf64_Shdr *s)
{
	return s->sh_name < elf->names_size ? elf->names + s->sh_name : "";
}

/* Bytes of a section, with the banner's text counted as zeros of the same length. */
static void hash_content(struct hash *hash, const unsigned char *data, size_t n)
{
	static const char banner[] = "Linux version ";
	static const char zeros[256];

	for (;;) {
		const unsigned char *found = memmem(data, n, banner, sizeof(banner) - 1);
		size_t before = found ? (size_t)(found - data) : n, text;

		hash_add(hash, data, before);
		if (!found)
			return;
		data += before;
		n -= before;
		text = strnlen((const char *)data, n);
		for (size_t done = 0; done < text; done += sizeof(zeros))
			hash_add(hash, zeros,
				 text - done < sizeof(zeros) ? text - done : sizeof(zeros));
		data += text;
		n -= text;
	}
}

static void hash_section(struct hash *hash, const struct elf *elf, const Elf64_Shdr *s)
{
	const char *name = section_name(elf, s);
	uint64_t head[] = {s->sh_type, s->sh_flags, s->sh_addr, s->sh_size};

	hash_add(hash, name, strlen(name) + 1);
	hash_add(hash, head, sizeof(head));
	if (has_content(s))
		hash_content(hash, elf->data + s->sh_offset, s->sh_size);
}

/* gABI notes: three words, name and description, each padded to four bytes. */
static bool find_build_id(const unsigned char *p, size_t n, char hex[IMAGE_BUILD_ID_SIZE])
{
	while (n >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name_size, desc_size;

		memcpy(&note, p, sizeof(note));
		name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		p += sizeof(note);
		n -= sizeof(note);
		if (name_size > n || desc_size > n - name_size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(p, "GNU", 4) &&
		    note.n_descsz && note.n_descsz <= (IMAGE_BUILD_ID_SIZE - 1) / 2) {
			for (size_t i = 0; i < note.n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", p[name_size + i]);
			return true;
		}
		p += name_size + desc_size;
		n -= name_size + desc_size;
	}
	return false;
}

static bool identify(const struct elf *elf, struct image_identity *out, struct err *err)
{
	struct hash *hash = hash_new();
	bool found = false;

	for (size_t i = 0; i < elf->n_sections; i++) {
		const Elf64_Shdr *s = &elf->sections[i];

		if (s->sh_type == SHT_NOTE)
			found = found ||
				find_build_id(elf->data + s->sh_offset, s->sh_size, out->build_id);
		else if (s->sh_flags & SHF_ALLOC)
			hash_section(hash, elf, s);
	}
	hash_finish(hash, out->content_hash);
	return found || bad(err, "it has no GNU build-id (link with --build-id)");
}

bool image_identify(const char *vmlinux, struct image_identity *out, struct err *err)
{
	AUTO_CLOSE int fd = open(vmlinux, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct image_identity found = {0};
	struct elf elf = {0};
	struct stat st;
	void *map;
	bool ok;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, "cannot read %s", vmlinux);
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return bad(err, "no ELF file") || err_wrap(err, "%s", vmlinux);
	elf.size = (size_t)st.st_size;
	map = mmap(NULL, elf.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot read %s", vmlinux);
	elf.data = map;
	ok = open_sections(&elf, err) && identify(&elf, &found, err);
	munmap(map, elf.size);
	if (!ok)
		return err_wrap(err, "%s", vmlinux);
	*out = found;
	return true;
}
