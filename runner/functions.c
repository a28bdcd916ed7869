// SPDX-License-Identifier: GPL-2.0-or-later
/* Digests of functions. */
#include "runner/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "runner/objfile.h"

enum {
	DIGITS = 12, /* of a digest: two functions that differ look the same once in 2^48 */
	NAME_MAX_LENGTH = 200,
	WORK_MAX =
		8, /* bytes and relocations looked at, in sizes of the file: symbols that overlap */
};

struct symbol {
	uint16_t section;
	uint8_t type;
	uint64_t value, size;
	const char *name;
	size_t name_n; /* without the number that the compiler gives to what is local to a function */
};

struct line {
	const char *name;
	size_t n;
	char digest[DIGITS + 1];
};

struct reader {
	struct objfile file;
	struct symbol *symbols; /* as numbered in the file */
	size_t n_symbols;
	const struct symbol **placed; /* those with a place and a size, by section and value */
	size_t n_placed;
	unsigned char *bytes; /* of the function at hand, as its digest takes them */
	uint64_t work;
	struct line *lines;
	size_t n_lines, cap_lines;
};

static void reader_release(struct reader *r)
{
	objfile_release(&r->file);
	free(r->symbols);
	free(r->placed);
	free(r->bytes);
	free(r->lines);
}

static const unsigned char *content(const struct reader *r, const Elf64_Shdr *section)
{
	return r->file.data + section->sh_offset;
}

/* "__key.12" -> "__key": such numbers change with what stands before. */
static size_t without_number(const char *name, size_t n)
{
	size_t end = n;

	while (end > 1 && isdigit((unsigned char)name[end - 1]))
		end--;
	return end < n && end > 1 && name[end - 1] == '.' ? end - 1 : n;
}

static bool take_symbol(struct symbol *out, const Elf64_Sym *from, const char *names,
			size_t names_size)
{
	if (from->st_name >= names_size)
		return false;
	*out = (struct symbol){
		.section = from->st_shndx,
		.type = ELF64_ST_TYPE(from->st_info),
		.value = from->st_value,
		.size = from->st_size,
		.name = names + from->st_name,
	};
	out->name_n = without_number(out->name, strlen(out->name));
	return true;
}

static bool read_symbols(struct reader *r, const Elf64_Shdr *table, struct err *err)
{
	const Elf64_Shdr *strings = &r->file.sections[table->sh_link];
	const char *names = (const char *)content(r, strings);

	if (!strings->sh_size || names[strings->sh_size - 1])
		return err_set(err, ERR_FAILED, "names of symbols do not end");
	r->n_symbols = table->sh_size / sizeof(Elf64_Sym);
	r->symbols = xcalloc(r->n_symbols + 1, sizeof(*r->symbols));
	for (size_t i = 0; i < r->n_symbols; i++) {
		Elf64_Sym one;

		memcpy(&one, content(r, table) + i * sizeof(one), sizeof(one));
		if (!take_symbol(&r->symbols[i], &one, names, strings->sh_size))
			return err_set(err, ERR_FAILED, "a symbol's name lies beyond them");
	}
	return true;
}

static bool find_symbols(struct reader *r, struct err *err)
{
	for (size_t i = 0; i < r->file.n_sections; i++) {
		const Elf64_Shdr *s = &r->file.sections[i];

		if (s->sh_type == SHT_SYMTAB && s->sh_link < r->file.n_sections &&
		    r->file.sections[s->sh_link].sh_type == SHT_STRTAB)
			return read_symbols(r, s, err);
	}
	return err_set(err, ERR_FAILED, "it has no symbols");
}

/* Of several names of one place the first in the alphabet comes last, where symbol_at() finds it. */
static int by_place(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol *const *)a;
	const struct symbol *y = *(const struct symbol *const *)b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return strcmp(y->name, x->name);
}

static void place_symbols(struct reader *r)
{
	r->placed = xcalloc(r->n_symbols + 1, sizeof(*r->placed));
	for (size_t i = 0; i < r->n_symbols; i++) {
		const struct symbol *s = &r->symbols[i];

		if (s->section && s->section < r->file.n_sections && s->size &&
		    (s->type == STT_FUNC || s->type == STT_OBJECT))
			r->placed[r->n_placed++] = s;
	}
	qsort(r->placed, r->n_placed, sizeof(*r->placed), by_place);
}

/* What covers the place, or NULL. */
static const struct symbol *symbol_at(const struct reader *r, size_t section, uint64_t value)
{
	size_t lo = 0, hi = r->n_placed;
	const struct symbol *s;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		s = r->placed[mid];
		if (s->section < section || (s->section == section && s->value <= value))
			lo = mid + 1;
		else
			hi = mid;
	}
	s = lo ? r->placed[lo - 1] : NULL;
	return s && s->section == section && value - s->value < s->size ? s : NULL;
}

static void hash_number(struct hash *hash, uint64_t n)
{
	hash_add(hash, &n, sizeof(n));
}

static void hash_name(struct hash *hash, const struct symbol *symbol, uint64_t offset)
{
	hash_add(hash, symbol->name, symbol->name_n);
	hash_number(hash, offset);
}

