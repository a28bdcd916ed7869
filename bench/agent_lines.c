// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing result lines. */
#include "bench/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};

			poll(&wait, 1, -1);
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			fprintf(stderr, "agent: cannot write results: %s\n", strerror(errno));
			exit(1);
		}
		p += done;
		n -= (size_t)done;
	}
}

json_t *agent_line(const char *type)
{
	json_t *line = json_object();

	js_set_str(line, "type", type);
	return line;
}

void agent_say(const struct agent *agent, json_t *line)
{
	AUTO_FREE char *text = js_text(line);
	AUTO_STR out = str_new();
	struct err err;

	json_decref(line);
	if (agent->kmsg) {
		if (kmsg_say(agent->kmsg, text, strlen(text), &err))
			return;
		fprintf(stderr, "agent: %s\n", err.msg);
		exit(1);
	}
	/* One write per line, so that a line is never torn by a dying process. */
	str_add(&out, text);
	str_addc(&out, '\n');
	write_all(agent->out_fd, out.s, out.len);
}

void agent_log(const struct agent *agent, const char *fmt, ...)
{
	AUTO_STR text = str_new();
	AUTO_STR clean = str_new();
	json_t *line = agent_line("log");
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	str_add_utf8(&clean, text.s, text.len);
	js_set_str(line, "text", clean.s);
	if (agent->init)
		fprintf(stderr, "agent: %s\n", clean.s);
	agent_say(agent, line);
}
