// SPDX-License-Identifier: GPL-2.0-or-later
/* On the test machine. */
#include "runner/target.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

#define SCRIPT_S     60.0
#define REBOOT_S     60.0
/* Kernel, initrd and agent: about 40 MB at most so far. */
#define WANTED_BYTES ((int64_t)64 << 20)

/* A dot makes the kernel take it for a parameter of a module that is not there. */
#define TOKEN_WORD "mmperf.token="

#define MODULES_MARK ".mmperf"

/* Words of a running command line that a jump must not inherit. */
static const char *const dropped[] = {
	"BOOT_IMAGE=", "initrd=", "crashkernel=", "acpi_rsdp=", TOKEN_WORD};

/* Modules that an attempt installed, and nobody uses any more: a mark tells them from the machine's own. */
#define DROP_MODULES                                                              \
	"for m in /lib/modules/*/" MODULES_MARK "; do\n"                          \
	"  [ ! -f \"$m\" ] || [ \"${m%/*}\" = \"/lib/modules/$(uname -r)\" ] || " \
	"rm -rf \"${m%/*}\"\n"                                                    \
	"done\n"

/* With what the shell has built in where that does: it runs while the machine is busy coming up. */
static const char look_script[] =
	"say() { printf '%s=%s\\n' \"$1\" \"$2\"; }\n"
	"get() { v=; [ ! -r \"$2\" ] || read -r v <\"$2\"; say \"$1\" \"$v\"; }\n"
	"umask 022\n"
	"[ -d \"$dir\" ] || mkdir -p \"$dir\" || exit 3\n"
	"chown \"${SUDO_UID:-0}:${SUDO_GID:-0}\" \"$dir\"\n"
	/* of an attempt that broke off; what came read-only could not be written again */
	"cd \"$dir\" || exit 3\n"
	"rm -f kernel initrd modules agent.new job.json\n"
	"get boot_id /proc/sys/kernel/random/boot_id\n"
	"get release /proc/sys/kernel/osrelease\n"
	"say notes \"$(od -An -v -tx1 /sys/kernel/notes 2>/dev/null | tr -d ' \\n')\"\n"
	"get loaded /sys/kernel/kexec_loaded\n"
	"get disabled /proc/sys/kernel/kexec_load_disabled\n"
	"v=; [ ! -r /sys/kernel/security/lockdown ] || read -r v </sys/kernel/security/lockdown\n"
	"v=${v#*[[]}\n"
	"say lockdown \"${v%%[]]*}\"\n"
	"get healthy healthy\n"
	"[ ! -f agent ] || get agent agent.sum\n"
	"say rsdp \"$(sed -n 's/^ACPI20=//p' /sys/firmware/efi/systab 2>/dev/null)\"\n"
	"df -Pk . | { read -r v; read -r v v v v rest; say free \"$v\"; }\n"
	"read -r v rest </proc/uptime\n"
	"say uptime \"$v\"\n"
	"get cmdline /proc/cmdline\n";

/* Each step that fails says why on a line of its own, which is what the user sees. */
#define FAIL "fail() { echo \"$*\" >&2; exit 3; }\n"

/* What is done with files that were pushed begins so; a line `check SUM NAME` for each of them follows. */
#define ARRIVED                                                                               \
	FAIL "cd \"$dir\" || fail \"cannot enter $dir\"\n"                                    \
	     "check() { echo \"$1  $2\" | sha256sum -c --status || fail \"${2%.new} arrived " \
	     "damaged in $dir\"; }\n"

/* make_initrd KERNEL RELEASE: $initrd becomes what $command prints, if there is a command. Ours is the script's own input,
 * which the command may not read. */
