// SPDX-License-Identifier: GPL-2.0-or-later
/* Recording a console. */
#include "runner/console_record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "runner/console.h"
#include "runner/consoles/drivers.h"

/* A BMC that is restarting is away for a minute or two; asking it more often prolongs that. */
#define RETRY_MIN_S 1.0
#define RETRY_MAX_S 10.0
/* A serial server sends what it had in store within this; a line that is never quiet ends the wait
 * after the second. */
#define QUIET_S	    0.2
/* What was sent a moment ago is on its way. */
#define ARRIVE_S    0.02
#define DRAIN_S	    2.0
#define ORDER_MAX   512

static const struct console_driver *const drivers[] = {
	&console_tcp,  &console_telnet,	    &console_conserver, &console_ipmi,
	&console_unix, &console_netconsole, &console_exec,
};

struct recorder {
	const struct console_driver *driver;
	struct console_link link;
	int out; /* the file */
	size_t size;
	int control;
	const int *stop;
	bool failing; /* the last try to connect failed, and that was said */
	bool was_connected;
	double since_s; /* of the connection */
	double heard_s; /* when something came last */
	double lost_s;
	double retry_s;
	double retry_at_s;
	bool line_open;	  /* the file does not end in a newline */
	bool on_terminal; /* of a person */
	bool ended;
};

static bool find_driver(const struct settings *settings, const char *machine,
			struct console_link *link, const struct console_driver **out,
			struct err *err)
{
	const char *console = conf_str(settings->conf, "machine", machine, "console");
	size_t n = strcspn(console, ":");
	AUTO_STR known = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		str_addf(&known, "%s%s", i ? ", " : "", drivers[i]->scheme);
		if (strlen(drivers[i]->scheme) != n || strncmp(drivers[i]->scheme, console, n) != 0)
			continue;
		*link = (struct console_link){
			.settings = settings,
			.machine = machine,
			.place = console + n + (str_starts(console + n, "://") ? 3 : 0),
			.fd = -1,
			.proc = PROC_NONE,
		};
		*out = drivers[i];
		return drivers[i]->check(link, err) || err_wrap(err, "console = %s", console);
	}
	return err_set(err, ERR_USAGE, "console = %s: there is no such kind; there are: %s",
		       console, known.s);
}

static bool look_up(const struct settings *settings, const char *machine, struct console_link *link,
		    const struct console_driver **out, struct err *err)
{
	*out = NULL;
	if (!conf_has(settings->conf, "machine", machine))
		return err_set(err, ERR_USAGE, "there is no [machine \"%s\"] in %s", machine,
			       conf_path(settings->conf));
	if (!conf_str(settings->conf, "machine", machine, "console"))
		return true;
	return find_driver(settings, machine, link, out, err) ||
	       err_wrap(err, "machine %s", machine);
}

bool console_check(const struct settings *settings, const char *machine, bool *set, struct err *err)
{
	const struct console_driver *driver;
	struct console_link link;

	if (!look_up(settings, machine, &link, &driver, err))
		return false;
	*set = driver != NULL;
	return true;
}

static bool append(struct recorder *r, const char *bytes, size_t n, struct err *err)
{
	if (!n)
		return true;
	if (!fs_write_fd(r->out, bytes, n))
		return err_sys(err, "cannot write the console of %s", r->link.machine);
	r->size += n;
	r->line_open = bytes[n - 1] != '\n';
	return true;
}

/* A line of our own, recognisable as such. */
static bool note(struct recorder *r, const char *text, struct err *err)
{
	AUTO_STR line = str_new();

	str_addf(&line, "%s--- mmperf ", r->line_open ? "\n" : "");
	clock_add_utc(&line, clock_wall_s());
	str_addf(&line, ": %s ---\n", text);
	return append(r, line.s, line.len, err);
}

static void hang_up(struct recorder *r)
{
	mem_close_ptr(&r->link.fd);
	r->link.fd = -1;
	proc_kill(&r->link.proc, 1);
}

static bool lost(struct recorder *r, const char *why, struct err *err)
{
	AUTO_FREE char *text = xasprintf("console lost: %s", why);

	hang_up(r);
	r->lost_s = clock_mono_s();
	r->retry_s = r->lost_s - r->since_s > RETRY_MAX_S ? RETRY_MIN_S
							  : fmin(r->retry_s * 2, RETRY_MAX_S);
	r->retry_at_s = r->lost_s + r->retry_s;
	return note(r, text, err);
}

static bool connected(struct recorder *r, struct err *err)
{
	AUTO_STR text = str_new();

	str_add(&text, "console connected");
	if (r->was_connected) {
		str_add(&text, " again after ");
		clock_add_span(&text, clock_mono_s() - r->lost_s);
	}
	r->was_connected = true;
	r->since_s = clock_mono_s();
	r->failing = false;
	return note(r, text.s, err);
}

/* A console that cannot be had is said once, and tried again for ever. */
static bool try_to_connect(struct recorder *r, struct err *err)
{
	AUTO_FREE char *text = NULL;
	struct err why;

	r->link.state = 0;
	if (r->driver->connect(&r->link, &why))
		return connected(r, err);
	hang_up(r);
	r->retry_s = fmin(r->retry_s * 2, RETRY_MAX_S);
	r->retry_at_s = clock_mono_s() + r->retry_s;
	if (r->failing)
		return true;
	r->failing = true;
	text = xasprintf("no console: %s", why.msg);
	return note(r, text, err);
}

