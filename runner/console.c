// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading kernel consoles. */
#include "runner/console.h"

#include <string.h>

#define LINE_LENGTH 200
/* How the recorder's own lines begin (runner/console_record.c). */
#define OURS	    "--- mmperf "
#define LOST	    ": console lost: "
#define BANNER	    "] Linux version "
/* What the agent says as process 1 (bench/agent_net.c). */
#define NO_NETWORK  "agent: no network: "

/* An oops comes before the panic that it causes; the first match in this order of lines wins. */
static const struct {
	const char *text;
	const char *outcome;
} signs[] = {
	{"BUG: unable to handle", "oops"},
	{"BUG: kernel NULL pointer dereference", "oops"},
	{"Unable to handle kernel", "oops"},
	{"general protection fault", "oops"},
	{"kernel BUG at", "oops"},
	{"invalid opcode:", "oops"},
	{"Internal error:", "oops"},
	{"Oops:", "oops"},
	{"stack guard page was hit", "oops"},
	{"Bad page map in process", "oops"},
	{"soft lockup", "hang"},
	{"hard LOCKUP", "hang"},
	{"detected stall", "hang"},
	{"self-detected stall", "hang"},
	{"rcu_preempt kthread starved", "hang"},
	{"blocked for more than", "hang"},
	{"Kernel panic - not syncing", "panic"},
	{NO_NETWORK, "infra"},
};

/* Nothing good comes after these. Lockups and stalls are not among them: kernels come out of some. */
static const char *const ends[] = {
	"Kernel panic - not syncing",
	"reboot: System halted",
	"reboot: Power down",
	/* initramfs-tools, dracut, systemd: each asks a person, and none is there */
	"Gave up waiting for root",
	"Entering emergency mode",
	"You are in emergency mode",
	NO_NETWORK,
};

#define NO_ROOT                                                                                   \
	"it has no driver for the machine's root disk or the file system there: add them to the " \
	"recipe, or set initrd-command"

static const struct {
	const char *text, *advice;
} advices[] = {
	{"Unable to mount root fs", NO_ROOT},
	{"Gave up waiting for root", NO_ROOT},
	{"Entering emergency mode", NO_ROOT},
	{"You are in emergency mode",
	 "its configuration lacks something that the machine's user space mounts or needs"},
	{"No working init found", "it cannot run the machine's user space: CONFIG_BINFMT_ELF"},
	{NO_NETWORK, "is the driver of its card in the kernel, or loaded by /prepare of its "
		     "initrd, and has it an "
		     "address (ip= on the command line)?"},
	{"Requested init", "it cannot run the machine's user space: CONFIG_BINFMT_ELF"},
};

static void add_plain(struct str *out, const char *s, size_t n)
{
	AUTO_STR text = str_new();
	char *cut;

	str_add_utf8(&text, s, n < LINE_LENGTH ? n : LINE_LENGTH);
	for (char *p = text.s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	cut = str_trim(text.s);
	str_add(out, cut);
}

static bool has(const char *line, size_t n, const char *text)
{
	return memmem(line, n, text, strlen(text)) != NULL;
}

static const char *sign_of(const char *line, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (has(line, n, signs[i].text))
			return signs[i].outcome;
	return NULL;
}

static bool is_ours(const char *line, size_t n)
{
	return n >= sizeof(OURS) - 1 && !memcmp(line, OURS, sizeof(OURS) - 1);
}

bool console_ends(const char *line, size_t n, bool banner)
{
	if (is_ours(line, n))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (has(line, n, ends[i]))
			return true;
	return banner && has(line, n, BANNER);
}

const char *console_advice(const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(advices); i++)
		if (strstr(reason, advices[i].text))
			return advices[i].advice;
	return NULL;
}

bool console_is_gap(const char *line, size_t n)
{
	return is_ours(line, n) && has(line, n, LOST);
}

bool console_diagnose(const char *text, size_t n, const char **outcome, struct str *line)
{
	while (n) {
		const char *nl = memchr(text, '\n', n);
		size_t length = nl ? (size_t)(nl - text) : n;
		const char *sign = is_ours(text, length) ? NULL : sign_of(text, length);

		if (sign) {
			*outcome = sign;
			add_plain(line, text, length);
			return true;
		}
		text += length + (nl != NULL);
		n -= length + (nl != NULL);
	}
	return false;
}

void console_last_line(const char *text, size_t n, struct str *line)
{
	size_t end = n, start;

	do {
		while (end && strchr(" \t\r\n", text[end - 1]))
			end--;
		start = end;
		while (start && text[start - 1] != '\n')
			start--;
		if (!is_ours(text + start, end - start))
			break;
		end = start;
	} while (end);
	add_plain(line, text + start, end - start);
}

static size_t count(const char *text, size_t n, const char *what)
{
	size_t length = strlen(what), found = 0;
	const char *at;

	while ((at = memmem(text, n, what, length))) {
		n -= (size_t)(at + length - text);
		text = at + length;
		found++;
	}
	return found;
}

struct console_facts console_facts(const char *text, size_t n)
{
	return (struct console_facts){
		.banners = count(text, n, BANNER),
		.kexecs = count(text, n, "kexec_core: Starting new kernel"),
		.inits = count(text, n, " as init process"),
		.gaps = count(text, n, LOST),
	};
}

const char *console_sight(const struct console_facts *facts)
{
	if (facts->gaps)
		return "the console was lost meanwhile, so its silence proves nothing";
	if (facts->banners > 1)
		return "it restarted by itself";
	if (facts->inits)
		return "its user space started, but the network did not: is the driver of its card "
		       "in the kernel or its initrd?";
	if (facts->banners)
		return "the kernel started and did not come to user space";
	return facts->kexecs ? "the old kernel jumped and the new one said nothing"
			     : "its console shows no jump";
}

void console_plain(char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)bytes[i] < ' ' && !memchr("\n\r\t", bytes[i], 3)) ||
		    bytes[i] == 0x7f)
			bytes[i] = ' ';
}