#define MAKE_INITRD                                                                            \
	"make_initrd() {\n"                                                                    \
	"  if [ -n \"$command\" ]; then\n"                                                     \
	"    initrd=$(KERNEL=$1 RELEASE=$2 sh -c \"$command\" 2>initrd.err </dev/null) || {\n" \
	"      status=$?\n"                                                                    \
	"      said=$(tail -n 1 initrd.err)\n"                                                 \
	"      fail \"its initrd-command failed (status $status)${said:+: $said}; try it "     \
	"there as root, with KERNEL=$1\"\n"                                                    \
	"    }\n"                                                                              \
	"    [ -n \"$initrd\" ] || fail 'its initrd-command printed no path: its output has "  \
	"to be the name of the initrd'\n"                                                      \
	"  fi\n"                                                                               \
	"  [ -z \"$initrd\" ] || [ -f \"$initrd\" ] || fail \"its initrd $initrd is not "      \
	"there: see initrd-command and target-initrd\"\n"                                      \
	"}\n"

/* Marked before anything is in it, so that a kill leaves nothing that is taken for the machine's own. */
static const char modules_script[] =
	"unpack_modules() {\n"
	"  command -v depmod >/dev/null || fail 'it has no depmod, which modules = true needs: "
	"install kmod'\n"
	"  rm -rf unpacked\n"
	"  said=$(mkdir unpacked 2>&1 && tar -xzf modules --no-same-owner -C unpacked 2>&1) ||\n"
	"    fail \"its modules cannot be unpacked in $dir: $(echo \"$said\" | head -n 1)\"\n"
	"  set -- unpacked/lib/modules/*\n"
	"  [ $# = 1 ] && [ -d \"$1\" ] && [ ! -L \"$1\" ] || fail 'its modules are not those of "
	"one kernel'\n"
	"  release=${1##*/}\n"
	"  to=/lib/modules/$release\n"
	"  rmdir \"$to\" 2>/dev/null\n"
	"  [ ! -e \"$to\" ] || [ -f \"$to/" MODULES_MARK "\" ] || fail \"$to is the machine's own: "
	"give tested kernels another release by CONFIG_LOCALVERSION\"\n"
	"  said=$({ rm -rf \"$to\" && mkdir -p \"$to\" && : >\"$to/" MODULES_MARK
	"\" && cp -R \"$1\"/* \"$to\" && depmod \"$release\"; } 2>&1) ||\n"
	"    fail \"its modules cannot be installed in $to: $(echo \"$said\" | head -n 1)\"\n"
	"  rm -rf unpacked modules\n"
	"}\n";

static const char load_script[] = DROP_MODULES
	"release=\n"
	"[ ! -f modules ] || unpack_modules\n"
	"make_initrd \"$dir/kernel\" \"$release\"\n"
	"command -v kexec >/dev/null || fail 'it has no kexec: install kexec-tools'\n"
	"kexec -u >/dev/null 2>&1\n"
	"why=''\n"
	"for how in -s -c; do\n"
	"  said=$(kexec $how -l kernel ${initrd:+--initrd=\"$initrd\"} --command-line=\"$line\" "
	"2>&1)\n"
	"  if [ \"$(cat /sys/kernel/kexec_loaded)\" = 1 ]; then echo \"how=$how\"; dmesg; sync; "
	"exit 0; fi\n"
	"  why=\"$why; kexec $how: $(printf %s \"$said\" | tail -n 1)\"\n"
	"done\n"
	"fail \"the kernel cannot be loaded${why}\"\n";

/* The answer has to be on its way before the machine goes, else we would wait for it. */
static const char direct_script[] =
	"[ \"$(cat /sys/kernel/kexec_loaded)\" = 1 ] || exit 3\n"
	"sync\n"
	"setsid sh -c 'sleep 0.2; exec kexec -e' >/dev/null 2>&1 </dev/null &\n";

static const char shutdown_script[] =
	"[ \"$(cat /sys/kernel/kexec_loaded)\" = 1 ] || exit 3\n"
	"setsid sh -c 'sleep 0.2; exec systemctl kexec' >/dev/null 2>&1 </dev/null &\n";

/* With a kernel loaded, systemd would turn a reboot into a jump. */
static const char reboot_script[] =
	"kexec -u >/dev/null 2>&1\n"
	"[ \"$(cat /sys/kernel/kexec_loaded 2>/dev/null)\" != 1 ] || echo 'a kernel stays loaded'\n"
	"export SYSTEMCTL_SKIP_AUTO_KEXEC=1\n"
	"setsid sh -c 'sleep 0.2; exec reboot' >/dev/null 2>&1 </dev/null &\n";