static bool keep(struct recorder *r, const char *bytes, size_t n, struct err *err)
{
	AUTO_STR taken = str_new();

	if (r->driver->take)
		r->driver->take(&r->link, bytes, n, &taken);
	else
		str_addn(&taken, bytes, n);
	r->heard_s = clock_mono_s();
	if (r->on_terminal)
		console_plain(taken.s, taken.len);
	return append(r, taken.s, taken.len, err);
}

/* False only when the file cannot be written. */
static bool read_console(struct recorder *r, struct err *err)
{
	char buf[65536];
	ssize_t n;

	do
		n = r->driver->receive ? r->driver->receive(&r->link, buf, sizeof(buf))
				       : read(r->link.fd, buf, sizeof(buf));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return keep(r, buf, (size_t)n, err);
	if ((n < 0 && errno == EAGAIN) || r->driver->datagrams)
		return true;
	/* A terminal whose other side has gone says EIO. */
	return lost(r, n == 0 || errno == EIO ? "the other side closed it" : strerror(errno), err);
}

/* Of QUIET_S, what is not over yet. */
static double quiet_left_s(const struct recorder *r)
{
	return fmax(ARRIVE_S, fmax(r->since_s, r->heard_s) + QUIET_S - clock_mono_s());
}

/* Until nothing came for QUIET_S. */
static bool drain(struct recorder *r, struct err *err)
{
	double end = clock_mono_s() + DRAIN_S;
	struct pollfd p = {.events = POLLIN};

	while (r->link.fd >= 0 && clock_mono_s() < end) {
		p.fd = r->link.fd;
		if (poll(&p, 1, (int)ceil(quiet_left_s(r) * 1000)) <= 0)
			break;
		if (!read_console(r, err))
			return false;
	}
	return true;
}

static bool do_mark(struct recorder *r, const char *what, size_t *position, struct err *err)
{
	if (!drain(r, err) || !note(r, what, err))
		return false;
	*position = r->size;
	return true;
}

static bool do_sysrq(struct recorder *r, const char *key, struct err *err)
{
	AUTO_FREE char *text = xasprintf("sysrq %s sent", key);

	if (!r->driver->sysrq)
		return err_set(err, ERR_NOTFOUND, "a console by %s takes no break",
			       r->driver->scheme);
	if (r->link.fd < 0)
		return err_set(err, ERR_FAILED, "the console is not connected");
	return r->driver->sysrq(&r->link, *key, err) && note(r, text, err);
}

static void answer(struct recorder *r, bool ok, size_t position, const struct err *err)
{
	AUTO_FREE char *text = ok ? xasprintf("ok %zu", position)
				  : xasprintf("no %d %s", (int)err->kind, err->msg);

	/* Whoever does not wait for the answer does not need it. */
	if (send(r->control, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void take_order(struct recorder *r)
{
	char order[ORDER_MAX];
	ssize_t n = recv(r->control, order, sizeof(order) - 1, MSG_DONTWAIT);
	struct err err = {0};
	size_t position = 0;
	bool ok;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		r->ended = true;
		return;
	}
	order[n] = '\0';
	if (str_starts(order, "mark "))
		ok = do_mark(r, order + 5, &position, &err);
	else if (str_starts(order, "sysrq ") && order[6])
		ok = do_sysrq(r, order + 6, &err);
	else
		ok = err_set(&err, ERR_USAGE, "\"%s\" is no order", order);
	answer(r, ok, position, &err);
}

static int wait_ms(const struct recorder *r)
{
	double left = r->retry_at_s - clock_mono_s();

	if (r->link.fd >= 0)
		return 1000;
	return (int)ceil(fmax(0, fmin(left, 1)) * 1000);
}

static bool attend(struct recorder *r, struct err *err)
{
	struct pollfd fds[2] = {{.fd = r->link.fd, .events = POLLIN},
				{.fd = r->control, .events = POLLIN}};
	int ready = poll(fds, 2, wait_ms(r));

	if (ready > 0 && fds[0].revents && !read_console(r, err))
		return false;
	if (ready > 0 && fds[1].revents)
		take_order(r);
	if (r->link.fd < 0 && clock_mono_s() >= r->retry_at_s)
		return try_to_connect(r, err);
	return true;
}

static bool open_file(struct recorder *r, const char *path, struct err *err)
{
	struct stat st;

	if (!path) {
		r->on_terminal = isatty(STDOUT_FILENO);
		r->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return r->out >= 0 || err_sys(err, "cannot write to stdout");
	}
	r->out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (r->out < 0 || fstat(r->out, &st))
		return err_sys(err, "cannot open %s", path);
	r->size = (size_t)st.st_size;
	r->line_open = r->size > 0;
	return true;
}

static void release(struct recorder *r)
{
	hang_up(r);
	mem_close_ptr(&r->out);
}

bool console_record(const struct settings *settings, const char *machine, const char *path,
		    int control, const int *stop, struct err *err)
{
	CLEANUP(release)
	struct recorder r = {.out = -1,
			     .control = control,
			     .stop = stop,
			     .link = {.fd = -1, .proc = PROC_NONE},
			     .retry_s = RETRY_MIN_S};

	if (!look_up(settings, machine, &r.link, &r.driver, err))
		return false;
	if (!r.driver)
		return err_set(err, ERR_USAGE,
			       "machine %s has no console: set console in [machine \"%s\"], see "
			       "mmperf.conf(5)",
			       machine, machine);
	if (!open_file(&r, path, err))
		return false;
	while (!r.ended && !(stop && *stop))
		if (!attend(&r, err))
			return false;
	return true;
}
