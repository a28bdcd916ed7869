// SPDX-License-Identifier: GPL-2.0-or-later
/* A PostgreSQL of our own. */
#include "cli/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/state.h"

#define PORT	     "5432"
#define START_WAIT_S "120"
#define DEBIAN_BIN   "/usr/lib/postgresql/%s/bin"

bool cluster_wanted(const struct settings *settings)
{
	return !conf_str(settings->conf, "database", NULL, "conninfo");
}

void cluster_release(struct cluster *cluster)
{
	free(cluster->bin);
	free(cluster->dir);
	free(cluster->data);
	free(cluster->socket);
	free(cluster->log);
	*cluster = (struct cluster){0};
}

static bool has_tools(const char *bin)
{
	AUTO_FREE char *initdb = xasprintf("%s/initdb", bin);

	return !access(initdb, X_OK);
}

/* The version that made an existing cluster: another one cannot open it. */
static char *bin_of_data(const char *data)
{
	AUTO_FREE char *path = xasprintf("%s/PG_VERSION", data);
	AUTO_STR text = str_new();
	struct err ignored;
	char *bin;

	if (!fs_exists(path) || !fs_read(path, 64, &text, &ignored))
		return NULL;
	bin = xasprintf(DEBIAN_BIN, str_trim(text.s));
	if (has_tools(bin))
		return bin;
	free(bin);
	return NULL;
}

static char *bin_of_path(void)
{
	char *path = proc_which("initdb"), *real;

	if (!path)
		return NULL;
	real = realpath(path, NULL);
	free(path);
	if (real)
		*strrchr(real, '/') = '\0';
	if (real && has_tools(real))
		return real;
	free(real);
	return NULL;
}

static char *newest_bin(void)
{
	char *best = NULL;
	int best_version = 0;
	glob_t found;

	if (!glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			int version = atoi(found.gl_pathv[i] + strlen("/usr/lib/postgresql/"));

			if (version <= best_version)
				continue;
			best_version = version;
			free(best);
			best = xasprintf("/usr/lib/postgresql/%d/bin", version);
		}
	}
	globfree(&found);
	return best;
}

static bool find_bin(struct cluster *cluster, struct err *err)
{
	cluster->bin = bin_of_data(cluster->data);
	if (!cluster->bin)
		cluster->bin = bin_of_path();
	if (!cluster->bin)
		cluster->bin = newest_bin();
	if (cluster->bin)
		return true;
	return err_set(
		err, ERR_FAILED,
		"PostgreSQL is not installed (no initdb in PATH or /usr/lib/postgresql); run "
		"deploy/setup, or name a database in [database] conninfo");
}

bool cluster_init(const struct settings *settings, struct cluster *out, struct err *err)
{
	CLEANUP(cluster_release) struct cluster c = {.settings = settings};
	struct sockaddr_un address;

	c.dir = settings_path(settings, "pg");
	c.data = xasprintf("%s/data", c.dir);
	c.socket = xasprintf("%s/socket", c.dir);
	c.log = xasprintf("%s/log", c.dir);
	if (strlen(c.socket) + strlen("/.s.PGSQL." PORT) >= sizeof(address.sun_path))
		return err_set(err, ERR_USAGE,
			       "%s is too long for the path of a socket; set [state] dir to a "
			       "shorter one",
			       c.socket);
	if (!state_service_user(&c.user, err) || !find_bin(&c, err))
		return false;
	*out = c;
	c = (struct cluster){0};
	return true;
}

/* Runs one of PostgreSQL's programs as the cluster's user. */
static bool run(const struct cluster *cluster, struct proc_spec *spec, int *status,
		struct str *said, struct err *err)
{
	CLEANUP(proc_result_release) struct proc_result result = {0};

	spec->user = cluster->user;
	spec->cwd = cluster->dir;
	spec->timeout_s = 300;
	strs_pushl(&spec->env, "LC_ALL=C", "PGPORT=" PORT, NULL);
	if (!proc_run(spec, &result, err))
		return false;
	*status = result.status;
	str_add(said, str_trim(result.out.s));
	return true;
}

/* The same, where only success will do. */
static bool run_well(const struct cluster *cluster, struct proc_spec *spec, const char *what,
		     struct err *err)
{
	AUTO_STR said = str_new();
	const char *line;
	int status;

	if (!run(cluster, spec, &status, &said, err))
		return err_wrap(err, "private database: %s", what);
	if (!status)
		return true;
	line = strrchr(said.s, '\n');
	return err_set(err, ERR_FAILED, "private database: %s failed: %s (its log is %s)", what,
		       line ? line + 1 : said.s, cluster->log);
}

static void push_program(const struct cluster *cluster, struct proc_spec *spec, const char *name)
{
	strs_pushf(&spec->argv, "%s/%s", cluster->bin, name);
}