/* A kernel without CONFIG_MAGIC_SYSRQ is told by reboot(2), which asks its drivers first, what may hang. */
static const char sysrq_script[] =
	"kexec -u >/dev/null 2>&1\n"
	"[ ! -e /proc/sys/kernel/sysrq ] || echo 1 >/proc/sys/kernel/sysrq\n"
	"[ -w /proc/sysrq-trigger ] || { sync; export SYSTEMCTL_SKIP_AUTO_KEXEC=1; setsid sh -c "
	"'sleep 0.2; reboot -f -f || reboot -f' >/dev/null 2>&1 </dev/null & exit 0; }\n"
	"setsid sh -c 'sleep 0.2; for k in s u b; do echo $k; sleep 0.5; done >/proc/sysrq-trigger'"
	" >/dev/null 2>&1 </dev/null &\n";

/* The agent stays: the next attempt need not bring it, which costs time just when its kernel is up. */
#define KEEP_AGENT                                                                      \
	"[ ! -f agent.new ] || { chmod 755 agent.new && mv -f agent.new agent && echo " \
	"\"$agent_sum\" >agent.sum; } || fail \"the agent cannot be kept in $dir\"\n"

static const char agent_script[] =
	"exec 2>agent.err\n"
	"umask 077\n"
	"printf %s \"$job\" >job.json || fail 'the job cannot be written'\n"
	"echo \"$agent_sum  agent\" | sha256sum -c --status || { rm -f agent.sum; fail 'the agent "
	"arrived damaged'; }\n"
	"exec ./agent --job job.json </dev/null\n";

void target_state_release(struct target_state *state)
{
	free(state->command_line);
	*state = (struct target_state){0};
}

const char *target_dir(const struct worker *worker, const char *machine)
{
	return conf_str(worker->settings->conf, "machine", machine, "target-dir");
}

/* Little endian words of a note in hexadecimal text; SIZE_MAX when it ends before. */
static size_t word_at(const char *hex, size_t at)
{
	size_t value = 0;

	if (strnlen(hex, at + 8) < at + 8)
		return SIZE_MAX;
	for (int byte = 3; byte >= 0; byte--) {
		char two[3] = {hex[at + 2 * (size_t)byte], hex[at + 2 * (size_t)byte + 1], '\0'};

		value = value << 8 | strtoul(two, NULL, 16);
	}
	return value;
}

void target_build_id(const char *notes, char out[TARGET_ID_SIZE])
{
	size_t n = strlen(notes), at = 0;

	out[0] = '\0';
	while (at + 24 <= n) {
		size_t name = word_at(notes, at), desc = word_at(notes, at + 8);
		size_t type = word_at(notes, at + 16);
		size_t name_hex = ((name + 3) & ~(size_t)3) * 2,
		       desc_hex = ((desc + 3) & ~(size_t)3) * 2;

		at += 24;
		if (name > n || desc > n || name_hex > n - at || desc_hex > n - at - name_hex)
			return;
		if (type == 3 && name == 4 && !strncmp(notes + at, "474e5500", 8) &&
		    desc * 2 < TARGET_ID_SIZE) {
			memcpy(out, notes + at + name_hex, desc * 2);
			out[desc * 2] = '\0';
			return;
		}
		at += name_hex + desc_hex;
	}
}

/* The value of NAME=VALUE at the start of a line; the caller frees it. */
static char *value_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == '=')
			return xstrndup(line + n + 1, strcspn(line + n + 1, "\r\n"));
	}
	return xstrdup("");
}

static void copy_value(const char *text, const char *name, char *out, size_t size)
{
	AUTO_FREE char *value = value_of(text, name);

	snprintf(out, size, "%s", value);
}

static double number_of(const char *text, const char *name, double fallback)
{
	AUTO_FREE char *value = value_of(text, name);
	double number;

	return str_to_f64(value, &number) ? number : fallback;
}

