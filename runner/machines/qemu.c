// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest of QEMU. The kernel is given to QEMU directly, with an initramfs that holds the agent as
 * /init and its job; the agent's lines come through a virtio port into a file. With boot = kexec
 * the guest starts a base kernel first, whose agent loads and jumps into the tested one, as a real
 * machine does.
 */
#include "runner/machines/drivers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "runner/initramfs.h"
#include "runner/machines/kvm.h"

/*
 * An oops ends the boot; so does a panic, at once: QEMU exits instead of restarting. The guest's TSC
 * is the host's clock; measured against late timer ticks it would be taken for unstable, and every
 * look at the clock would leave the guest.
 */
#define COMMAND_LINE "console=ttyS0 panic=-1 oops=panic tsc=reliable"

/*
 * Emulation has no constant TSC, so each secondary CPU would calibrate its delay loop: 0.25 s each, half
 * of the time to user space. The value is that of 1 GHz at HZ=100; devices of QEMU wait for nobody.
 */
#define EMULATED_COMMAND_LINE " lpj=10000000 no_timer_check"

static const char *qemu_method(const struct machine *m)
{
	return strcmp(machine_str(m, "boot"), "kexec") ? "direct" : "kexec";
}

static int64_t number(const struct machine *m, const char *key)
{
	return conf_i64(m->worker->settings->conf, "machine", m->name, key);
}

static double seconds(const struct machine *m, const char *key)
{
	return conf_f64(m->worker->settings->conf, "machine", m->name, key);
}

static bool wants_kvm(const struct settings *settings, const char *name)
{
	const char *accel = conf_str(settings->conf, "machine", name, "accel");

	if (!strcmp(accel, "auto"))
		return kvm_usable();
	return !strcmp(accel, "kvm");
}

static char *command_line(const struct machine *m)
{
	const char *more = machine_str(m, "append");

	bool emulated = !wants_kvm(m->worker->settings, m->name);

	return xasprintf(COMMAND_LINE "%s%s%s", emulated ? EMULATED_COMMAND_LINE : "",
			 more && *more ? " " : "", more ? more : "");
}

static char *attempt_file(const struct machine *m, const char *name)
{
	return xasprintf("%s/%s", m->worker->dir, name);
}

/* Lives no longer than the boot: not worth waiting for the disk. */
static bool write_plain(const char *path, const struct str *bytes, struct err *err)
{
	CLEANUP(mem_fclose_ptr) FILE *f = fopen(path, "we");

	if (!f || fwrite(bytes->s, 1, bytes->len, f) != bytes->len || fflush(f))
		return err_sys(err, "cannot write %s", path);
	return true;
}

/* The part that no boot changes, kept as a file named by the agent's content. */
static bool base_archive(struct machine *m, struct str *out, struct err *err)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	AUTO_FREE char *dir = xasprintf("%s/initramfs", m->worker->settings->cache_dir);
	AUTO_FREE char *path = NULL;
	char hash[HASH_HEX_SIZE];

	initramfs_init(&fs);
	if (!hash_file(m->agent, hash, err) || !fs_mkdirs(dir, 0755, err))
		return false;
	path = xasprintf("%s/%s.cpio", dir, hash);
	if (fs_exists(path))
		return fs_read(path, (size_t)1 << 30, out, err);
	if (!initramfs_base(&fs, m->agent, err))
		return err_wrap(err, "agent");
	initramfs_end(&fs);
	str_addn(out, fs.bytes.s, fs.bytes.len);
	return fs_write_atomic(path, out->s, out->len, 0644, err);
}

static bool direct_archive(struct machine *m, const char *path, struct err *err)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	AUTO_STR bytes = str_new();

	initramfs_init(&fs);
	if (!base_archive(m, &bytes, err))
		return false;
	initramfs_file(&fs, "job.json", 0644, m->job_text, strlen(m->job_text));
	initramfs_end(&fs);
	str_addn(&bytes, fs.bytes.s, fs.bytes.len);
	return write_plain(path, &bytes, err);
}

