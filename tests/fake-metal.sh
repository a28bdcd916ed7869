# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of the kexec driver that have no guest: a mount namespace of this host plays a machine. ssh, sudo's absence,
# files, the agent and its measurement are real; what a kernel would do (boot_id, command line, kexec, reboot) is played
# by files and three small programs. Needs root and mount namespaces. tests/e2e/98-metal.sh has the real thing.
#
#	metal_begin         instead of test_begin: skips without root, ends the machine with the test
#	metal_make          in $dir/box; switched off
#	metal_power VERB    on, off, reset, cycle, state; also for power-command: sh $dir/box/power VERB
#	metal_settings [BOOT_S [REBOOT_S]]   a [machine "box"] section; its timeouts are 30 and 20 unless given
#	metal_console       two lines for that section, if it is to have one
#	metal_tree          $dir/tree: branch main, one commit for each kind of kernel; their hashes in $dir/tree.commits
#	metal_gone          ends all of it
#
# $dir/box/mood, one word a line, is what it does wrong: no-s, no-c (kexec -s, -c refuse), no-reboot (reboot hangs), stuck (it hangs unless it is forced), dead (never
# comes back, nor from an initramfs), stay (a jump does nothing), slow-jump (the old boot answers for a while), upgrade (a reboot with a kernel
# loaded jumps, as systemd's does), damaged (what arrives is not what was sent).
#
# Its console is a file, $dir/box/console (metal_console: the settings to hear it). Kinds of kernels: silent; panics and
# stays; restarts (panics, and panic=N takes it home); emergency (no root file system); nonet (no network); any
# other comes up. What a kind says is in $dir/box/says.KIND; $dir/box/boots has a line for each that started.

metal_begin() {
	if [ "$(id -u)" != 0 ]; then
		echo '1..0 # SKIP a namespace that plays a machine needs root'
		exit 0
	fi
	test_begin
	trap '_was=$?; metal_gone; (exit $_was); _finish' EXIT
}

metal_make() {
	box=$dir/box
	mkdir -p "$box/kernel/mm" "$box/target" "$box/bootdir/grub" "$box/modules" /run/sshd /lib/modules
	chmod 755 "$box"
	for key in id host; do
		ssh-keygen -q -t ed25519 -N '' -f "$box/$key"
	done
	metal_port=$(free_port)
	echo "box $(cut -d' ' -f1,2 "$box/host.pub")" >"$box/known_hosts"
	: >"$box/mood"
	: >"$box/console"
	_init='[    1.0] Run /sbin/init as init process'
	_panic='[    1.0] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)'
	echo "$_panic" | tee "$box/says.panics" >"$box/says.restarts"
	printf '%s\n%s\n' "$_init" 'You are in emergency mode. After logging in, type "journalctl -xb"' >"$box/says.emergency"
	echo "$_init" | tee "$box/says.nonet" "$box/says.good" >"$box/says.base"
	cat >"$box/ssh_config" <<-EOF
		Host box
			HostName 127.0.0.1
			Port $metal_port
			User root
			HostKeyAlias box
			IdentityFile $box/id
			IdentitiesOnly yes
	EOF
	cat >"$box/sshd_config" <<-EOF
		ListenAddress 127.0.0.1
		Port $metal_port
		HostKey $box/host
		PidFile $box/sshd.pid
		AuthorizedKeysFile $box/id.pub
		StrictModes no
		UsePAM no
		PermitRootLogin prohibit-password
		Subsystem sftp internal-sftp
	EOF
	metal_programs
	metal_namespace
}