static bool own_dir(const struct cluster *cluster, const char *path, mode_t mode, struct err *err)
{
	const struct passwd *pw = cluster->user ? getpwnam(cluster->user) : NULL;

	if (!fs_mkdirs(path, mode, err))
		return false;
	if (pw && chown(path, pw->pw_uid, pw->pw_gid))
		return err_sys(err, "cannot give %s to %s", path, cluster->user);
	if (chmod(path, mode))
		return err_sys(err, "cannot set the mode of %s", path);
	return true;
}

bool cluster_running(const struct cluster *cluster, bool *yes, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_STR said = str_new();
	int status;

	*yes = false;
	if (!fs_exists(cluster->data))
		return true;
	push_program(cluster, &spec, "pg_ctl");
	strs_pushl(&spec.argv, "status", "-D", cluster->data, NULL);
	if (!run(cluster, &spec, &status, &said, err))
		return false;
	*yes = status == 0;
	return true;
}

bool cluster_alive(const struct cluster *cluster)
{
	AUTO_FREE char *path = xasprintf("%s/postmaster.pid", cluster->data);
	AUTO_STR text = str_new();
	struct err ignored = {0};
	pid_t pid;

	if (!fs_read(path, 4096, &text, &ignored))
		return false;
	pid = (pid_t)strtol(text.s, NULL, 10);
	return pid > 0 && (!kill(pid, 0) || errno == EPERM);
}

static void add_quoted(struct str *out, const char *text)
{
	str_addc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_addc(out, *text);
		str_addc(out, *text);
	}
	str_addc(out, '\'');
}

/* The last setting of a name wins, so these stand at the end of what initdb wrote. */
static bool configure(const struct cluster *cluster, const char *data, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/postgresql.conf", data);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	AUTO_STR text = str_new();

	str_add(&text,
		"\n# mmperf: reachable through its socket only\n"
		"listen_addresses = ''\nport = " PORT "\nunix_socket_permissions = 0700\n"
		"dynamic_shared_memory_type = mmap\n" /* logout empties /dev/shm (RemoveIPC) */
		"unix_socket_directories = ");
	add_quoted(&text, cluster->socket);
	str_add(&text, "\nmax_connections = 100\nlog_line_prefix = '%m [%p] %u: '\njit = off\n");
	if (fd < 0 || write(fd, text.s, text.len) != (ssize_t)text.len)
		return err_sys(err, "private database: cannot write %s", path);
	return true;
}

static bool create(const struct cluster *cluster, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_FREE char *fresh = xasprintf("%s/data.new", cluster->dir);

	if (fs_exists(cluster->data))
		return true;
	if (!fs_remove_tree(fresh, err))
		return false;
	push_program(cluster, &spec, "initdb");
	strs_pushl(&spec.argv, "-D", fresh, "-A", "trust", "-U", "mmperf", "-E", "UTF8",
		   "--locale=C", NULL);
	if (!run_well(cluster, &spec, "initdb", err) || !configure(cluster, fresh, err))
		return false;
	if (rename(fresh, cluster->data))
		return err_sys(err, "private database: cannot rename %s", fresh);
	return true;
}

static bool start(const struct cluster *cluster, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};

	push_program(cluster, &spec, "pg_ctl");
	strs_pushl(&spec.argv, "start", "-s", "-w", "-t", START_WAIT_S, "-D", cluster->data, "-l",
		   cluster->log, NULL);
	return run_well(cluster, &spec, "pg_ctl start", err);
}

static bool database_exists(const struct cluster *cluster)
{
	AUTO_FREE char *conninfo =
		xasprintf("host=%s port=" PORT " dbname=mmperf user=mmperf", cluster->socket);
	CLEANUP(db_close_ptr) struct db *db = NULL;
	struct err ignored;

	return db_open(conninfo, "mmperf up", &db, &ignored);
}

static bool create_database(const struct cluster *cluster, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_STR said = str_new();
	int status;

	if (database_exists(cluster))
		return true;
	push_program(cluster, &spec, "createdb");
	strs_pushl(&spec.argv, "-h", cluster->socket, "-U", "mmperf", "-O", "mmperf", "mmperf",
		   NULL);
	if (!run(cluster, &spec, &status, &said, err))
		return false;
	if (status && !strstr(said.s, "already exists"))
		return err_set(err, ERR_FAILED, "private database: createdb failed: %s", said.s);
	return true;
}

bool cluster_start(const struct cluster *cluster, bool *started, struct err *err)
{
	bool running;

	*started = false;
	if (!state_make(cluster->settings, err) || !own_dir(cluster, cluster->dir, 0700, err) ||
	    !own_dir(cluster, cluster->socket, 0700, err) || !create(cluster, err) ||
	    !cluster_running(cluster, &running, err))
		return false;
	if (!running && !start(cluster, err))
		return false;
	*started = !running;
	return create_database(cluster, err);
}

bool cluster_stop(const struct cluster *cluster, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	bool running;

	if (!cluster_running(cluster, &running, err))
		return false;
	if (!running)
		return true;
	push_program(cluster, &spec, "pg_ctl");
	strs_pushl(&spec.argv, "stop", "-s", "-w", "-m", "fast", "-D", cluster->data, NULL);
	return run_well(cluster, &spec, "pg_ctl stop", err);
}
