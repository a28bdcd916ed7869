// SPDX-License-Identifier: GPL-2.0-or-later
/* Identity of kernels. */
#include "runner/image.h"

#include <string.h>

#include "base/mem.h"
#include "runner/objfile.h"

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

static void hash_section(struct hash *hash, const struct objfile *file, const Elf64_Shdr *s)
{
	const char *name = objfile_section_name(file, s);
	uint64_t head[] = {s->sh_type, s->sh_flags, s->sh_addr, s->sh_size};

	hash_add(hash, name, strlen(name) + 1);
	hash_add(hash, head, sizeof(head));
	if (objfile_has_content(s))
		hash_content(hash, file->data + s->sh_offset, s->sh_size);
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

bool image_identify(const char *vmlinux, struct image_identity *out, struct err *err)
{
	CLEANUP(objfile_release) struct objfile file = {0};
	struct image_identity id = {0};
	struct hash *hash;
	bool found = false;

	if (!objfile_open(vmlinux, &file, err))
		return false;
	hash = hash_new();
	for (size_t i = 0; i < file.n_sections; i++) {
		const Elf64_Shdr *s = &file.sections[i];

		if (s->sh_type == SHT_NOTE)
			found = found ||
				find_build_id(file.data + s->sh_offset, s->sh_size, id.build_id);
		else if (s->sh_flags & SHF_ALLOC)
			hash_section(hash, &file, s);
	}
	hash_finish(hash, id.content_hash);
	if (!found)
		return err_set(err, ERR_FAILED, "%s has no GNU build-id (link with --build-id)",
			       vmlinux);
	*out = id;
	return true;
}
