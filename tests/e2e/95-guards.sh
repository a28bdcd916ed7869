#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What brings a machine back when nobody reaches it (deploy/metal-machine), each alone with the others off: panic=N, a panic on hung
# tasks, a panic on soft lockups, the watchdog, the agent's own deadline.
. "$(dirname "$0")/../lib.sh"
test_begin
. "$root/tests/guest-metal.sh"

ok "the machine is made" metal make
ok "the machine is switched on" metal on
boot_id() {
	timeout 20 sh "$root/deploy/metal-machine" ssh "$dir/m1" cat /proc/sys/kernel/random/boot_id 2>/dev/null
}
# Until it answers in another boot than the one before.
comes_back() { # seconds
	_end=$(($(date +%s) + $1))
	until _now=$(boot_id) && [ -n "$_now" ] && [ "$_now" != "$was" ]; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 1
	done
	was=$_now
}
was=''
ok "it comes up" comes_back 600
guards_off() {
	on_machine 'sudo sh -c "echo 0 >/proc/sys/kernel/panic; echo 0 >/proc/sys/kernel/hung_task_panic; echo 0 >/proc/sys/kernel/softlockup_panic; echo 1 >/proc/sys/kernel/sysrq"'
}
# Its agent at work for as long as nothing stops it.
work() { # watchdog_s, deadman_s
	cat >"$dir/job.json" <<-EOF
		{"v": 1, "nonce": "n1", "init": false, "watchdog_s": $1, "deadman_s": $2, "suites": [{"seq": 0, "suite": "f",
		 "benchmark": "fault", "passes": ["clean"], "params": {"threads": "1", "size": "1M", "iterations": "1000000"}}]}
	EOF
	on_machine 'cat >agent && chmod 755 agent' <"$build/bench/mmperf-agent" &&
		on_machine 'cat >job.json' <"$dir/job.json" &&
		on_machine 'sudo setsid sh -c "exec ./agent --job job.json >lines 2>agent.err" >/dev/null 2>&1 </dev/null & sleep 3; pgrep -x agent >/dev/null'
}

guards_off
on_machine 'sudo sh -c "echo 3 >/proc/sys/kernel/panic; (sleep 1; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 &"'
ok "panic=N: a kernel that panics comes back by itself" comes_back 240

guards_off
on_machine 'sudo sh -c "
	echo 3 >/proc/sys/kernel/panic
	echo 5 >/proc/sys/kernel/hung_task_timeout_secs
	echo 1 >/proc/sys/kernel/hung_task_panic
	truncate -s 16M /tmp/fs && mke2fs -q -F /tmp/fs && mkdir -p /mnt/fs && modprobe loop && mount -o loop /tmp/fs /mnt/fs &&
	fsfreeze -f /mnt/fs && (setsid touch /mnt/fs/hangs >/dev/null 2>&1 </dev/null &)"' >"$dir/hung" 2>&1
ok "a panic on hung tasks: a task that waits for ever ends the kernel" comes_back 240
[ -z "${_now:-}" ] && cat "$dir/hung"

guards_off
${CC:-gcc} -O2 -static -o "$dir/lockup" "$root/tests/guest/lockup.c"
on_machine 'cat >lockup && chmod 755 lockup' <"$dir/lockup"
on_machine 'sudo sh -c "
	echo 3 >/proc/sys/kernel/panic
	echo 5 >/proc/sys/kernel/watchdog_thresh
	echo 1 >/proc/sys/kernel/softlockup_panic
	(sleep 1; exec setsid ./lockup) >lockup.log 2>&1 </dev/null &"'
ok "a panic on soft lockups: a CPU that is held in the kernel ends it" comes_back 240
like "... for that reason" "$(grep -a 'Kernel panic' "$dir/m1/console.log" | tail -n 1)" 'not syncing: softlockup: hung tasks'

guards_off
# the cloud kernel has no driver of QEMU's watchdog; the kernel's own timer is then what bites
watchdog=$(on_machine 'sudo modprobe -q i6300esb || sudo modprobe -q softdog; sudo sh -c "cat /sys/class/watchdog/watchdog0/identity"')
echo "# its watchdog: $watchdog"
ok "an agent with a watchdog works" work 8 0
like "... which takes it" "$(on_machine cat lines agent.err)" "watchdog $watchdog of 8 s"
on_machine 'sudo pkill -STOP -x agent' # nothing feeds it any more, and nothing else is on
ok "the watchdog: what hangs with nothing else set comes back" comes_back 240

guards_off
ok "an agent with a deadline and no watchdog works" work 0 20
on_machine 'sudo pkill -STOP -o -x agent' # the job hangs; what is older than its guard is the agent itself
ok "the agent's deadline: what nobody ends is restarted" comes_back 240
test_end
