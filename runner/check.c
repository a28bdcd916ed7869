// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking at a machine. */
#include "runner/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "db/build.h"
#include "runner/machine.h"
#include "runner/needs.h"
#include "runner/recover.h"

#define LOOK_S	   20.0
#define SCRIPT_S   60.0
#define LOAD_S	   300.0
#define CONSOLE_S  15.0
#define MAX_CONFIG ((size_t)4 << 20)

struct check {
	struct worker *worker;
	const char *machine;
	const struct check_wish *wish;
	const struct check_out *out;
	struct ssh ssh;
	struct power *power;
	struct console_source *console;
	struct target_state state;
	bool bad;
};

static void say(struct check *c, const char *what, enum check_verdict verdict, const char *text)
{
	AUTO_STR plain = str_new();

	str_add_utf8(&plain, text, strlen(text));
	for (char *p = plain.s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	c->bad = c->bad || verdict == CHECK_BAD;
	c->out->say(c->out->arg, what, verdict, str_trim(plain.s));
}

static bool must_stop(const struct err *err)
{
	return err->kind == ERR_CONFLICT || err->kind == ERR_DBDOWN;
}

/* By script: status 0 is well, 4 a note, everything else is bad; the last line is the text. */
static const struct {
	const char *what;
	const char *script;
} scripts[] = {
	{"tools",
	 "missing=''\n"
	 "for t in kexec sha256sum od awk sed setsid dmesg reboot; do\n"
	 "  command -v $t >/dev/null || missing=\"$missing $t\"\n"
	 "done\n"
	 "[ -z \"$missing\" ] || { echo \"missing:$missing; on Debian: apt-get install kexec-tools "
	 "coreutils util-linux mawk\"; exit 3; }\n"
	 "kexec --version\n"},
	{"shutdown",
	 "[ -d /run/systemd/system ] && { echo 'systemd: jump = systemd works'; exit 0; }\n"
	 "echo 'no systemd: set jump = direct'; exit 4\n"},
	{"restart",
	 "[ \"$(cat /proc/sys/kernel/panic)\" != 0 ] && { echo \"its own kernel restarts $(cat "
	 "/proc/sys/kernel/panic) s after a panic\"; exit 0; }\n"
	 "echo 'its own kernel waits for ever after a panic: add panic=10 to its command line'; "
	 "exit 4\n"},
	{"watchdog", "for d in /sys/class/watchdog/*; do\n"
		     "  [ -e \"$d\" ] && { echo \"$(cat $d/identity 2>/dev/null || echo "
		     "${d##*/})\"; exit 0; }\n"
		     "done\n"
		     "echo 'none: a kernel that hangs needs the power switch'; exit 4\n"},
	{"boot entry",
	 "g=/boot/grub/grubenv\n"
	 "[ -f $g ] && grep -q '^next_entry=.' $g && { echo \"a one-shot entry is left in $g: "
	 "grub-editenv - unset next_entry\"; exit 3; }\n"
	 "command -v efibootmgr >/dev/null && efibootmgr 2>/dev/null | grep -q ^BootNext && { echo "
	 "'BootNext is set: efibootmgr -N'; exit 3; }\n"
	 "echo 'nothing is left that would boot another kernel once'\n"},
	{"firmware",
	 "d=/sys/class/dmi/id\n"
	 "echo \"$(cat $d/sys_vendor $d/product_name $d/bios_version 2>/dev/null | tr '\\n' ' ')\""
	 "\"nodes $(ls -d /sys/devices/system/node/node* 2>/dev/null | wc -l) cpus $(nproc)\"\n"},
	{"governor", "g=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\n"
		     "[ -r $g ] || { echo 'no frequency scaling is seen'; exit 0; }\n"
		     "[ \"$(cat $g)\" = performance ] || { echo \"$(cat $g): the agent sets "
		     "performance for each "
		     "run\"; exit 4; }\n"
		     "echo performance\n"},
};

static bool check_script(struct check *c, const char *what, const char *script, struct err *err)
{
	AUTO_STR out = str_new();
	int status = -1;
	const char *text, *nl;

	if (!ssh_script(&c->ssh, script, SCRIPT_S, &out, &status, err)) {
		say(c, what, CHECK_BAD, err->msg);
		return !must_stop(err);
	}
	text = str_trim(out.s);
	nl = strrchr(text, '\n');
	say(c, what,
	    status == 0	  ? CHECK_OK
	    : status == 4 ? CHECK_NOTE
			  : CHECK_BAD,
	    nl ? nl + 1 : text);
	return true;
}

static bool check_scripts(struct check *c, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		if (!check_script(c, scripts[i].what, scripts[i].script, err))
			return false;
	return true;
}

/* One line for each thing that the recipe's newest kernel lacks. */
static void say_lacks(struct check *c, const char *recipe, const char *what, const char *lacks)
{
	AUTO_STR text = str_new();

	str_addf(&text, "kernels of recipe %s would not have %s: add %s to it%s", recipe, what,
		 lacks,
		 strstr(lacks, "as a module") ? ", or set modules = true (and initrd-command)"
					      : "");
	say(c, "config", CHECK_BAD, text.s);
}

static bool has_initrd(const struct check *c)
{
	static const char *const keys[] = {"initrd", "target-initrd", "initrd-command"};
	const struct conf *conf = c->worker->settings->conf;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (conf_str(conf, "machine", c->machine, keys[i]))
			return true;
	return false;
}

/* What the machine wants, against the configuration of the recipe's newest build. Fragments of tests say nothing. */
static void compare_config(struct check *c, const char *recipe, const struct needs *needs,
			   const char *config)
{
	const struct conf *conf = c->worker->settings->conf;
	bool modules = conf_bool(conf, "machine", c->machine, "modules");
	bool initramfs = !strcmp(conf_str(conf, "machine", c->machine, "root"), "initramfs");
	bool by_console = !strcmp(conf_str(conf, "machine", c->machine, "results"), "console");
	AUTO_STR network = str_new(), root = str_new(), text = str_new();

	if (!needs_is_config(config))
		return;
	if (!initramfs || !by_console)
		needs_lacks(&needs->network, config, modules && !initramfs, &network);
	if (!initramfs)
		needs_lacks(&needs->root, config, modules && has_initrd(c), &root);
	if (network.len)
		say_lacks(c, recipe, "the network", network.s);
	if (root.len)
		say_lacks(c, recipe, "the root file system", root.s);
	if (strstr(config, "\n# CONFIG_MAGIC_SYSRQ is not set")) {
		str_addf(&text,
			 "recipe %s has no CONFIG_MAGIC_SYSRQ: a tested kernel that hangs is "
			 "restarted by reboot, a watchdog or the power switch only",
			 recipe);
		say(c, "config", CHECK_NOTE, text.s);
	} else if (!network.len && !root.len) {
		str_addf(&text, "recipe %s has what its network and root file system need", recipe);
		say(c, "config", CHECK_OK, text.s);
	}
}

static bool check_recipe(struct check *c, const char *recipe, const struct needs *needs,
			 struct store *store, struct err *err)
{
	AUTO_FREE char *sha256 = NULL, *path = NULL;
	AUTO_STR config = str_new();

	if (!build_config(c->worker->db, recipe, &sha256, err))
		return false;
	if (!sha256)
		return true;
	if (store_get(store, sha256, &path, err) && fs_read(path, MAX_CONFIG, &config, err))
		compare_config(c, recipe, needs, config.s);
	else
		say(c, "config", CHECK_NOTE, err->msg);
	return true;
}

/* Of all trees: any of them may be measured here. */
static bool check_recipes(struct check *c, const struct needs *needs, struct err *err)
{
	const struct conf *conf = c->worker->settings->conf;
	AUTO_FREE char *dir = settings_path(c->worker->settings, "artifacts");
	const struct strs *trees = conf_names(conf, "tree");
	CLEANUP(store_free_ptr) struct store *store = NULL;
	AUTO_STRS recipes = STRS_INIT;

	if (!c->worker->db || !fs_exists(dir))
		return true;
	if (!store_open(dir, &store, err)) {
		say(c, "config", CHECK_NOTE, err->msg);
		return true;
	}
	for (size_t i = 0; i < trees->n; i++) {
		const char *recipe = conf_str(conf, "tree", trees->v[i], "recipe");

		if (!recipe || strs_has(&recipes, recipe))
			continue;
		strs_push(&recipes, recipe);
		if (!check_recipe(c, recipe, needs, store, err))
			return false;
	}
	return true;
}

/* In a tested kernel they are not there by themselves. */
static bool check_drivers(struct check *c, struct err *err)
{
	CLEANUP(needs_release) struct needs needs = {0};
	AUTO_STR out = str_new(), text = str_new();
	AUTO_FREE char *network = NULL, *root = NULL;
	int status = -1;

	if (!ssh_script(&c->ssh, needs_script, SCRIPT_S, &out, &status, err)) {
		say(c, "drivers", CHECK_BAD, err->msg);
		return !must_stop(err);
	}
	needs_parse(out.s, &needs);
	network = strs_join(&needs.network, " ");
	root = strs_join(&needs.root, " ");
	str_addf(&text, "tested kernels need: network by %s, / by %s",
		 *network ? network : "(unknown)", *root ? root : "(unknown)");
	say(c, "drivers", CHECK_OK, text.s);
	return check_recipes(c, &needs, err);
}

static const char modules_script[] =
	"command -v depmod >/dev/null || { echo 'it has no depmod, which modules = true needs: "
	"install kmod'; exit 3; }\n"
	"mkdir -p /lib/modules && [ -w /lib/modules ] || { echo '/lib/modules cannot be written: "
	"set modules = false'; exit 3; }\n"
	"echo \"/lib/modules has $(df -Pk /lib/modules | awk 'NR == 2 { printf \"%d\", $4 / 1024 "
	"}') "
	"MiB free\"\n";

static bool check_modules(struct check *c, struct err *err)
{
	return !conf_bool(c->worker->settings->conf, "machine", c->machine, "modules") ||
	       check_script(c, "modules", modules_script, err);
}

/* As the settings make it, but for the machine's own kernel. */
static bool check_initrd(struct check *c, struct err *err)
{
	const struct conf *conf = c->worker->settings->conf;
	const char *local = conf_str(conf, "machine", c->machine, "initrd");
	const struct target_kernel kernel = {
		.remote_initrd = conf_str(conf, "machine", c->machine, "target-initrd"),
		.initrd_command = conf_str(conf, "machine", c->machine, "initrd-command"),
	};
	bool ok = true;

	if (!strcmp(conf_str(conf, "machine", c->machine, "root"), "initramfs") ||
	    (!local && !kernel.remote_initrd && !kernel.initrd_command))
		return true;
	if (local && access(local, R_OK))
		ok = err_sys(err, "cannot read %s, which initrd names", local);
	ok = ok &&
	     target_try_initrd(&c->ssh, target_dir(c->worker, c->machine), &kernel, LOAD_S, err);
	say(c, "initrd", ok ? CHECK_OK : CHECK_BAD,
	    ok ? "what the settings name is there" : err->msg);
	return ok || !must_stop(err);
}

/* ssh and sudo in one: the look runs as root. Nothing else can be looked at without. */
static bool check_ssh(struct check *c, struct err *err)
{
	if (!ssh_connect(&c->ssh, LOOK_S, err)) {
		say(c, "ssh", CHECK_BAD, err->msg);
		return false;
	}
	say(c, "ssh", CHECK_OK, "it answers, and its host key is the pinned one");
	if (!target_look(&c->ssh, target_dir(c->worker, c->machine), LOOK_S, &c->state, err)) {
		say(c, "root", CHECK_BAD, err->msg);
		return false;
	}
	say(c, "root", CHECK_OK, "scripts run as root");
	return true;
}

static bool check_kexec(struct check *c)
{
	struct err err;

	if (!target_can_load(&c->state, c->machine, target_dir(c->worker, c->machine), &err)) {
		say(c, "kexec", CHECK_BAD, err.msg);
		return false;
	}
	say(c, "kexec", CHECK_OK, c->state.release);
	return true;
}

static bool check_power(struct check *c, struct err *err)
{
	enum power_state state;

	if (!power_count(c->power)) {
		say(c, "power", CHECK_NOTE,
		    "no power control: a machine that hangs waits for a person; set power");
		return true;
	}
	if (power_state(c->power, &state, err)) {
		say(c, "power", state == POWER_IS_OFF ? CHECK_BAD : CHECK_OK,
		    state == POWER_IS_OFF ? "the switch says off, and the machine answers: it is "
					    "another machine's switch"
					  : power_state_name(state));
		return true;
	}
	say(c, "power", CHECK_BAD, err->msg);
	return !must_stop(err);
}

/* A line that we make the kernel say has to come out of the console. */
static bool console_echoes(struct check *c, size_t cursor, struct err *err)
{
	AUTO_STR script = str_new(), out = str_new(), seen = str_new();
	double end = clock_mono_s() + CONSOLE_S;
	int status;

	str_addf(&script, "echo '<0>mmperf-check %lld' >/dev/kmsg\n",
		 (long long)c->worker->lease.token);
	if (!ssh_script(&c->ssh, script.s, SCRIPT_S, &out, &status, err))
		return false;
	while (clock_mono_s() < end) {
		if (!console_source_read(c->console, &cursor, (size_t)1 << 20, &seen, err) ||
		    !worker_tick(c->worker, err))
			return false;
		if (strstr(seen.s, "mmperf-check"))
			return true;
		clock_sleep_s(0.2);
	}
	return err_set(
		err, ERR_TIMEOUT,
		"what the kernel says does not come out: add console=ttyS0,115200 (or the line "
		"that is wired) to its command line");
}

static bool check_console(struct check *c, struct err *err)
{
	size_t cursor = 0;

	if (!c->console) {
		say(c, "console", CHECK_NOTE,
		    "none: a panic cannot be told from a hang; set console");
		return true;
	}
	if (console_source_mark(c->console, "machine check", &cursor, err) &&
	    console_echoes(c, cursor, err)) {
		say(c, "console", CHECK_OK, "what the kernel says comes out");
		return true;
	}
	say(c, "console", CHECK_BAD, err->msg);
	return !must_stop(err);
}

static bool check_agent(struct check *c, struct err *err)
{
	static const char job[] = "{\"v\":1,\"nonce\":\"check\",\"suites\":[]}";
	AUTO_STR script = str_new(), out = str_new();
	int status = -1;

	if (!c->wish->agent)
		return true;
	if (!target_push_agent(&c->ssh, target_dir(c->worker, c->machine), c->wish->agent,
			       c->state.agent, job, &script, err) ||
	    !ssh_script(&c->ssh, script.s, SCRIPT_S, &out, &status, err)) {
		say(c, "agent", CHECK_BAD, err->msg);
		return !must_stop(err);
	}
	if (status == 0 && strstr(out.s, "\"end\""))
		say(c, "agent", CHECK_OK, "it runs, and has set and read back the knobs");
	else
		say(c, "agent", CHECK_BAD, out.len ? out.s : "it did not come to its end");
	return true;
}

/* The machine's own kernel into itself, with its own initrd: if that fails, no tested kernel can boot. */
static const char own_kernel_script[] =
	"r=$(uname -r)\n"
	"for k in /boot/vmlinuz-$r /boot/bzImage-$r /vmlinuz; do [ -f \"$k\" ] && break; done\n"
	"for i in /boot/initrd.img-$r /boot/initramfs-$r.img /boot/initrd-$r /initrd.img ''; do\n"
	"  [ -f \"$i\" ] && break\n"
	"done\n"
	"[ -f \"$k\" ] || { echo \"its own kernel is not in /boot: the round trip cannot be "
	"tried\"; exit "
	"3; }\n"
	"kexec -u >/dev/null 2>&1\n"
	"for how in -s -c; do\n"
	"  kexec $how -l \"$k\" ${i:+--initrd=\"$i\"} --reuse-cmdline 2>&1\n"
	"  [ \"$(cat /sys/kernel/kexec_loaded)\" = 1 ] && exit 0\n"
	"done\n"
	"exit 3\n";

static bool jump_home(struct check *c, struct err *err)
{
	const struct conf *conf = c->worker->settings->conf;
	bool direct = !strcmp(conf_str(conf, "machine", c->machine, "jump"), "direct");
	AUTO_FREE char *before = xstrdup(c->state.boot_id);
	AUTO_STR out = str_new();
	int status = -1;

	if (!ssh_script(&c->ssh, own_kernel_script, LOAD_S, &out, &status, err))
		return false;
	if (status)
		return err_set(err, ERR_FAILED, "%s", str_trim(out.s));
	return target_jump(&c->ssh, direct, err) &&
	       recovery_wait(&c->ssh, target_dir(c->worker, c->machine), before,
			     conf_f64(conf, "machine", c->machine, "boot-timeout"), NULL, &c->state,
			     err);
}

static bool come_home(struct check *c, struct err *err)
{
	CLEANUP(recovery_release) struct recovery r;

	recovery_init(&r, &c->ssh, c->machine);
	r.power = c->power;
	r.console = c->console;
	if (!recovery_run(&r, c->state.boot_id, err)) {
		say(c, "recovery", CHECK_BAD, err->msg);
		return false;
	}
	say(c, "recovery", CHECK_OK, r.steps.s);
	return true;
}

static bool check_jump(struct check *c, struct err *err)
{
	AUTO_STR text = str_new();
	double started = clock_mono_s();

	if (!c->wish->jump)
		return true;
	if (jump_home(c, err)) {
		str_addf(&text, "a round trip by kexec took %.0f s", clock_mono_s() - started);
		say(c, "jump", CHECK_OK, text.s);
		return true;
	}
	say(c, "jump", CHECK_BAD, err->msg);
	return !must_stop(err) && come_home(c, err);
}

static bool check_cycle(struct check *c, struct err *err)
{
	AUTO_FREE char *before = xstrdup(c->state.boot_id);
	const struct conf *conf = c->worker->settings->conf;
	AUTO_STR text = str_new();
	double started = clock_mono_s();

	if (!c->wish->power || !power_count(c->power))
		return true;
	ssh_disconnect(&c->ssh);
	if (power_do(c->power, POWER_CYCLE, err) &&
	    recovery_wait(&c->ssh, target_dir(c->worker, c->machine), before,
			  conf_f64(conf, "machine", c->machine, "reboot-timeout"), NULL, &c->state,
			  err)) {
		str_addf(&text, "it was back %.0f s after a power cycle", clock_mono_s() - started);
		say(c, "power cycle", CHECK_OK, text.s);
		return true;
	}
	say(c, "power cycle", CHECK_BAD, err->msg);
	return false;
}

static bool set_out(struct check *c, struct err *err)
{
	const struct power_guard guard = {recovery_may, c->worker};
	AUTO_FREE char *path = xasprintf("%s/console", c->worker->dir);
	const struct settings *settings = c->worker->settings;

	if (power_open(settings, c->machine, &guard, &c->power, err) &&
	    console_source_open(settings, c->machine, path, &c->console, err))
		return true;
	say(c, "settings", CHECK_BAD, err->msg);
	return false;
}

static void clean_up(struct check *c)
{
	struct err ignored;

	if (c->ssh.dir && !target_clean(&c->ssh, target_dir(c->worker, c->machine), &ignored))
		ssh_disconnect(&c->ssh);
	ssh_release(&c->ssh);
	power_free(c->power);
	console_source_free(c->console);
	target_state_release(&c->state);
}

bool check_machine(struct worker *w, const char *machine, const struct check_wish *wish,
		   const struct check_out *out, struct err *err)
{
	struct check c = {.worker = w, .machine = machine, .wish = wish, .out = out};
	bool ok;

	ssh_init(&c.ssh, w, machine);
	ok = set_out(&c, err) && check_ssh(&c, err) && check_scripts(&c, err) &&
	     check_drivers(&c, err) && check_modules(&c, err) && check_initrd(&c, err) &&
	     check_power(&c, err) && check_console(&c, err) && check_agent(&c, err) &&
	     (!check_kexec(&c) || check_jump(&c, err)) && check_cycle(&c, err);
	clean_up(&c);
	if (c.bad && (ok || !must_stop(err)))
		return err_set(err, ERR_FAILED, "machine %s cannot be used as it is", machine);
	return ok;
}