static void read_token(struct target_state *state, const char *text)
{
	AUTO_FREE char *healthy = value_of(text, "healthy");
	const char *word = strstr(state->command_line, TOKEN_WORD);

	state->tested = word != NULL;
	state->token = word ? strtoll(word + strlen(TOKEN_WORD), NULL, 10) : 0;
	state->healthy = !strcmp(healthy, state->boot_id);
}

bool target_state_parse(const char *text, struct target_state *state, struct err *err)
{
	AUTO_FREE char *notes = value_of(text, "notes");

	target_state_release(state);
	copy_value(text, "boot_id", state->boot_id, sizeof(state->boot_id));
	copy_value(text, "release", state->release, sizeof(state->release));
	copy_value(text, "rsdp", state->rsdp, sizeof(state->rsdp));
	copy_value(text, "agent", state->agent, sizeof(state->agent));
	copy_value(text, "lockdown", state->lockdown, sizeof(state->lockdown));
	target_build_id(notes, state->build_id);
	state->loaded = (int)number_of(text, "loaded", -1);
	state->refuses = number_of(text, "disabled", 0) > 0;
	state->free_bytes = (int64_t)number_of(text, "free", 0) * 1024;
	state->uptime_s = number_of(text, "uptime", 0);
	state->command_line = value_of(text, "cmdline");
	read_token(state, text);
	if (strlen(state->boot_id) == 36)
		return true;
	return err_set(err, ERR_FAILED, "it does not tell its boot_id");
}

/* The last line of what a script said, for a message. */
static char *last_line(struct str *said)
{
	const char *text = str_trim(said->s), *nl = strrchr(text, '\n');

	return xstrdup(nl ? nl + 1 : text);
}

/* Runs it; another status than 0 is an error in the script's own words, or ssh's. */
static bool run(struct ssh *ssh, const char *script, double timeout_s, struct str *out,
		struct err *err)
{
	AUTO_FREE char *line = NULL;
	int status = -1;

	if (!ssh_script(ssh, script, timeout_s, out, &status, err))
		return false;
	if (status == 0)
		return true;
	if (status == 255 || strstr(out->s, "sudo: "))
		return ssh_explain(ssh, out->s, err);
	line = last_line(out);
	return err_set(err, ERR_FAILED, "machine %s: %s", ssh->destination,
		       *line ? line : "a command failed there without a word");
}

bool target_look(struct ssh *ssh, const char *dir, double timeout_s, struct target_state *state,
		 struct err *err)
{
	AUTO_STR script = str_new(), out = str_new();

	ssh_assign(&script, "dir", dir);
	str_add(&script, look_script);
	return ssh_connect(ssh, timeout_s, err) && run(ssh, script.s, timeout_s, &out, err) &&
	       (target_state_parse(out.s, state, err) ||
		err_wrap(err, "machine %s", ssh->destination));
}

bool target_can_load(const struct target_state *s, const char *machine, const char *dir,
		     struct err *err)
{
	if (s->loaded < 0)
		return err_set(
			err, ERR_FAILED,
			"machine %s: its kernel %s has no kexec: boot one with CONFIG_KEXEC and "
			"CONFIG_KEXEC_FILE",
			machine, s->release);
	if (s->refuses)
		return err_set(
			err, ERR_FAILED,
			"machine %s: kernel.kexec_load_disabled is set there: remove it from "
			"sysctl.d and reboot",
			machine);
	if (!strcmp(s->lockdown, "integrity") || !strcmp(s->lockdown, "confidentiality"))
		return err_set(
			err, ERR_FAILED,
			"machine %s: its kernel is locked down (%s) and loads signed kernels "
			"only: turn Secure Boot off, or lockdown= on its command line",
			machine, s->lockdown);
	if (s->free_bytes < WANTED_BYTES)
		return err_set(
			err, ERR_FAILED,
			"machine %s: %s has %lld MiB free: no space left on device; make room, or "
			"name another place with target-dir",
			machine, dir, (long long)(s->free_bytes >> 20));
	return true;
}

/* Command lines -------------------------------------------------------------------------------------- */

static size_t key_length(const char *word)
{
	return strcspn(word, "=");
}

static bool same_key(const char *a, const char *b)
{
	size_t n = key_length(a);

	return n == key_length(b) && !strncmp(a, b, n);
}