metal_programs() {
	# boot KIND: what a kernel's start changes; a silent one takes sshd with it
	cat >"$box/boot" <<-EOF
		#!/bin/sh
		[ \$1 = off ] || echo \$1 >>$box/boots
		[ ! -e $box/sshd.pid ] || sessions=\$(ps -o pid= --ppid "\$(cat $box/sshd.pid)")
		# before there is anything of the new boot to be seen
		case \$1 in silent | panics | restarts | emergency | nonet) kill -9 "\$(cat $box/sshd.pid)" ;; esac
		for p in \$sessions; do
			kill -9 \$(ps -o pid= --ppid \$p) \$p 2>/dev/null
		done
		cat /proc/sys/kernel/random/uuid >$box/boot_id
		echo 0 >$box/kernel/kexec_loaded
		find $box/modules -mindepth 1 | sort >$box/modules.then
		case \$1 in
		base | off) echo 'root=/dev/sda1 quiet' >$box/cmdline ;;
		*) cat $box/loaded.cmdline >$box/cmdline ;;
		esac
		cat $box/notes.\$1 >$box/kernel/notes 2>/dev/null
		case \$1 in silent | off) ;; *) echo '[    0.000000] Linux version 6.0' && cat $box/says.\$1 2>/dev/null ;; esac >>$box/console
		case \$1 in base | off) rm -f $box/loaded.initrd ;; esac
		[ ! -e $box/loaded.initrd ] || ! grep -q rdinit=/init $box/cmdline || { kill -9 "\$(cat $box/sshd.pid)"; exec unshare --mount sh $box/init; }
		[ "\$1" != restarts ] || { sleep 1; $box/boot base; /usr/sbin/sshd -f $box/sshd_config -E $box/sshd.log; }
	EOF
	# an initramfs, and what firmware does when its process 1 restarts the machine; its kernel log is the console
	cat >"$box/init" <<-EOF
		root=$box/root
		mkdir -p \$root && mount -t tmpfs tmpfs \$root && cd \$root
		# one archive behind the other; whose files come later win
		for _n in 1 2; do cpio -idmu --quiet 2>/dev/null; done <$box/loaded.initrd
		rm -f dev/console dev/kmsg
		mkfifo dev/kmsg
		: >dev/console
		mount --rbind /proc proc && mount --rbind /sys sys
		sed -u 's/^<[0-9]>/[    2.0] /' <>dev/kmsg >>$box/console &
		log=\$!
		unshare --pid --fork setpriv --bounding-set=-sys_admin,-sys_module,-mknod chroot \$root /init
		echo init ended >>$box/done
		sleep 0.5
		kill \$log
		! grep -qx dead $box/mood || exit 0
		$box/boot base
		/usr/sbin/sshd -f $box/sshd_config -E $box/sshd.log
	EOF
	cat >"$box/kexec" <<-EOF
		#!/bin/sh
		mood() { grep -qx "\$1" $box/mood; }
		while [ \$# -gt 0 ]; do
			case \$1 in
			-u) echo 0 >$box/kernel/kexec_loaded; exit 0 ;;
			-s) if mood no-s; then echo 'kexec_file_load failed: No data available' >&2; exit 1; fi ;;
			-c) if mood no-c; then echo 'kexec_load failed: Operation not permitted' >&2; exit 1; fi ;;
			-l) cp "\$2" $box/loaded; rm -f $box/loaded.initrd; shift ;;
			--initrd=*) cp "\${1#*=}" $box/loaded.initrd ;;
			--command-line=*) printf '%s\n' "\${1#*=}" >$box/loaded.cmdline ;;
			-e)
				mood stay && exit 1
				if mood slow-jump; then sleep 2; fi
				exec setsid $box/boot "\$(head -n 1 $box/loaded)"
				;;
			--version) echo 'kexec-tools played'; exit 0 ;;
			esac
			shift
		done
		echo 1 >$box/kernel/kexec_loaded
	EOF
	cat >"$box/systemctl" <<-EOF
		#!/bin/sh
		case "\${0##*/} \$1" in
		'systemctl kexec') exec $box/kexec -e ;;
		'reboot '*)
			echo reboot >>$box/done
			if grep -qx no-reboot $box/mood; then sleep 100; exit 1; fi
			if grep -qx stuck $box/mood && [ "\$1" != -f ]; then sleep 100; exit 1; fi
			if grep -qx upgrade $box/mood && [ "\$(cat $box/kernel/kexec_loaded)" = 1 ]; then exec $box/kexec -e; fi
			exec setsid $box/boot base ;;
		esac
	EOF
	cat >"$box/power" <<-EOF
		#!/bin/sh
		off() {
			rm -f $box/powered
			\$in $box/boot off
			kill -9 "\$(cat $box/sshd.pid)" 2>/dev/null
			rm -f $box/sshd.pid
		}
		on() {
			touch $box/powered
			grep -qx dead $box/mood && return 0
			\$in $box/boot base
			# at once in a group of its own: what is left of this program's group ends with it
			\$in setsid /usr/sbin/sshd -f $box/sshd_config -E $box/sshd.log
		}
		in="nsenter --mount=/proc/\$(cat $box/holder)/ns/mnt --"
		for verb; do :; done
		echo "\$verb" >>$box/done
		case \$verb in
		state) if [ -e $box/powered ]; then echo on; else echo off; fi ;;
		on) [ -e $box/powered ] || on ;;
		off) off ;;
		reset | cycle) off; on ;;
		*) exit 1 ;;
		esac
	EOF
	cp "$(command -v sha256sum)" "$box/sha256sum.real"
	cat >"$box/sha256sum" <<-EOF
		#!/bin/sh
		if grep -qx damaged $box/mood; then exit 1; fi
		exec $box/sha256sum.real "\$@"
	EOF
	chmod 755 "$box/boot" "$box/kexec" "$box/systemctl" "$box/power" "$box/sha256sum"
}

