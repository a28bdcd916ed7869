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
	 "Boots one bisection may use before it ends as a narrowed range.", CONF_WITHIN(1, 100000)},
	{"bisect", false, "budget-time", CONF_SECONDS, "0s",
	 "Time one search may take before it ends as a narrowed range; 0: any.", CONF_OPTIONAL},
	{"bisect", false, "fresh-layouts", CONF_FLOAT, "0.5",
	 "Each boot of a commit in a confirmation, search or proof has another layout when those "
	 "scatter by more than so much of what boots do (mmperf noise); 0: always after a pilot.",
	 CONF_WITHIN(0, 1e6)},
	{"bisect", false, "posterior", CONF_FLOAT, "0.99", "Posterior at which the search stops.",
	 CONF_WITHIN(0.5, 0.999999)},
	{"bisect", false, "second-odds", CONF_FLOAT, "0.2",
	 "Odds by which boots must speak against a second change before a search ends with one; 0: "
	 "none is looked for.",
	 CONF_WITHIN(0, 1e6)},
	{"bisect", false, "unlikely-paths", CONF_STRING,
	 "Documentation/ LICENSES/ samples/ tools/ rust/ sound/ drivers/accel/ drivers/gpu/ "
	 "drivers/hwmon/ drivers/iio/ drivers/infiniband/ drivers/input/ drivers/media/ "
	 "drivers/net/ "
	 "drivers/scsi/ drivers/staging/ drivers/usb/ *.rst *.yaml *_kunit.c MAINTAINERS CREDITS "
	 ".mailmap .gitignore",
	 "Commits that touch nothing else, and nothing but other architectures, are suspected "
	 "less: "
	 "DIRECTORY/, *ENDING or a path, with blanks between.",
	 CONF_OPTIONAL},
	{"bisect", false, "unlikely-share", CONF_FLOAT, "0.1",
	 "Share of a full suspicion that such a commit keeps; 1: paths do not matter.",
	 CONF_WITHIN(0.001, 1)},
	{"bisect", false, "prove-boots", CONF_INT, "8",
	 "Fresh boots of parent and of culprit that prove it, and once more as many when these "
	 "leave the effect open; half as many of the tip and of the tip with the culprit "
	 "reverted.",
	 CONF_WITHIN(2, 1000)},
	{"bisect", false, "clean-rebuild", CONF_BOOL, "true",
	 "Rebuild culprit and parent from clean trees before the proof.", CONF_OPTIONAL},
	{"bisect", false, "revert", CONF_BOOL, "true",
	 "Also boot the tip with the culprit reverted, when that applies cleanly.", CONF_OPTIONAL},

	{"build", false, "jobs", CONF_INT, "0", "Parallel make jobs; 0 means one per CPU.",
	 CONF_WITHIN(0, 4096)},
	{"build", false, "user", CONF_STRING, "mmperf-build",
	 "User that builds run as when the runner is root.", CONF_OPTIONAL},
	{"build", false, "compiler", CONF_STRING, "gcc", "The C compiler.", CONF_OPTIONAL},
	{"build", false, "ccache", CONF_BOOL, "true", "Use ccache when it is installed.",
	 CONF_OPTIONAL},
	{"build", false, "timeout", CONF_SECONDS, "2h", "Longest time of one build.",
	 CONF_OPTIONAL},
	{"build", false, "min-free", CONF_BYTES, "4G",
	 "Free space that a build wants before it starts.", CONF_OPTIONAL},

	{"database", false, "conninfo", CONF_STRING, NULL,
	 "libpq connection string; unset: a private cluster in the state directory.",
	 CONF_OPTIONAL},

	{"detect", false, "boots", CONF_INT, "3", "Routine boots of each measured commit.",
	 CONF_WITHIN(1, 1000)},
	{"detect", false, "z", CONF_FLOAT, "2.0",
	 "Standardised difference that raises a candidate.", CONF_WITHIN(0, 1e6)},
	{"detect", false, "confirm-boots", CONF_INT, "4",
	 "Fresh boots of before and of after in each confirmation stage: 1 to 6.",
	 CONF_WITHIN(1, 6)},
	{"detect", false, "confirm-stages", CONF_INT, "15",
	 "Stages before an undecided candidate is refuted.", CONF_WITHIN(1, 1000)},
	{"detect", false, "alpha", CONF_FLOAT, "0.001",
	 "Share of unchanged candidates that may be confirmed.", CONF_WITHIN(1e-12, 0.5)},
	{"detect", false, "false-mails", CONF_FLOAT, "1",
	 "False alarms that noise may raise in a week, on average; alpha is lowered when so many "
	 "clusters are suspected that it would allow more.",
	 CONF_WITHIN(1e-6, 1e6)},
	{"detect", false, "false-share", CONF_FLOAT, "0.1",
	 "Share of a week's confirmed clusters that may be false (e-BH).", CONF_WITHIN(1e-6, 1)},
	{"detect", false, "min-effect", CONF_FLOAT, "0.02",
	 "Smallest relative change worth reporting, for latency and throughput.",
	 CONF_WITHIN(1e-6, 100)},
	{"detect", false, "min-wait-effect", CONF_FLOAT, "0.25",
	 "Smallest relative change of a lock wait worth reporting.", CONF_WITHIN(1e-6, 100)},
	{"detect", false, "history-every", CONF_SECONDS, "1d",
	 "How often the whole history of each series is divided into levels; 0: never.",
	 CONF_OPTIONAL},
	{"detect", false, "twin-every", CONF_INT, "10",
	 "Each so many heads one is built again with another layout and fed in as if it were the "
	 "next "
	 "commit: what is suspected there is a false alarm; 0: never.",
	 CONF_WITHIN(0, 1e6)},
	{"detect", false, "gaps", CONF_BOOL, "true",
	 "Also measure the commits between snapshot heads when machines are idle.", CONF_OPTIONAL},

	{"health", false, "alpha", CONF_FLOAT, "0.001",
	 "Share of canaries of an unchanged machine that may be called off its history.",
	 CONF_WITHIN(1e-12, 0.5)},
	{"health", false, "canary", CONF_SECONDS, "24h",
	 "Time between canaries of a machine; 0: only after recoveries.", CONF_OPTIONAL},
	{"health", false, "firmware-every", CONF_INT, "10",
	 "Each so many boots of a kexec machine, one canary goes through its firmware; 0: none.",
	 CONF_WITHIN(0, 1e6)},
	{"health", false, "probe", CONF_SECONDS, "6h",
	 "Time between canaries of a machine that the service quarantined; 0: none.",
	 CONF_OPTIONAL},
	{"health", false, "suite", CONF_STRING, NULL,
	 "The short suite of canaries; unset: the first that fits the class.", CONF_OPTIONAL},

	{"host", false, "name", CONF_STRING, NULL,
	 "Name of this host in the database; unset: its host name.", CONF_OPTIONAL},

	{"machine", true, "class", CONF_STRING, NULL,
	 "Class: machines of one class are interchangeable.", CONF_REQUIRED},
	{"machine", true, "driver", CONF_STRING, NULL, "kexec, qemu, local or fake.",
	 CONF_REQUIRED},
	{"machine", true, "boot", CONF_STRING, "direct",
	 "direct, or kexec: boot a base kernel and kexec the tested one.", CONF_OPTIONAL},
	{"machine", true, "base-kernel", CONF_STRING, NULL,
	 "boot = kexec: the bzImage that is booted first; unset: the image itself.", CONF_OPTIONAL},
	{"machine", true, "cpus", CONF_INT, "4", "Virtual CPUs (qemu).", CONF_WITHIN(1, 4096)},
	{"machine", true, "memory", CONF_BYTES, "1G", "Memory (qemu).", CONF_OPTIONAL},
	{"machine", true, "accel", CONF_STRING, "auto",
	 "auto, kvm or tcg (qemu); auto is kvm where the CPU has vmx or svm.", CONF_OPTIONAL},
	{"machine", true, "append", CONF_STRING, "", "Words added to the kernel command line.",
	 CONF_OPTIONAL},
	{"machine", true, "boot-timeout", CONF_SECONDS, "60s",
	 "From power-on to the agent's first line.", CONF_OPTIONAL},
	{"machine", true, "run-timeout", CONF_SECONDS, "10m",
	 "From the agent's first line to its last.", CONF_OPTIONAL},
	{"machine", true, "max-disturbance", CONF_FLOAT, "0.35",
	 "Share of the guest's host CPUs that other work may take during a boot; above it the boot "
	 "is "
	 "repeated.",
	 CONF_WITHIN(0, 1)},
	{"machine", true, "smt", CONF_STRING, "keep",
	 "keep, on or off: two threads a core while the agent measures.", CONF_OPTIONAL},
	{"machine", true, "lru-gen", CONF_STRING, "keep",
	 "keep, on or off: the multi-generational LRU while the agent measures.", CONF_OPTIONAL},
	{"machine", true, "swap", CONF_STRING, "keep",
	 "keep, or off: no swap space while the agent measures, if what is in it fits into half of "
	 "the available memory.",
	 CONF_OPTIONAL},
	{"machine", true, "power", CONF_LIST, NULL,
	 "Power control, in the order of trying: redfish, ipmi, pdu or exec; may be repeated.",
	 CONF_OPTIONAL},
	{"machine", true, "power-timeout", CONF_SECONDS, "60s",
	 "Longest time of one power action by one driver.", CONF_OPTIONAL},
	{"machine", true, "power-delay", CONF_SECONDS, "5s", "Between off and on of a power cycle.",
	 CONF_OPTIONAL},
	{"machine", true, "power-command", CONF_STRING, NULL,
	 "power = exec: program and words before the verb (on, off, cycle, reset, soft, nmi, "
	 "state).",
	 CONF_OPTIONAL},
	{"machine", true, "bmc-url", CONF_STRING, NULL,
	 "power = redfish: https://HOST of the management controller (BMC).", CONF_OPTIONAL},
	{"machine", true, "bmc-host", CONF_STRING, NULL,
	 "power = ipmi, console = ipmi: address of the BMC.", CONF_OPTIONAL},
	{"machine", true, "bmc-user", CONF_STRING, NULL, "User name for the BMC.", CONF_OPTIONAL},
	{"machine", true, "bmc-password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds its password, or the name of a systemd credential.",
	 CONF_OPTIONAL},
	{"machine", true, "bmc-pin", CONF_STRING, NULL,
	 "Public key of a BMC with a self-signed certificate, as sha256//BASE64; instead of a CA.",
	 CONF_OPTIONAL},
	{"machine", true, "bmc-ca-file", CONF_STRING, NULL,
	 "Certificates to trust; unset: the system's.", CONF_OPTIONAL},
	{"machine", true, "bmc-cleartext", CONF_BOOL, "false",
	 "The password may cross the network by plain http.", CONF_OPTIONAL},
	{"machine", true, "bmc-auth", CONF_STRING, "basic",
	 "basic, or session: log in and out at each action, of which BMCs allow few at a time.",
	 CONF_OPTIONAL},
	{"machine", true, "bmc-system", CONF_STRING, NULL,
	 "Path of the system below bmc-url; unset: the only one that the BMC has.", CONF_OPTIONAL},
	{"machine", true, "ipmi-options", CONF_STRING, NULL,
	 "More words for ipmitool, such as -C 17 (a fixed cipher suite saves it 10 s of asking).",
	 CONF_OPTIONAL},
	{"machine", true, "pdu-on", CONF_STRING, NULL,
	 "power = pdu: address whose fetching switches the socket on; it holds no secret.",
	 CONF_OPTIONAL},
	{"machine", true, "pdu-off", CONF_STRING, NULL, "The same for off.", CONF_OPTIONAL},
	{"machine", true, "pdu-cycle", CONF_STRING, NULL,
	 "The same for off and on; unset: pdu-off, power-delay, pdu-on.", CONF_OPTIONAL},
	{"machine", true, "pdu-state", CONF_STRING, NULL,
	 "Address that tells the socket's state; unset: it cannot be asked.", CONF_OPTIONAL},
	{"machine", true, "pdu-state-on", CONF_STRING, "on",
	 "Text that its answer holds when the socket is on.", CONF_OPTIONAL},
	{"machine", true, "pdu-method", CONF_STRING, "GET", "HTTP method of these.", CONF_OPTIONAL},
	{"machine", true, "pdu-user", CONF_STRING, NULL, "User name for the PDU; unset: none.",
	 CONF_OPTIONAL},
	{"machine", true, "pdu-password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds its password, or the name of a systemd credential.",
	 CONF_OPTIONAL},
	{"machine", true, "pdu-cleartext", CONF_BOOL, "false",
	 "The password may cross the network by plain http.", CONF_OPTIONAL},
	{"machine", true, "console", CONF_STRING, NULL,
	 "tcp://HOST:PORT, telnet://HOST:PORT, conserver://HOST[:PORT]/NAME, ipmi, unix:///PATH, "
	 "netconsole://SENDER:PORT or exec; unset: none.",
	 CONF_OPTIONAL},
	{"machine", true, "console-command", CONF_STRING, NULL,
	 "console = exec: program and words; it is given a terminal.", CONF_OPTIONAL},
	{"machine", true, "owner", CONF_STRING, NULL,
	 "Mail address that is told when it is taken out of service; unset: nobody.",
	 CONF_OPTIONAL},
	{"machine", true, "ssh", CONF_STRING, NULL,
	 "Destination as ssh takes it: USER@HOST or a Host of ssh_config; unset: the machine's "
	 "name "
	 "(kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "ssh-config", CONF_STRING, NULL,
	 "File for ssh -F; unset: the settings of the user who runs mmperf-runner (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "known-hosts", CONF_STRING, NULL,
	 "File with its host key, which must be the right one; unset: ssh's own (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "target-dir", CONF_STRING, "/var/tmp/mmperf",
	 "Directory on the machine for the kernel, the agent and its job (kexec).", CONF_OPTIONAL},
	{"machine", true, "jump", CONF_STRING, "systemd",
	 "systemd: shut down first (systemctl kexec); direct: kexec -e (kexec).", CONF_OPTIONAL},
	{"machine", true, "reuse-cmdline", CONF_BOOL, "true",
	 "The tested kernel gets the running kernel's command line, then append (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "panic", CONF_INT, "10",
	 "Seconds after which a tested kernel that panicked restarts the machine (kexec).",
	 CONF_WITHIN(0, 86400)},
	{"machine", true, "panic-on", CONF_STRING, "oops softlockup hung-task",
	 "What counts as a panic of a tested kernel: words of oops, softlockup, hung-task, "
	 "rcu-stall. A busy "
	 "emulator makes soft lockups by itself (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "watchdog", CONF_SECONDS, "60s",
	 "The agent sets the machine's hardware watchdog to this and feeds it; 0 leaves it alone "
	 "(kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "acpi-rsdp", CONF_STRING, NULL,
	 "acpi_rsdp= for machines that lose ACPI behind kexec: an address, or auto (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "root", CONF_STRING, "own",
	 "own: the tested kernel starts the machine's system. initramfs: it starts nothing but the "
	 "agent, for disks that may not be touched (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "results", CONF_STRING, "console",
	 "How they come with root = initramfs. console: by the serial line; tcp://ADDRESS[:PORT]: "
	 "the agent calls this host, whose numeric address as the machine reaches it that is "
	 "(kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "initrd", CONF_STRING, NULL,
	 "File on this host that is loaded with every tested kernel; with root = initramfs its "
	 "program "
	 "/prepare, if any, runs before the agent: it may load modules and set the network up "
	 "(kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "target-initrd", CONF_STRING, NULL,
	 "The same, for a file on the machine (kexec).", CONF_OPTIONAL},
	{"machine", true, "initrd-command", CONF_STRING, NULL,
	 "Shell command on the machine that makes an initrd for $KERNEL and prints its path; with "
	 "modules, their directory is /lib/modules/$RELEASE (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "modules", CONF_BOOL, "false",
	 "Install the tested kernel's modules in /lib/modules while it is tested; its recipe needs "
	 "CONFIG_MODULES (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "reboot-timeout", CONF_SECONDS, "5m",
	 "Until a machine is taken to have failed to come back by one step of recovery (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "emulated", CONF_BOOL, "false",
	 "It is a guest of an emulator: nothing about it is mailed outside the lab (kexec).",
	 CONF_OPTIONAL},
	{"machine", true, "script", CONF_STRING, NULL, "Script of the fake driver.", CONF_OPTIONAL},
	{"machine", true, "host", CONF_STRING, NULL, "Host that drives it; unset: this host.",
	 CONF_OPTIONAL},

	{"mail", false, "server", CONF_STRING, NULL,
	 "smtp://HOST:PORT or smtps://HOST; unset: mails go to the spool directory.",
	 CONF_OPTIONAL},
	{"mail", false, "from", CONF_STRING, "mmperf <mmperf@localhost>", "Sender of reports.",
	 CONF_OPTIONAL},
	{"mail", false, "to", CONF_LIST, NULL, "Recipient of reports; may be repeated.",
	 CONF_OPTIONAL},
	{"mail", false, "lab", CONF_LIST, NULL,
	 "Recipient of reports from emulated machines; unset: such reports go to the spool.",
	 CONF_OPTIONAL},
	{"mail", false, "user", CONF_STRING, NULL, "SMTP user name.", CONF_OPTIONAL},
	{"mail", false, "password-file", CONF_STRING, NULL,
	 "File of mode 0600 that holds the SMTP password.", CONF_OPTIONAL},
	{"mail", false, "starttls", CONF_BOOL, "true", "Require STARTTLS on smtp:// servers.",
	 CONF_OPTIONAL},
	{"mail", false, "ca-file", CONF_STRING, NULL, "Certificates to trust; unset: the system's.",
	 CONF_OPTIONAL},

	{"recipe", true, "config", CONF_STRING, NULL,
	 "Kernel configuration fragment (KCONFIG_ALLCONFIG of allnoconfig).", CONF_REQUIRED},

	{"report", false, "url", CONF_STRING, NULL,
	 "Address under which the pages directory is served; unset: file paths.", CONF_OPTIONAL},

	{"state", false, "dir", CONF_STRING, NULL,
	 "State directory; unset: $STATE_DIRECTORY (the units set it), /var/lib/mmperf for root, "
	 "else $XDG_STATE_HOME/mmperf.",
	 CONF_OPTIONAL},
	{"state", false, "cache", CONF_STRING, NULL,
	 "Cache directory; unset: $CACHE_DIRECTORY, /var/cache/mmperf for root, else "
	 "$XDG_CACHE_HOME/mmperf.",
	 CONF_OPTIONAL},

	{"suite", true, "benchmark", CONF_STRING, NULL, "fault, compaction or khugepaged.",
	 CONF_REQUIRED},
	{"suite", true, "param", CONF_LIST, NULL, "name=value for the benchmark; may be repeated.",
	 CONF_OPTIONAL},
	{"suite", true, "pass", CONF_LIST, NULL,
	 "clean, instrumented, profiled; unset: the first two.", CONF_OPTIONAL},
	{"suite", true, "judge", CONF_LIST, NULL,
	 "Metric that can raise a candidate; unset: all with a direction, of locks the wait per "
	 "operation "
	 "of the main ones; in an emulated class none that wants real CPUs.",
	 CONF_OPTIONAL},
	{"suite", true, "tree", CONF_LIST, NULL, "Trees it runs for; unset: all.", CONF_OPTIONAL},
	{"suite", true, "class", CONF_LIST, NULL, "Machine classes it runs on; unset: all.",
	 CONF_OPTIONAL},

	{"tree", true, "url", CONF_STRING, NULL, "What git fetches.", CONF_REQUIRED},
	{"tree", true, "branch", CONF_LIST, NULL, "Branch to follow; may be repeated.",
	 CONF_REQUIRED},
	{"tree", true, "base", CONF_STRING, NULL,
	 "Branch or tag that the branches are stacked on; unset: the root commit.", CONF_OPTIONAL},
	{"tree", true, "reference", CONF_STRING, NULL, "Local clone whose objects are used.",
	 CONF_OPTIONAL},
	{"tree", true, "recipe", CONF_STRING, NULL, "Recipe that its commits are built with.",
	 CONF_REQUIRED},
	{"tree", true, "poll", CONF_SECONDS, "5m", "Time between fetches.", CONF_OPTIONAL},
	{0},
};

/* systemd's name of it comes first: the daemons of one host run as several users. */
static char *default_dir(const char *unit, const char *service, const char *xdg,
			 const char *below_home)
{
	const char *base = getenv(xdg), *home = getenv("HOME"), *given = getenv(unit);

	if (given && *given == '/')
		return xstrdup(given);
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
			       : default_dir("STATE_DIRECTORY", "/var/lib/mmperf", "XDG_STATE_HOME",
					     ".local/state");
	out->cache_dir = cache ? xstrdup(cache)
			       : default_dir("CACHE_DIRECTORY", "/var/cache/mmperf",
					     "XDG_CACHE_HOME", ".cache");
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
