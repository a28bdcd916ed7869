// SPDX-License-Identifier: GPL-2.0-or-later
/* The key table and the way to the database. */
#include "db/settings.h"

#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "db/migrate.h"

/* Sorted by section, in the order a reader wants them inside one. */
const struct conf_key settings_keys[] = {
	{"bisect", false, "budget", CONF_INT, "80",
	 "Boots one bisection may use before it ends as a narrowed range.", false},
	{"bisect", false, "posterior", CONF_FLOAT, "0.99", "Posterior at which the search stops.",
	 false},
	{"bisect", false, "prove-boots", CONF_INT, "8",
	 "Fresh boots of parent and of culprit that prove it; half as many of the tip and of "
	 "the tip with the culprit reverted.",
	 false},
	{"bisect", false, "clean-rebuild", CONF_BOOL, "true",
	 "Rebuild culprit and parent from clean trees before the proof.", false},
	{"bisect", false, "revert", CONF_BOOL, "true",
	 "Also boot the tip with the culprit reverted, when that applies cleanly.", false},

	{"build", false, "jobs", CONF_INT, "0", "Parallel make jobs; 0 means one per CPU.", false},
	{"build", false, "user", CONF_STRING, "mmperf-build",
	 "User that builds run as when the runner is root.", false},
	{"build", false, "compiler", CONF_STRING, "gcc", "The C compiler.", false},
	{"build", false, "ccache", CONF_BOOL, "true", "Use ccache when it is installed.", false},
	{"build", false, "timeout", CONF_SECONDS, "2h", "Longest time of one build.", false},
	{"build", false, "min-free", CONF_BYTES, "4G",
	 "Free space that a build wants before it starts.", false},

	{"database", false, "conninfo", CONF_STRING, NULL,
	 "libpq connection string; unset: a private cluster in the state directory.", false},

	{"detect", false, "boots", CONF_INT, "3", "Routine boots of each measured commit.", false},
	{"detect", false, "z", CONF_FLOAT, "2.0",
	 "Standardised difference that raises a candidate.", false},
	{"detect", false, "confirm-boots", CONF_INT, "4",
	 "Fresh boots of before and of after in each confirmation stage.", false},
	{"detect", false, "confirm-stages", CONF_INT, "15",
	 "Stages before an undecided candidate is refuted.", false},
	{"detect", false, "alpha", CONF_FLOAT, "0.001",
	 "Share of unchanged candidates that may be confirmed.", false},
	{"detect", false, "min-effect", CONF_FLOAT, "0.02",
	 "Smallest relative change worth reporting, for latency and throughput.", false},
	{"detect", false, "min-wait-effect", CONF_FLOAT, "0.25",
	 "Smallest relative change of a lock wait worth reporting.", false},
	{"detect", false, "gaps", CONF_BOOL, "true",
	 "Also measure the commits between snapshot heads when machines are idle.", false},

	{"host", false, "name", CONF_STRING, NULL,
	 "Name of this host in the database; unset: its host name.", false},

	{"machine", true, "class", CONF_STRING, NULL,
	 "Class: machines of one class are interchangeable.", true},
	{"machine", true, "driver", CONF_STRING, NULL, "kexec, qemu, local or fake.", true},
	{"machine", true, "boot", CONF_STRING, "direct",
	 "direct, or kexec: boot a base kernel and kexec the tested one.", false},
	{"machine", true, "base-kernel", CONF_STRING, NULL,
	 "boot = kexec: the bzImage that is booted first; unset: the image itself.", false},
	{"machine", true, "cpus", CONF_INT, "4", "Virtual CPUs (qemu).", false},
	{"machine", true, "memory", CONF_BYTES, "1G", "Memory (qemu).", false},
	{"machine", true, "accel", CONF_STRING, "auto",
	 "auto, kvm or tcg (qemu); auto is kvm where the CPU has vmx or svm.", false},
	{"machine", true, "append", CONF_STRING, "", "Words added to the kernel command line.",
	 false},
	{"machine", true, "boot-timeout", CONF_SECONDS, "60s",
	 "From power-on to the agent's first line.", false},
	{"machine", true, "run-timeout", CONF_SECONDS, "10m",
	 "From the agent's first line to its last.", false},
	{"machine", true, "max-disturbance", CONF_FLOAT, "0.35",
	 "Share of the guest's host CPUs that other work may take during a boot; above it the boot "
	 "is "
	 "repeated.",
	 false},
	{"machine", true, "power", CONF_LIST, NULL,
	 "Power control, in the order of trying: redfish, ipmi, pdu or exec; may be repeated.",
	 false},
	{"machine", true, "power-timeout", CONF_SECONDS, "60s",
	 "Longest time of one power action by one driver.", false},
	{"machine", true, "power-delay", CONF_SECONDS, "5s", "Between off and on of a power cycle.",
	 false},
	{"machine", true, "power-command", CONF_STRING, NULL,
	 "power = exec: program and words before the verb (on, off, cycle, reset, soft, nmi, "
	 "state).",
	 false},
	{"machine", true, "bmc-url", CONF_STRING, NULL,
	 "power = redfish: https://HOST of the management controller (BMC).", false},
	{"machine", true, "bmc-host", CONF_STRING, NULL,
	 "power = ipmi, console = ipmi: address of the BMC.", false},
	{"machine", true, "bmc-user", CONF_STRING, NULL, "User name for the BMC.", false},
	{"machine", true, "bmc-password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds its password, or the name of a systemd credential.", false},
	{"machine", true, "bmc-pin", CONF_STRING, NULL,
	 "Public key of a BMC with a self-signed certificate, as sha256//BASE64; instead of a CA.",
	 false},
	{"machine", true, "bmc-ca-file", CONF_STRING, NULL,
	 "Certificates to trust; unset: the system's.", false},
	{"machine", true, "bmc-cleartext", CONF_BOOL, "false",
	 "The password may cross the network by plain http.", false},
	{"machine", true, "bmc-auth", CONF_STRING, "basic",
	 "basic, or session: log in and out at each action, of which BMCs allow few at a time.",
	 false},
	{"machine", true, "bmc-system", CONF_STRING, NULL,
	 "Path of the system below bmc-url; unset: the only one that the BMC has.", false},
	{"machine", true, "ipmi-options", CONF_STRING, NULL,
	 "More words for ipmitool, such as -C 17 (a fixed cipher suite saves it 10 s of asking).",
	 false},
	{"machine", true, "pdu-on", CONF_STRING, NULL,
	 "power = pdu: address whose fetching switches the socket on; it holds no secret.", false},
	{"machine", true, "pdu-off", CONF_STRING, NULL, "The same for off.", false},
	{"machine", true, "pdu-cycle", CONF_STRING, NULL,
	 "The same for off and on; unset: pdu-off, power-delay, pdu-on.", false},
	{"machine", true, "pdu-state", CONF_STRING, NULL,
	 "Address that tells the socket's state; unset: it cannot be asked.", false},
	{"machine", true, "pdu-state-on", CONF_STRING, "on",
	 "Text that its answer holds when the socket is on.", false},
	{"machine", true, "pdu-method", CONF_STRING, "GET", "HTTP method of these.", false},
	{"machine", true, "pdu-user", CONF_STRING, NULL, "User name for the PDU; unset: none.",
	 false},
	{"machine", true, "pdu-password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds its password, or the name of a systemd credential.", false},
	{"machine", true, "pdu-cleartext", CONF_BOOL, "false",
	 "The password may cross the network by plain http.", false},
	{"machine", true, "console", CONF_STRING, NULL,
	 "tcp://HOST:PORT, telnet://HOST:PORT, conserver://HOST[:PORT]/NAME, ipmi, unix:///PATH, "
	 "netconsole://SENDER:PORT or exec; unset: none.",
	 false},
	{"machine", true, "console-command", CONF_STRING, NULL,
	 "console = exec: program and words; it is given a terminal.", false},
	{"machine", true, "owner", CONF_STRING, NULL,
	 "Mail address that is told when it is taken out of service; unset: nobody.", false},
	{"machine", true, "ssh", CONF_STRING, NULL,
	 "Destination as ssh takes it: USER@HOST or a Host of ssh_config; unset: the machine's "
	 "name "
	 "(kexec).",
	 false},
	{"machine", true, "ssh-config", CONF_STRING, NULL,
	 "File for ssh -F; unset: the settings of the user who runs mmperf-runner (kexec).", false},
	{"machine", true, "known-hosts", CONF_STRING, NULL,
	 "File with its host key, which must be the right one; unset: ssh's own (kexec).", false},
	{"machine", true, "target-dir", CONF_STRING, "/var/tmp/mmperf",
	 "Directory on the machine for the kernel, the agent and its job (kexec).", false},
	{"machine", true, "jump", CONF_STRING, "systemd",
	 "systemd: shut down first (systemctl kexec); direct: kexec -e (kexec).", false},
	{"machine", true, "reuse-cmdline", CONF_BOOL, "true",
	 "The tested kernel gets the running kernel's command line, then append (kexec).", false},
	{"machine", true, "panic", CONF_INT, "10",
	 "Seconds after which a tested kernel that panicked restarts the machine (kexec).", false},
	{"machine", true, "watchdog", CONF_SECONDS, "60s",
	 "The agent sets the machine's hardware watchdog to this and feeds it; 0 leaves it alone "
	 "(kexec).",
	 false},
	{"machine", true, "acpi-rsdp", CONF_STRING, NULL,
	 "acpi_rsdp= for machines that lose ACPI behind kexec: an address, or auto (kexec).",
	 false},
	{"machine", true, "initrd", CONF_STRING, NULL,
	 "File on this host that is loaded with every tested kernel (kexec).", false},
	{"machine", true, "target-initrd", CONF_STRING, NULL,
	 "The same, for a file on the machine (kexec).", false},
	{"machine", true, "initrd-command", CONF_STRING, NULL,
	 "Shell command on the machine that makes an initrd for $KERNEL and prints its path "
	 "(kexec).",
	 false},
	{"machine", true, "reboot-timeout", CONF_SECONDS, "5m",
	 "Until a machine is taken to have failed to come back by one step of recovery (kexec).",
	 false},
	{"machine", true, "emulated", CONF_BOOL, "false",
	 "It is a guest of an emulator: nothing about it is mailed outside the lab (kexec).",
	 false},
	{"machine", true, "script", CONF_STRING, NULL, "Script of the fake driver.", false},
	{"machine", true, "host", CONF_STRING, NULL, "Host that drives it; unset: this host.",
	 false},

	{"mail", false, "server", CONF_STRING, NULL,
	 "smtp://HOST:PORT or smtps://HOST; unset: mails go to the spool directory.", false},
	{"mail", false, "from", CONF_STRING, "mmperf <mmperf@localhost>", "Sender of reports.",
	 false},
	{"mail", false, "to", CONF_LIST, NULL, "Recipient of reports; may be repeated.", false},
	{"mail", false, "lab", CONF_LIST, NULL,
	 "Recipient of reports from emulated machines; unset: such reports go to the spool.",
	 false},
	{"mail", false, "user", CONF_STRING, NULL, "SMTP user name.", false},
	{"mail", false, "password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds the SMTP password.", false},
	{"mail", false, "starttls", CONF_BOOL, "true", "Require STARTTLS on smtp:// servers.",
	 false},
	{"mail", false, "ca-file", CONF_STRING, NULL, "Certificates to trust; unset: the system's.",
	 false},

	{"recipe", true, "config", CONF_STRING, NULL,
	 "Kernel configuration fragment (KCONFIG_ALLCONFIG of allnoconfig).", true},

	{"report", false, "url", CONF_STRING, NULL,
	 "Address under which the pages directory is served; unset: file paths.", false},

	{"state", false, "dir", CONF_STRING, NULL,
	 "State directory; unset: /var/lib/mmperf for root, else $XDG_STATE_HOME/mmperf.", false},
	{"state", false, "cache", CONF_STRING, NULL,
	 "Cache directory; unset: /var/cache/mmperf for root, else $XDG_CACHE_HOME/mmperf.", false},

	{"suite", true, "benchmark", CONF_STRING, NULL, "fault, compaction or khugepaged.", true},
	{"suite", true, "param", CONF_LIST, NULL, "name=value for the benchmark; may be repeated.",
	 false},
	{"suite", true, "pass", CONF_LIST, NULL,
	 "clean, instrumented, profiled; unset: the first two.", false},
	{"suite", true, "judge", CONF_LIST, NULL,
	 "Metric that can raise a candidate; unset: all of the benchmark's primary ones.", false},
	{"suite", true, "tree", CONF_LIST, NULL, "Trees it runs for; unset: all.", false},
	{"suite", true, "class", CONF_LIST, NULL, "Machine classes it runs on; unset: all.", false},

	{"tree", true, "url", CONF_STRING, NULL, "What git fetches.", true},
	{"tree", true, "branch", CONF_LIST, NULL, "Branch to follow; may be repeated.", true},
	{"tree", true, "base", CONF_STRING, NULL,
	 "Branch or tag that the branches are stacked on; unset: the root commit.", false},
	{"tree", true, "reference", CONF_STRING, NULL, "Local clone whose objects are used.",
	 false},
	{"tree", true, "recipe", CONF_STRING, NULL, "Recipe that its commits are built with.",
	 true},
	{"tree", true, "poll", CONF_SECONDS, "5m", "Time between fetches.", false},
	{0},
};

