// SPDX-License-Identifier: GPL-2.0-or-later
/* ELF files, looked at. */
#include "runner/objfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static bool bad(struct err *err, const char *what)
{
	return err_set(err, ERR_FAILED, "not a usable ELF file: %s", what);
}

static bool inside(const struct objfile *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset;
}

bool objfile_has_content(const Elf64_Shdr *section)
{
	return section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL;
}

const char *objfile_section_name(const struct objfile *file, const Elf64_Shdr *section)
{
	return section->sh_name < file->names_size ? file->names + section->sh_name : "";
}

static bool open_names(struct objfile *file, size_t index, struct err *err)
{
	const Elf64_Shdr *s = &file->sections[index];

	if (index >= file->n_sections || !objfile_has_content(s) || !s->sh_size)
		return bad(err, "no section names");
	file->names = (const char *)file->data + s->sh_offset;
	file->names_size = s->sh_size;
	if (file->names[file->names_size - 1])
		return bad(err, "section names do not end");
	return true;
}

static bool open_sections(struct objfile *file, struct err *err)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)file->data;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return bad(err, "it is something else");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(err, "not 64 bit, little endian");
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shoff % 8 ||
	    !inside(file, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return bad(err, "no section table");
	file->machine = h->e_machine;
	file->sections = (const Elf64_Shdr *)(file->data + h->e_shoff);
	file->n_sections = h->e_shnum;
	for (size_t i = 0; i < file->n_sections; i++)
		if (objfile_has_content(&file->sections[i]) &&
		    !inside(file, file->sections[i].sh_offset, file->sections[i].sh_size))
			return bad(err, "a section reaches beyond the file");
	return open_names(file, h->e_shstrndx, err);
}

bool objfile_open(const char *path, struct objfile *out, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(objfile_release) struct objfile file = {0};
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, "cannot read %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return bad(err, "it is too short") || err_wrap(err, "%s", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot read %s", path);
	file.data = map;
	file.size = (size_t)st.st_size;
	if (!open_sections(&file, err))
		return err_wrap(err, "%s", path);
	*out = file;
	file = (struct objfile){0};
	return true;
}

void objfile_release(struct objfile *file)
{
	if (file->data)
		munmap((void *)file->data, file->size);
	*file = (struct objfile){0};
}