static bool is_kept(const char *word, const struct strs *added)
{
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (str_starts(word, dropped[i]))
			return false;
	for (size_t i = 0; i < added->n; i++)
		if (!strcmp(word, added->v[i]) ||
		    (same_key(word, added->v[i]) && !str_starts(word, "console=")))
			return false;
	return true;
}

void target_command_line(const char *current, bool reuse, const char *words, const char *rsdp,
			 int64_t token, struct str *out)
{
	AUTO_STRS now = STRS_INIT, added = STRS_INIT, all = STRS_INIT;
	AUTO_FREE char *line = NULL;

	strs_split(&now, reuse ? current : "", " \t\n");
	strs_split(&added, words, " \t\n");
	for (size_t i = 0; i < now.n; i++)
		if (is_kept(now.v[i], &added))
			strs_push(&all, now.v[i]);
	for (size_t i = 0; i < added.n; i++)
		strs_push(&all, added.v[i]);
	if (token)
		strs_pushf(&all, TOKEN_WORD "%lld", (long long)token);
	if (rsdp && *rsdp)
		strs_pushf(&all, "acpi_rsdp=%s", rsdp);
	line = strs_join(&all, " ");
	str_add(out, line);
}

/* Loading and jumping -------------------------------------------------------------------------------- */

/* Files on their way, and the lines that check them where they arrive. */
struct files {
	struct strs locals, names;
	struct str checks;
};

static void files_release(struct files *files)
{
	strs_release(&files->locals);
	strs_release(&files->names);
	str_release(&files->checks);
}

/* local may be NULL. */
static bool add_file(struct files *files, const char *local, const char *name, struct err *err)
{
	char sum[HASH_HEX_SIZE];

	if (!local)
		return true;
	if (!hash_file(local, sum, err))
		return false;
	strs_push(&files->locals, local);
	strs_push(&files->names, name);
	str_addf(&files->checks, "check %s %s\n", sum, name);
	return true;
}

/* Unless it is there. local may be NULL. */
static bool add_agent(struct files *files, const char *local, const char *there,
		      char sum[HASH_HEX_SIZE], struct err *err)
{
	sum[0] = '\0';
	if (!local)
		return true;
	if (!hash_file(local, sum, err))
		return false;
	return !strcmp(sum, there) || add_file(files, local, "agent.new", err);
}

/* scp gives a file the name of the link to it. */
static bool link_files(const struct files *files, const char *stage, struct strs *links,
		       struct err *err)
{
	if (!fs_remove_tree(stage, err) || !fs_mkdirs(stage, 0700, err))
		return false;
	for (size_t i = 0; i < files->names.n; i++) {
		AUTO_FREE char *real = realpath(files->locals.v[i], NULL);

		strs_pushf(links, "%s/%s", stage, files->names.v[i]);
		if (!real || symlink(real, links->v[i]))
			return err_sys(err, "cannot link to %s", files->locals.v[i]);
	}
	return true;
}

/* In one session. */
static bool push_files(struct ssh *ssh, const char *dir, const struct files *files,
		       double timeout_s, struct err *err)
{
	AUTO_FREE char *stage = xasprintf("%s/push", ssh->worker->dir);
	AUTO_STRS links = STRS_INIT;

	if (!files->names.n)
		return true;
	return link_files(files, stage, &links, err) &&
	       ssh_push(ssh, &links, dir, timeout_s, err) && fs_remove_tree(stage, err);
}

/* The beginning of a script that uses them. */
static void add_arrived(struct str *script, const char *dir, const struct files *files,
			const char *agent_sum)
{
	ssh_assign(script, "dir", dir);
	ssh_assign(script, "agent_sum", agent_sum);
	str_add(script, ARRIVED);
	str_add(script, files->checks.s);
	str_add(script, KEEP_AGENT);
}

static void assign_initrd(struct str *script, const char *dir, const struct target_kernel *kernel)
{
	AUTO_FREE char *ours = xasprintf("%s/initrd", dir);
	const char *path = kernel->initrd ? ours : kernel->remote_initrd;

	ssh_assign(script, "initrd", path ? path : "");
	ssh_assign(script, "command", kernel->initrd_command ? kernel->initrd_command : "");
	str_add(script, MAKE_INITRD);
}

