# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that start units: systemd as process 1 of namespaces, over a copy-on-write view of this host's root file
# system, so that nothing of the host changes. Needs root, mount namespaces, overlayfs and cgroup2.
#
#	box_make            in $dir/box: not started; what is put below $box_new appears in its root
#	box_start           systemd up to basic.target
#	box COMMAND...      runs it in there
#	box_gone            ends all of it
#
# PostgreSQL's socket directory ($PGHOST) is /run/pg in there.

box_possible() {
	[ "$(id -u)" = 0 ] && [ -x /lib/systemd/systemd ] && box_cgroup && unshare -m -p -f -u -i sh -c '
		mkdir -p "$1/try" && mount -t tmpfs tmpfs "$1/try" && cd "$1/try" && mkdir up work root &&
		mount -t overlay overlay -o lowerdir=/,upperdir=up,workdir=work root' sh "$dir" >"$dir/possible" 2>&1
}

# A control group of its own, which its processes take for the root of all.
box_cgroup() {
	box_cg=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)/mmperf-box-$$
	mkdir "$box_cg" 2>/dev/null
}

# Masked is what would reach out of the namespaces, or is slow and of no use here.
box_make() {
	box_new=$dir/new box_pid=''
	mkdir -p "$dir/box" "$box_new/etc/systemd/system"
	for unit in systemd-sysctl.service systemd-modules-load.service systemd-binfmt.service timers.target \
		proc-sys-fs-binfmt_misc.automount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
		sys-fs-fuse-connections.mount dev-hugepages.mount dev-mqueue.mount systemd-udevd.service \
		systemd-udev-trigger.service systemd-journald-audit.socket systemd-remount-fs.service systemd-random-seed.service; do
		ln -sf /dev/null "$box_new/etc/systemd/system/$unit"
	done
	cat >"$dir/box-outer" <<-'FILE'
		echo 0 >"$1/cgroup.procs"
		exec unshare -m -p -f -u -i -C --kill-child sh "$2/box-inner" "$2/box" "$2/new" "$3"
	FILE
	cat >"$dir/box-inner" <<-'FILE'
		set -eu
		mount -t tmpfs tmpfs "$1"
		mkdir "$1/up" "$1/work" "$1/root"
		chmod 755 "$1/up" "$1/root"
		cp -a "$2/." "$1/up/"
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
		cd "$1/root"
		mount --rbind /dev dev
		mount -t proc proc proc
		mount -t sysfs sysfs sys
		mount -t cgroup2 cgroup2 sys/fs/cgroup
		mount -t tmpfs -o mode=755 tmpfs run
		mount -t tmpfs tmpfs tmp
		# the host's own state is not the box's
		for d in var/cache var/lib/mmperf var/lib/mmperf-runner var/log; do
			mkdir -p "$d"
			mount -t tmpfs -o mode=755 tmpfs "$d"
		done
		mkdir run/pg
		mount --bind "$3" run/pg
		hostname box
		exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . \
			/lib/systemd/systemd --system --unit=basic.target
	FILE
}

box_start() {
	sh "$dir/box-outer" "$box_cg" "$dir" "$PGHOST" >"$dir/box.log" 2>&1 </dev/null &
	box_outer=$!
	_end=$(($(date +%s) + 60))
	until box systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded'; do
		[ "$(date +%s)" -lt "$_end" ] || { cat "$dir/box.log"; return 1; }
		box_pid=$(ps -o pid= --ppid "$box_outer" | tr -d ' ')
		sleep 0.2
	done
}

box() {
	[ -n "$box_pid" ] && nsenter -t "$box_pid" -m -p -u -i -C -r -w -- env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

box_gone() {
	[ -z "$box_pid" ] || kill -9 "$box_pid" 2>/dev/null
	[ -z "${box_outer:-}" ] || wait "$box_outer" 2>/dev/null
	[ -z "${box_cg:-}" ] || find "$box_cg" -depth -type d -exec rmdir {} + 2>/dev/null
}