/* A place without a name: what stands there when it is a string or a constant, else only which section it is in. */
static void hash_place(const struct reader *r, struct hash *hash, size_t section, uint64_t value)
{
	const Elf64_Shdr *s = &r->file.sections[section];
	const struct symbol *symbol = symbol_at(r, section, value);
	const char *name = objfile_section_name(&r->file, s);

	if (symbol) {
		hash_name(hash, symbol, value - symbol->value);
		return;
	}
	if ((s->sh_flags & SHF_MERGE) && objfile_has_content(s) && value < s->sh_size) {
		const char *there = (const char *)content(r, s) + value;
		uint64_t left = s->sh_size - value;

		if (s->sh_flags & SHF_STRINGS)
			hash_add(hash, there, strnlen(there, left));
		else
			hash_add(hash, there, s->sh_entsize < left ? s->sh_entsize : left);
		return;
	}
	hash_add(hash, name, strlen(name));
}

/* Bytes of a constant behind the four at p + at, when these are an operand by RIP (Intel SDM, volume 2, appendix A). */
static unsigned constant_behind(const unsigned char *p, size_t at)
{
	unsigned char op, reg, word;
	bool escaped;

	if (at < 2 || (p[at - 1] & 0xc7) != 0x05)
		return 0;
	op = p[at - 2];
	reg = p[at - 1] >> 3 & 7;
	escaped = at > 2 && p[at - 3] == 0x0f;
	word = at > 3 && (p[at - 3] & 0xf0) == 0x40 ? p[at - 4] : at > 2 ? p[at - 3] : 0;
	if (escaped)
		return op == 0xba;
	if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0x6b ||
	    (op == 0xf6 && reg < 2))
		return 1;
	if (op == 0x81 || op == 0xc7 || op == 0x69 || (op == 0xf7 && reg < 2))
		return word == 0x66 ? 2 : 4;
	return 0;
}

/* x86 counts from the end of the instruction, and the addend has the way there taken off. */
static uint64_t place_of(const struct reader *r, const struct symbol *from, const Elf64_Rela *rela,
			 size_t at)
{
	uint64_t value = from->value + (uint64_t)rela->r_addend;
	uint64_t type = ELF64_R_TYPE(rela->r_info);

	if (r->file.machine == EM_X86_64 && (type == R_X86_64_PC32 || type == R_X86_64_PLT32))
		value += 4 + constant_behind(r->bytes, at);
	return value;
}

/* It stands for a place, and is not what anybody called it: a section, or one of the compiler's own labels. */
static bool is_nameless(const struct reader *r, const struct symbol *symbol)
{
	return symbol->section < r->file.n_sections &&
	       (symbol->type == STT_SECTION || !strncmp(symbol->name, ".L", 2));
}

/* at: of the place, in the function. */
static void hash_target(const struct reader *r, struct hash *hash, const Elf64_Rela *rela,
			size_t at)
{
	size_t index = ELF64_R_SYM(rela->r_info);
	const struct symbol *symbol = index < r->n_symbols ? &r->symbols[index] : NULL;

	hash_number(hash, at);
	hash_number(hash, ELF64_R_TYPE(rela->r_info));
	if (symbol && is_nameless(r, symbol))
		hash_place(r, hash, symbol->section, place_of(r, symbol, rela, at));
	else if (symbol)
		hash_name(hash, symbol, (uint64_t)rela->r_addend);
	else
		hash_number(hash, (uint64_t)rela->r_addend);
}