# Whatever could restart this host for good is covered before anything else may run there.
metal_namespace() {
	echo 0 >"$box/kernel/kexec_loaded"
	: >"$box/kernel/notes"
	: >"$box/boot_id"
	: >"$box/cmdline"
	: >"$box/sysrq"
	echo 1 >"$box/sysrq_enable"
	cat >"$box/enter" <<-EOF
		set -e
		mount --make-rprivate /
		# ... and what would slow it down: its page cache is not the machine's
		for p in /proc/sysrq-trigger /dev/watchdog /dev/watchdog0 /proc/sys/vm/drop_caches /proc/sys/vm/compact_memory \
			/proc/sys/kernel/printk_devkmsg; do
			[ ! -e \$p ] || mount --bind $box/sysrq \$p
		done
		[ ! -e /proc/sys/kernel/sysrq ] || mount --bind $box/sysrq_enable /proc/sys/kernel/sysrq
		mount --bind $box/kexec "\$(readlink -f "\$(command -v kexec)")"
		mount --bind $box/sha256sum "\$(readlink -f "\$(command -v sha256sum)")"
		mount --bind $box/bootdir /boot
		mount --bind $box/modules /lib/modules
		# every session reads it, and a person's own may take a second
		[ ! -e "$HOME/.bashrc" ] || mount --bind /dev/null "$HOME/.bashrc"
		mount --bind $box/systemctl "\$(readlink -f "\$(command -v systemctl)")"
		mount --bind $box/boot_id /proc/sys/kernel/random/boot_id
		mount --bind $box/cmdline /proc/cmdline
		mount --rbind /sys/kernel/mm $box/kernel/mm
		mount --bind $box/kernel /sys/kernel
		echo \$\$ >$box/holder
		exec sleep 100000
	EOF
	setsid unshare --mount sh "$box/enter" >"$box/enter.log" 2>&1 &
	for _try in $(seq 100); do
		[ -s "$box/holder" ] && return 0
		sleep 0.1
	done
	cat "$box/enter.log"
	return 1
}

metal_power() {
	sh "$box/power" "$1"
}

metal_settings() {
	cat <<-EOF
		[machine "box"]
			class = metal
			driver = kexec
			ssh-config = $box/ssh_config
			known-hosts = $box/known_hosts
			target-dir = $box/target
			power = exec
			power-command = sh $box/power
			boot-timeout = ${1:-30}s
			reboot-timeout = ${2:-20}s
			watchdog = 0
			owner = owner@lab.example
	EOF
}

# A server that sends what it has in store whenever somebody connects.
metal_console() {
	printf '\tconsole = exec\n\tconsole-command = tail -n +1 -f %s\n' "$box/console"
}

# A kernel is a file whose first line is what it does. Its build-id is in notes.KIND of the machine.
metal_tree() {
	rm -f "$dir/tree.commits"
	GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git init -q -b main "$dir/tree"
	cat >"$dir/tree/Makefile" <<-'EOF'
		.RECIPEPREFIX = >
		bzImage: vmlinux
		>mkdir -p arch/x86/boot
		>cp image arch/x86/boot/bzImage
		>: >System.map
		vmlinux: image
		>printf '.section .rodata\n.incbin "image"\n.section .note.GNU-stack\n' > image.S
		>gcc -c image.S -o image.o
		>ld -e 0 --build-id=sha1 -o $@ image.o
		allnoconfig:
		>cp $(KCONFIG_ALLCONFIG) .config
		clean:
		>rm -f vmlinux System.map arch/x86/boot/bzImage image.o image.S
		modules: vmlinux
		>cp image.o mm.ko
		modules_install:
		>mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.99.0-`cat image`/kernel
		>cp mm.ko $(INSTALL_MOD_PATH)/lib/modules/*/kernel
		>ln -s /nowhere $(INSTALL_MOD_PATH)/lib/modules/6.99.0-`cat image`/build
		.PHONY: bzImage vmlinux allnoconfig clean modules modules_install
	EOF
	printf 'vmlinux\nSystem.map\n.config\nbzImage\nimage.[oS]\n' >"$dir/tree/.gitignore"
	echo 'config NONE' >"$dir/tree/Kconfig"
	for _kind; do
		echo "$_kind" >"$dir/tree/image"
		(
			cd "$dir/tree" || exit
			make -s vmlinux
			objcopy -O binary --only-section=.note.gnu.build-id vmlinux "$box/notes.$_kind"
			git add -A
			GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.org \
				GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@example.org git commit -q -m "mm: a kernel that is $_kind"
			git rev-parse HEAD >>"$dir/tree.commits"
		)
	done
	# the one that lies runs as another
	[ ! -f "$box/notes.liar" ] || cp "$box/notes.good" "$box/notes.liar"
}

metal_gone() {
	kill -9 "$(cat "$box/sshd.pid" 2>/dev/null)" "$(cat "$box/holder" 2>/dev/null)" 2>/dev/null
}
