// SPDX-License-Identifier: GPL-2.0-or-later
/* A shell that stays. */
#include "runner/ssh_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fs.h"

/* A script is smaller than what a socket holds; who does not take it within this has gone. */
#define WRITE_S	 10
#define END_S	 5.0
#define MAX_SAID ((size_t)4 << 20)

bool ssh_shell_open(struct ssh_shell *shell, const struct strs *argv, const char *err_path,
		    struct err *err)
{
	const struct timeval patience = {.tv_sec = WRITE_S};
	struct proc_spec spec = {.argv = *argv, .err_path = err_path};
	AUTO_CLOSE int theirs = -1;
	int ends[2];

	ssh_shell_close(shell);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, "cannot make a socket pair");
	shell->fd = ends[0];
	spec.stdio_fd = theirs = ends[1];
	secret_nonce(shell->mark);
	shell->err_path = xstrdup(err_path);
	unlink(err_path);
	if (setsockopt(shell->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		err_sys(err, "cannot set up a socket");
	else if (proc_start(&spec, &shell->proc, err))
		return true;
	ssh_shell_close(shell);
	return false;
}

void ssh_shell_close(struct ssh_shell *shell)
{
	proc_kill(&shell->proc, 0);
	mem_close_ptr(&shell->fd);
	shell->fd = -1;
	free(TAKE(shell->err_path));
}

bool ssh_shell_lives(struct ssh_shell *shell)
{
	int status;

	if (shell->fd < 0)
		return false;
	if (!proc_wait(&shell->proc, 0, &status))
		return true;
	ssh_shell_close(shell);
	return false;
}

static void put(const struct ssh_shell *shell, const char *text)
{
	size_t left = strlen(text);
	ssize_t n;

	while (left) {
		n = send(shell->fd, text, left, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		left -= (size_t)n;
	}
}

void ssh_shell_ask(struct ssh_shell *shell, const char *script)
{
	AUTO_STR text = str_new();

	str_addf(&text, "(\n%s\n) </dev/null 2>&1\nprintf '\\n%%s %%d\\n' %s $?\n", script,
		 shell->mark);
	put(shell, text.s);
}

static void cut(struct str *text, size_t n)
{
	text->len = n;
	text->s[n] = '\0';
}

static void keep_tail(struct str *text, size_t n)
{
	memmove(text->s, text->s + text->len - n, n);
	cut(text, n);
}

/* False: nothing more comes. */
static bool read_some(const struct ssh_shell *shell, double wait_s, struct str *out)
{
	struct pollfd p = {.fd = shell->fd, .events = POLLIN};
	char buf[65536];
	ssize_t n;

	if (poll(&p, 1, (int)ceil(wait_s * 1000)) <= 0)
		return true;
	n = recv(shell->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (out->len > MAX_SAID)
		keep_tail(out, MAX_SAID / 2);
	if (n > 0)
		str_addn(out, buf, (size_t)n);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Cuts the mark off. */
static bool is_over(const struct ssh_shell *shell, struct str *out, int *status)
{
	AUTO_FREE char *line = xasprintf("\n%s ", shell->mark);
	char *at = memmem(out->s, out->len, line, strlen(line));

	if (!at || !strchr(at + 1, '\n'))
		return false;
	*status = atoi(at + strlen(line));
	cut(out, (size_t)(at - out->s));
	return true;
}

/* What the shell started may hold its output still: nobody waits for more of it. */
static void drain(struct ssh_shell *shell, struct str *out)
{
	size_t before;

	do
		before = out->len;
	while (read_some(shell, 0, out) && out->len > before);
}

static void add_last_words(const struct ssh_shell *shell, struct str *out)
{
	AUTO_STR said = str_new();
	struct err ignored;

	if (fs_read(shell->err_path, MAX_SAID, &said, &ignored))
		str_addn(out, said.s, said.len);
}

bool ssh_shell_hear(struct ssh_shell *shell, double wait_s, struct str *out, int *status)
{
	bool open = read_some(shell, wait_s, out);

	if (is_over(shell, out, status))
		return true;
	if (!proc_wait(&shell->proc, open ? 0 : END_S, status)) {
		if (open)
			return false;
		*status = 255;
	}
	drain(shell, out);
	if (!is_over(shell, out, status))
		add_last_words(shell, out);
	ssh_shell_close(shell);
	return true;
}

void ssh_shell_hand_over(struct ssh_shell *shell, const char *script, struct proc *proc, int *fd)
{
	put(shell, script);
	fcntl(shell->fd, F_SETFL, O_NONBLOCK);
	*proc = shell->proc;
	*fd = TAKE_FD(shell->fd);
	shell->proc = (struct proc)PROC_NONE;
	ssh_shell_close(shell);
}