/* The linker fills it, so what it holds now is no matter. */
static size_t width_of(const struct reader *r, uint32_t type)
{
	if (r->file.machine != EM_X86_64)
		return 0; /* other instructions hold more than the place in such bytes, and zeros for it */
	return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

/* Relocations of one section, by offset. */
struct relas {
	Elf64_Rela *v;
	size_t n;
};

static int by_offset(const void *a, const void *b)
{
	const Elf64_Rela *x = a, *y = b;

	return (x->r_offset > y->r_offset) - (x->r_offset < y->r_offset);
}

static struct relas relas_of(const struct reader *r, size_t section)
{
	struct relas relas = {0};
	bool sorted = true;

	for (size_t i = 0; i < r->file.n_sections && !relas.v; i++) {
		const Elf64_Shdr *s = &r->file.sections[i];

		if (s->sh_type != SHT_RELA || s->sh_info != section)
			continue;
		relas.n = s->sh_size / sizeof(*relas.v);
		relas.v = xcalloc(relas.n + 1, sizeof(*relas.v));
		memcpy(relas.v, content(r, s), relas.n * sizeof(*relas.v));
	}
	for (size_t i = 1; sorted && i < relas.n; i++)
		sorted = relas.v[i - 1].r_offset <= relas.v[i].r_offset;
	if (!sorted)
		qsort(relas.v, relas.n, sizeof(*relas.v), by_offset);
	return relas;
}

static size_t first_rela(const struct relas *relas, uint64_t offset)
{
	size_t lo = 0, hi = relas->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (relas->v[mid].r_offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void hash_relas(struct reader *r, struct hash *hash, const struct symbol *f,
		       const struct relas *relas)
{
	for (size_t i = first_rela(relas, f->value);
	     i < relas->n && relas->v[i].r_offset - f->value < f->size; i++) {
		const Elf64_Rela *rela = &relas->v[i];
		uint64_t at = rela->r_offset - f->value;
		size_t width = width_of(r, (uint32_t)ELF64_R_TYPE(rela->r_info));

		hash_target(r, hash, rela, at);
		memset(r->bytes + at, 0, width < f->size - at ? width : f->size - at);
		r->work++;
	}
}

/* call, jmp and the conditional jumps with four bytes of distance (Intel SDM, volume 2). */
static bool leads_away(const unsigned char *p, size_t at)
{
	return p[at - 1] == 0xe8 || p[at - 1] == 0xe9 ||
	       (at > 1 && p[at - 2] == 0x0f && (p[at - 1] & 0xf0) == 0x80);
}

/*
 * The assembler itself fills in the distance to a static function of the same file. A number is taken for one when it
 * stands behind such an instruction's first bytes and leads to where another function begins.
 */
static void hash_near_calls(struct reader *r, struct hash *hash, const struct symbol *f)
{
	for (size_t at = 1; r->file.machine == EM_X86_64 && at + 4 <= f->size; at++) {
		const struct symbol *to;
		int32_t distance;
		uint64_t target;

		memcpy(&distance, r->bytes + at, sizeof(distance));
		target = f->value + at + 4 + (uint64_t)(int64_t)distance;
		if (!distance || !leads_away(r->bytes, at) || target - f->value < f->size)
			continue;
		to = symbol_at(r, f->section, target);
		if (!to || to->type != STT_FUNC || to->value != target)
			continue;
		memset(r->bytes + at, 0, sizeof(distance));
		hash_number(hash, at);
		hash_name(hash, to, 0);
	}
}

static bool is_plain(const struct symbol *f)
{
	for (size_t i = 0; i < f->name_n; i++)
		if (!isalnum((unsigned char)f->name[i]) && !strchr("_.$", f->name[i]))
			return false;
	return f->name_n > 0 && f->name_n <= NAME_MAX_LENGTH;
}

static void add_function(struct reader *r, const struct symbol *f, const struct relas *relas)
{
	const Elf64_Shdr *s = &r->file.sections[f->section];
	const char *dot = memchr(f->name + 1, '.', f->name_n - 1);
	struct hash *hash = hash_new();
	char hex[HASH_HEX_SIZE];
	struct line *line = array_push(r->lines, r->n_lines, r->cap_lines);

	memcpy(r->bytes, content(r, s) + f->value, f->size);
	hash_relas(r, hash, f, relas);
	hash_near_calls(r, hash, f);
	hash_number(hash, f->size);
	hash_add(hash, r->bytes, f->size);
	hash_finish(hash, hex);
	line->name = f->name;
	line->n = dot ? (size_t)(dot - f->name) : f->name_n;
	memcpy(line->digest, hex, DIGITS);
	r->work += f->size;
}

static bool has_code(const struct reader *r, size_t section)
{
	const Elf64_Shdr *s = &r->file.sections[section];

	return objfile_has_content(s) && (s->sh_flags & SHF_EXECINSTR);
}

static bool add_functions(struct reader *r, struct err *err)
{
	CLEANUP(mem_free_ptr) Elf64_Rela *owned = NULL;
	struct relas relas = {0};
	size_t section = 0;

	r->bytes = xmalloc(r->file.size);
	for (size_t i = 0; i < r->n_placed; i++) {
		const struct symbol *f = r->placed[i];
		const Elf64_Shdr *s = &r->file.sections[f->section];

		if (f->type != STT_FUNC || !has_code(r, f->section) || !is_plain(f) ||
		    f->value > s->sh_size || f->size > s->sh_size - f->value)
			continue;
		if (f->section != section) {
			free(owned);
			relas = relas_of(r, f->section);
			owned = relas.v;
			section = f->section;
		}
		add_function(r, f, &relas);
		if (r->work > WORK_MAX * r->file.size)
			return err_set(err, ERR_FAILED, "its functions overlap");
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);

	if (order || x->n != y->n)
		return order ? order : x->n < y->n ? -1 : 1;
	return strcmp(x->digest, y->digest);
}

bool functions_list(const char *object, struct str *out, struct err *err)
{
	CLEANUP(reader_release) struct reader r = {0};

	if (!objfile_open(object, &r.file, err))
		return false;
	if (!find_symbols(&r, err))
		return err_wrap(err, "%s", object);
	place_symbols(&r);
	if (!add_functions(&r, err))
		return err_wrap(err, "%s", object);
	if (r.n_lines)
		qsort(r.lines, r.n_lines, sizeof(*r.lines), by_name);
	for (size_t i = 0; i < r.n_lines; i++) {
		str_addn(out, r.lines[i].name, r.lines[i].n);
		str_addf(out, " %s\n", r.lines[i].digest);
	}
	return true;
}
