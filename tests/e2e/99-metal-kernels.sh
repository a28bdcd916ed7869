#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels on a machine as a lab has it (deploy/metal-machine): with nothing but the agent in an initramfs, whose results come by the
# serial line or the network; without a driver for the root disk, or for the network card; with modules of their own.
. "$(dirname "$0")/../lib.sh"
test_begin
. "$root/tests/guest-metal.sh"

ok "the machine is made" metal make
cache=/var/cache/mmperf
[ "$(id -u)" = 0 ] || cache=${XDG_CACHE_HOME:-$HOME/.cache}/mmperf
release=$(ls "$cache/metal-bookworm/lib/modules" | tail -n 1)
# what its root disk and network want, and one that nothing loads by itself
mkdir -p "$dir/$release/kernel/drivers/block" "$dir/$release/kernel/drivers/net" "$dir/$release/kernel/net/core"
(
	cd "$cache/metal-bookworm/lib/modules/$release" &&
		cp -R kernel/drivers/virtio kernel/drivers/watchdog "$dir/$release/kernel/drivers" &&
		cp kernel/drivers/block/virtio_blk.ko "$dir/$release/kernel/drivers/block" &&
		cp kernel/drivers/net/virtio_net.ko kernel/drivers/net/net_failover.ko "$dir/$release/kernel/drivers/net" &&
		cp kernel/net/core/failover.ko "$dir/$release/kernel/net/core" &&
		cp modules.builtin modules.builtin.modinfo modules.order "$dir/$release"
)
ok "a tree that builds in a second" sh "$root/deploy/packaged-tree" "$dir/tree" "$dir/m1/kernel" "$dir/$release"
ok "the machine is switched on" metal on

# In front of the agent: the machine's own initrd, for its modules and tools, and what to do with them.
printf '%s\n' '#!/bin/sh' 'modprobe virtio_pci' 'modprobe virtio_net' \
	'ipconfig -t 20 -d 10.0.2.15::10.0.2.2:255.255.255.0::eth0:off' >"$dir/prepare"
chmod 755 "$dir/prepare"
cp "$dir/m1/initrd" "$dir/before"
truncate -s %512 "$dir/before"
(cd "$dir" && echo prepare | cpio -o -H newc --quiet) >>"$dir/before"

settings() { # lines of the machine's
	stop_daemon runner
	{
		settings_head
		metal settings | sed 's/boot-timeout = 10m/boot-timeout = 2m/'
		printf '\t%s\n' 'reboot-timeout = 2m' 'run-timeout = 3m' 'jump = direct' 'power-delay = 0' "$@"
		kernel_lab packaged 1 8M
		printf '[health]\n\tfirmware-every = 0\n\tsuite = none-here\n'
	} >"$dir/config"
	echo 'CONFIG_MODULES=y' >>"$dir/none.config"
	daemon runner
}
comes_up() {
	_end=$(($(date +%s) + 600))
	until on_machine true >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 1
	done
}
one() { # outcome|method|reason of one attempt with a kernel that works where it has what it needs
	wait_sql 900 "select not exists (select from jobs where kind = 'boot' and state in ('queued', 'running')) and not exists (select from leases)"
	mmperf run "$(sed -n "${1:-1}p" "$dir/tree.commits")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	wait_sql 60 "select exists (select from jobs where request = $id and kind = 'boot')"
	sql "update jobs set max_attempts = 1 where request = $id"
	wait_sql 900 "select exists (select from jobs where request = $id and kind = 'boot' and state not in ('queued', 'running'))"
	sql "select b.outcome, b.method, coalesce(nullif(b.reason, ''), a.error) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id order by a.id limit 1"
}
numbers() { # of that boot
	sql "select count(*) > 0 from samples s join runs r on r.id = s.run join boots b on b.id = r.boot join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = (select max(id) from requests)"
}
ok "it comes up" comes_up
settings 'root = initramfs' 'modules = false'
daemon bisector

# --- nothing but the agent -------------------------------------------------------------------------------------------
ok "two kernels are measured from an initramfs, their results by the serial line" \
	wait_sql 900 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"
is "... and prove what they are" "$(sql "select string_agg(distinct b.outcome || ' ' || b.method || ' ' || (b.build_id = i.build_id), ', ') from boots b join images i on i.id = b.image")" \
	'ok initramfs true'
settings 'root = initramfs' 'results = tcp://10.0.2.2' "initrd = $dir/before"
like "an initramfs, results by the network" "$(one)" '^ok\|initramfs\|$'
is "... with numbers" "$(numbers)" t
settings 'root = initramfs' 'results = tcp://10.0.2.2'
like "a kernel without the driver of the card: whose fault, and what to do" "$(one)" \
	'^infra\|initramfs\|agent: no network: cannot reach 10.0.2.2 port .*[(]is the driver of its card in the kernel'

# --- its own root file system ------------------------------------------------------------------------------------------
settings 'root = own'
like "a kernel without a driver for the root disk" "$(one)" '^panic\|kexec\|.*Unable to mount root fs.*set initrd-command'
settings 'initrd-command = ls /boot/initrd.img-* | tail -n 1' 'append = module_blacklist=virtio_net'
like "a kernel without the driver of the card" "$(one)" '^infra\|kexec\|.*user space started, but the network did not: is the driver'

# --- modules: the machine's own are put aside, so that those that come are the only ones -----------------------------------
ok "its own modules are gone" on_machine "sudo mv /lib/modules/$release /lib/modules.own"
settings 'modules = true' \
	'initrd-command = mkinitramfs -o /var/tmp/initrd.new $RELEASE >&2 && echo /var/tmp/initrd.new'
like "a kernel with modules and an initrd made of them" "$(one)" '^ok\|kexec\|$'
is "... which it loads" "$(on_machine "sudo modprobe softdog && lsmod | grep -c '^softdog\|^virtio_net\|^virtio_blk'")" 3
is "... from where they were installed for it" "$(on_machine "ls -d /lib/modules/*/.mmperf")" "/lib/modules/$release/.mmperf"
is "machines in service" "$(sql "select count(*) from machines where state = 'up'")" 1
test_end