static char *default_dir(const char *service, const char *xdg, const char *below_home)
{
	const char *base = getenv(xdg), *home = getenv("HOME");

	if (geteuid() == 0)
		return xstrdup(service);
	if (base && *base)
		return xasprintf("%s/mmperf", base);
	return xasprintf("%s/%s/mmperf", home && *home ? home : "/tmp", below_home);
}

char *settings_default_path(void)
{
	const char *env = getenv("MMPERF_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (env && *env)
		return xstrdup(env);
	if (geteuid() == 0)
		return xstrdup("/etc/mmperf/config");
	if (xdg && *xdg)
		return xasprintf("%s/mmperf/config", xdg);
	return xasprintf("%s/.config/mmperf/config", home ? home : "");
}

static char *host_name(const struct conf *conf)
{
	const char *name = conf_str(conf, "host", NULL, "name");
	char buf[256] = "localhost";

	if (name)
		return xstrdup(name);
	if (gethostname(buf, sizeof(buf) - 1))
		strcpy(buf, "localhost");
	return xstrdup(buf);
}

bool settings_load(const char *path, struct settings *out, struct err *err)
{
	AUTO_FREE char *found = path ? xstrdup(path) : settings_default_path();
	CLEANUP(conf_free_ptr) struct conf *conf = NULL;
	const char *state, *cache;

	if (!fs_exists(found))
		return err_set(err, ERR_USAGE,
			       "settings: %s does not exist; write one with `mmperf init`, or name "
			       "another with --config FILE or $MMPERF_CONFIG",
			       found);
	if (!conf_load(found, settings_keys, &conf, err))
		return false;
	state = conf_str(conf, "state", NULL, "dir");
	cache = conf_str(conf, "state", NULL, "cache");
	out->state_dir = state ? xstrdup(state)
			       : default_dir("/var/lib/mmperf", "XDG_STATE_HOME", ".local/state");
	out->cache_dir = cache ? xstrdup(cache)
			       : default_dir("/var/cache/mmperf", "XDG_CACHE_HOME", ".cache");
	out->host = host_name(conf);
	out->conf = TAKE(conf);
	return true;
}

void settings_release(struct settings *settings)
{
	conf_free(settings->conf);
	free(settings->state_dir);
	free(settings->cache_dir);
	free(settings->host);
	*settings = (struct settings){0};
}

char *settings_path(const struct settings *settings, const char *name)
{
	return xasprintf("%s/%s", settings->state_dir, name);
}

bool settings_open_db_raw(const struct settings *settings, const char *role,
			  const char *application, struct db **db, struct err *err)
{
	const char *conninfo = conf_str(settings->conf, "database", NULL, "conninfo");
	AUTO_FREE char *text = NULL;

	if (conninfo && role)
		text = strstr(conninfo, "://") ? xstrdup(conninfo)
					       : xasprintf("%s user=%s", conninfo, role);
	else if (conninfo)
		text = xstrdup(conninfo);
	else
		text = xasprintf("host=%s/pg/socket port=5432 dbname=mmperf user=%s",
				 settings->state_dir, role ? role : "mmperf");
	return db_open(text, application, db, err);
}

bool settings_open_db(const struct settings *settings, const char *role, const char *application,
		      struct db **db, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *opened = NULL;

	if (!settings_open_db_raw(settings, role, application, &opened, err) ||
	    !db_check_version(opened, err))
		return false;
	*db = TAKE(opened);
	return true;
}

static double log_effect(const struct settings *settings, const char *key)
{
	double relative = conf_f64(settings->conf, "detect", NULL, key);

	return log1p(relative > 0 ? relative : 0.001);
}

struct worth settings_worth(const struct settings *settings)
{
	return (struct worth){.effect = log_effect(settings, "min-effect"),
			      .wait_effect = log_effect(settings, "min-wait-effect")};
}

double worth_of(const struct worth *worth, const char *metric)
{
	return str_starts(metric, "lock.") ? worth->wait_effect : worth->effect;
}