/* The base kernel's root: the tested kernel and its root as files, and a job that says so. */
static bool kexec_archive(struct machine *m, const char *inner, const char *path, struct err *err)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	AUTO_FREE char *append = command_line(m), *text = NULL;
	AUTO_STR bytes = str_new();
	AUTO_JSON *job = NULL;

	initramfs_init(&fs);
	if (!js_parse(m->job_text, strlen(m->job_text), &job, err) || !base_archive(m, &bytes, err))
		return false;
	js_set_bool(job, "kexec", true);
	js_set_str(job, "kexec_cmdline", append);
	text = js_text(job);
	initramfs_dir(&fs, "kexec");
	if (!initramfs_file_from(&fs, "kexec/bzImage", 0644, m->kernel, err) ||
	    !initramfs_file_from(&fs, "kexec/initrd", 0644, inner, err))
		return false;
	initramfs_file(&fs, "job.json", 0644, text, strlen(text));
	initramfs_end(&fs);
	str_addn(&bytes, fs.bytes.s, fs.bytes.len);
	return write_plain(path, &bytes, err);
}

/* An empty ext4 that guests write to through a throw-away overlay; sparse, made once. */
static bool disk_image(struct machine *m, char **out, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 120};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	long long mib = 2 * number(m, "memory") >> 20;
	AUTO_FREE char *path = xasprintf("%s/disk-%lldM.ext4", m->worker->settings->cache_dir, mib);
	AUTO_FREE char *fresh = xasprintf("%s.%d", path, (int)getpid());

	if (fs_exists(path)) {
		*out = TAKE(path);
		return true;
	}
	strs_pushl(&spec.argv, "mke2fs", "-q", "-F", "-t", "ext4", "-E",
		   "lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0", fresh, NULL);
	strs_pushf(&spec.argv, "%lldM", mib);
	if (!proc_run(&spec, &result, err))
		return err_wrap(err, "guest disk");
	if (result.status || rename(fresh, path)) {
		unlink(fresh);
		return err_set(err, ERR_FAILED, "guest disk: mke2fs failed: %s",
			       str_trim(result.out.s));
	}
	*out = TAKE(path);
	return true;
}

static bool qemu_load(struct machine *m, struct err *err)
{
	AUTO_FREE char *initrd = attempt_file(m, "initrd"),
		       *outer = attempt_file(m, "outer-initrd");
	AUTO_FREE char *disk = NULL;

	if (!m->kernel)
		return err_set(err, ERR_USAGE,
			       "machine %s boots images only; the running kernel is "
			       "measured by machines of driver local",
			       m->name);
	if (!strcmp(machine_str(m, "accel"), "kvm") && !kvm_usable())
		return err_set(err, ERR_USAGE,
			       "machine %s has accel = kvm, but this host cannot: /dev/kvm and a "
			       "CPU with vmx or svm are needed; set accel = tcg or auto",
			       m->name);
	if (!direct_archive(m, initrd, err) || !disk_image(m, &disk, err))
		return false;
	return strcmp(qemu_method(m), "kexec") || kexec_archive(m, initrd, outer, err);
}

/* QEMU's option syntax ends a value at a comma; a doubled one stands for itself. */
static void push_option(struct strs *argv, const char *before, const char *path, const char *after)
{
	AUTO_STR s = str_new();

	str_add(&s, before);
	for (; *path; path++)
		str_add(&s, *path == ',' ? ",," : (const char[]){*path, '\0'});
	str_add(&s, after);
	strs_push(argv, s.s);
}

static void push_machine(struct strs *argv, const struct machine *m)
{
	bool kvm = wants_kvm(m->worker->settings, m->name);
	long long mib = number(m, "memory") >> 20;
	long long cpus = number(m, "cpus");

	/*
	 * Without the hypervisor bit the guest keeps its native spinlocks, whose waits are seen.
	 * Emulation does `rep stosb` byte by byte: without ERMS clearing a page does not drown the
	 * rest of a fault, and boots differ half as much.
	 */
	strs_pushl(argv, "-machine", "q35,memory-backend=ram,hpet=off", "-accel",
		   kvm ? "kvm" : "tcg,thread=multi", "-cpu",
		   kvm ? "host,migratable=off,-hypervisor" : "max,-hypervisor,-erms", NULL);
	strs_push(argv, "-smp");
	strs_pushf(argv, "%lld", cpus);
	strs_push(argv, "-m");
	strs_pushf(argv, "%lldM", mib);
	strs_push(argv, "-object");
	strs_pushf(argv, "memory-backend-ram,id=ram,size=%lldM,prealloc=on,prealloc-threads=%lld",
		   mib, cpus);
}

