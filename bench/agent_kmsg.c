// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines as kernel messages. */
#include "bench/agent_kmsg.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

#define DEVICE	 "/dev/kmsg"
#define LIMIT	 "/proc/sys/kernel/printk_devkmsg"
/* A record may have 1024 bytes with what the kernel puts in front. */
#define PIECE	 700
#define SUM_SIZE 8
/* Alert: consoles that are told to be quiet print it too. */
#define LEVEL	 "<1>"

bool kmsg_open(struct kmsg *kmsg, struct err *err)
{
	struct err ignored;

	/* Ten records in five seconds otherwise; what the command line says of it is final. */
	(void)!fs_poke(LIMIT, "on", &ignored);
	*kmsg = (struct kmsg){.fd = open(DEVICE, O_WRONLY | O_CLOEXEC)};
	return kmsg->fd >= 0 || err_sys(err, "cannot open " DEVICE);
}

static bool say_piece(struct kmsg *kmsg, const char *piece, size_t n, bool last, struct err *err)
{
	char sum[HASH_HEX_SIZE];
	AUTO_STR out = str_new();

	hash_of(piece, n, sum);
	str_addf(&out, LEVEL "mmperf:%u:%.*s:%c", kmsg->seq++, SUM_SIZE, sum, last ? '.' : '+');
	str_addn(&out, piece, n);
	str_addc(&out, '\n');
	return write(kmsg->fd, out.s, out.len) == (ssize_t)out.len ||
	       err_sys(err, "cannot write to " DEVICE);
}

bool kmsg_say(struct kmsg *kmsg, const char *line, size_t n, struct err *err)
{
	for (; n > PIECE; line += PIECE, n -= PIECE)
		if (!say_piece(kmsg, line, PIECE, false, err))
			return false;
	return say_piece(kmsg, line, n, true, err);
}