bool target_load(struct ssh *ssh, const char *dir, const struct target_kernel *kernel,
		 double timeout_s, char how[8], struct str *dmesg, struct err *err)
{
	CLEANUP(files_release) struct files files = {.checks = str_new()};
	AUTO_STR script = str_new(), out = str_new();
	char agent_sum[HASH_HEX_SIZE];
	AUTO_FREE char *found = NULL;
	const char *rest;

	if (!add_file(&files, kernel->kernel, "kernel", err) ||
	    !add_file(&files, kernel->initrd, "initrd", err) ||
	    !add_file(&files, kernel->modules, "modules", err) ||
	    !add_agent(&files, kernel->agent, kernel->agent_there, agent_sum, err) ||
	    !push_files(ssh, dir, &files, timeout_s, err))
		return false;
	add_arrived(&script, dir, &files, agent_sum);
	assign_initrd(&script, dir, kernel);
	ssh_assign(&script, "line", kernel->command_line);
	str_add(&script, modules_script);
	str_add(&script, load_script);
	if (!run(ssh, script.s, timeout_s, &out, err))
		return false;
	found = value_of(out.s, "how");
	snprintf(how, 8, "%s", found);
	rest = strchr(out.s, '\n');
	str_add(dmesg, rest ? rest + 1 : "");
	return true;
}

bool target_try_initrd(struct ssh *ssh, const char *dir, const struct target_kernel *kernel,
		       double timeout_s, struct err *err)
{
	AUTO_STR script = str_new(), out = str_new();

	ssh_assign(&script, "dir", dir);
	str_add(&script, ARRIVED);
	assign_initrd(&script, dir, kernel);
	str_add(&script, "make_initrd \"/boot/vmlinuz-$(uname -r)\" \"$(uname -r)\"\n"
			 "rm -f initrd initrd.err\n");
	return run(ssh, script.s, timeout_s, &out, err);
}

bool target_jump(struct ssh *ssh, bool direct, struct err *err)
{
	AUTO_STR out = str_new();
	bool ok = run(ssh, direct ? direct_script : shutdown_script, SCRIPT_S, &out, err);

	ssh_disconnect(ssh);
	return ok || err_wrap(err, "jump");
}

bool target_push_agent(struct ssh *ssh, const char *dir, const char *agent, const char *there,
		       const char *job, struct str *script, struct err *err)
{
	CLEANUP(files_release) struct files files = {.checks = str_new()};
	char sum[HASH_HEX_SIZE];

	if (!add_agent(&files, agent, there, sum, err) ||
	    !push_files(ssh, dir, &files, SCRIPT_S, err))
		return false;
	add_arrived(script, dir, &files, sum);
	ssh_assign(script, "job", job);
	str_add(script, agent_script);
	return true;
}

bool target_dmesg(struct ssh *ssh, struct str *out, struct err *err)
{
	return run(ssh, "dmesg\n", SCRIPT_S, out, err);
}

bool target_clean(struct ssh *ssh, const char *dir, struct err *err)
{
	AUTO_STR script = str_new(), out = str_new();

	ssh_assign(&script, "dir", dir);
	str_add(&script,
		"kexec -u >/dev/null 2>&1\n" DROP_MODULES
		"cd \"$dir\" && rm -rf unpacked kernel initrd initrd.err modules agent.new "
		"job.json agent.err &&\n"
		"cat /proc/sys/kernel/random/boot_id >healthy\n");
	return run(ssh, script.s, SCRIPT_S, &out, err);
}

bool target_reboot(struct ssh *ssh, enum target_reboot how, struct err *err)
{
	AUTO_STR out = str_new();
	bool ok = run(ssh, how == TARGET_SYSRQ ? sysrq_script : reboot_script, REBOOT_S, &out, err);

	ssh_disconnect(ssh);
	if (ok && strstr(out.s, "stays loaded"))
		return err_set(err, ERR_FAILED, "machine %s: %s", ssh->destination,
			       str_trim(out.s));
	return ok;
}