static void push_devices(struct strs *argv, const struct machine *m, const char *disk)
{
	strs_pushl(argv, "-device", "virtio-serial-pci", NULL);
	strs_push(argv, "-chardev");
	push_option(argv, "file,id=agent,path=", m->lines_path, "");
	strs_pushl(argv, "-device", "virtserialport,chardev=agent,name=mmperf", NULL);
	strs_push(argv, "-chardev");
	push_option(argv, "file,id=console,path=", m->console_path, "");
	strs_pushl(argv, "-serial", "chardev:console", NULL);
	strs_push(argv, "-drive");
	push_option(argv, "if=none,id=disk,format=raw,snapshot=on,file=", disk, "");
	strs_pushl(argv, "-device", "virtio-blk-pci,drive=disk,serial=mmperf", NULL);
}

static void push_kernel(struct strs *argv, const struct machine *m)
{
	bool kexec = !strcmp(qemu_method(m), "kexec");
	const char *base = machine_str(m, "base-kernel");
	AUTO_FREE char *initrd = attempt_file(m, kexec ? "outer-initrd" : "initrd");
	AUTO_FREE char *append = command_line(m);

	strs_pushl(argv, "-kernel", kexec && base ? base : m->kernel, "-initrd", initrd, "-append",
		   append, NULL);
}

static bool qemu_start(struct machine *m, struct err *err)
{
	AUTO_FREE char *log = attempt_file(m, "qemu.log"), *disk = NULL;
	CLEANUP(proc_spec_release)
	struct proc_spec spec = {.out_path = log, .cpus = m->worker->cpus};
	AUTO_STR said = str_new();
	struct err ignored;
	int status = -1;

	if (!disk_image(m, &disk, err))
		return false;
	strs_pushf(&spec.env, "TMPDIR=%s", m->worker->dir);
	strs_pushl(&spec.argv, "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display",
		   "none", "-no-reboot", NULL);
	push_machine(&spec.argv, m);
	push_devices(&spec.argv, m, disk);
	push_kernel(&spec.argv, m);
	m->started_s = clock_mono_s();
	if (!quiet_begin(&m->quiet, m->worker->cpus))
		log_warn("machine %s: /proc/stat cannot be read: disturbance is not seen", m->name);
	if (!proc_start(&spec, &m->proc, err) ||
	    !machine_follow(m, MACHINE_HELLO, seconds(m, "boot-timeout"), &status, err))
		return false;
	if (status <= 0)
		return true;
	if (!fs_read(log, 65536, &said, &ignored))
		str_clear(&said);
	return err_set(err, ERR_FAILED, "qemu ended with status %d: %s", status, str_trim(said.s));
}

static bool qemu_confirm(struct machine *m, struct err *err)
{
	return machine_confirm(m, true, err);
}

static bool qemu_run(struct machine *m, struct err *err)
{
	if (!machine_follow(m, MACHINE_END, seconds(m, "run-timeout"), NULL, err))
		return false;
	m->foreign_share = quiet_share(&m->quiet, m->proc.pid);
	return true;
}

static bool qemu_collect(struct machine *m, struct err *err _unused)
{
	machine_stop(m);
	return true;
}

static bool qemu_recover(struct machine *m, struct err *err _unused)
{
	machine_stop(m);
	return true;
}

static int qemu_cpus(const struct settings *settings, const char *name)
{
	return (int)conf_i64(settings->conf, "machine", name, "cpus");
}

static bool qemu_emulated(const struct settings *settings, const char *name)
{
	return !wants_kvm(settings, name) ||
	       qemu_cpus(settings, name) > sysconf(_SC_NPROCESSORS_ONLN);
}

const struct machine_driver machine_qemu = {
	.name = "qemu",
	.agent_is_init = true,
	.method = qemu_method,
	.load = qemu_load,
	.start = qemu_start,
	.confirm = qemu_confirm,
	.run = qemu_run,
	.collect = qemu_collect,
	.recover = qemu_recover,
	.cpus = qemu_cpus,
	.emulated = qemu_emulated,
};
