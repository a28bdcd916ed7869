#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine as a lab has it (deploy/metal-machine): kernels by ssh and kexec, measured.
. "$(dirname "$0")/../lib.sh"
test_begin
. "$root/tests/guest-metal.sh"
commit() {
	sed -n "$1p" "$dir/tree.commits"
}

ok "the machine is made" metal make
ok "a tree that builds in a second" sh "$root/deploy/packaged-tree" "$dir/tree" "$dir/m1/kernel"
ok "the machine is switched on" metal on
comes_up() {
	_end=$(($(date +%s) + 600))
	until on_machine true >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 1
	done
}
ok "it comes up" comes_up

{
	settings_head
	metal settings
	printf '\t%s\n' "initrd-command = ls /boot/initrd.img-* | tail -n 1" "reboot-timeout = 3m"
	kernel_lab packaged 2 8M
} >"$dir/config"
lab_starts

# --- the routine boots of the branch's head and base -----------------------------------------------
ok "two kernels are measured on it" wait_sql 1800 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"
is "the boots came by kexec and proved their kernels" \
	"$(sql "select string_agg(distinct b.outcome || ' ' || b.method || ' ' || (b.build_id = i.build_id), ', ') from boots b join images i on i.id = b.image")" 'ok kexec true'
is "two boots, two boot_ids" "$(sql "select count(distinct boot_uuid) from boots where outcome = 'ok'")" 2
is "what runs now is the last of them" "$(on_machine cat /proc/sys/kernel/random/boot_id)" "$(sql 'select boot_uuid from boots order by id desc limit 1')"
like "nothing piles up on the command line" "$(on_machine cat /proc/cmdline | tr ' ' '\n' | grep '^panic=\|^mmperf.token=' | sed 's/token=.*/token/' | sort | tr '\n' ' ')" \
	'^mmperf.token panic=10 $'
is "... and it panics on what panic-on names (oops, hung-task), not on soft lockups" \
	"$(on_machine 'cd /proc/sys/kernel && cat panic panic_on_oops hung_task_panic softlockup_panic' | tr '\n' ' ')" '10 1 1 0 '
is "numbers are there" "$(sql "select count(*) > 0 from samples")" t
is "the consoles were kept" "$(sql "select count(*) from boots where console is not null")" 2

# --- kill -9 of the runner at states that only a real machine has -----------------------------------
running() { # its token
	token=$(sql "select token from attempts a join jobs j on j.id = a.job where j.request = $id and a.outcome = 'running' limit 1")
	[ -n "$token" ]
}
heard() { # behind the jump
	sed '1,/: the jump ---/d' "$dir/state/attempts/$token/console" 2>/dev/null
}
between_kernels() { heard | grep -q 'Linux version'; } # and no ssh yet: that takes another ten seconds
measuring() { grep -q '"type":"run"' "$dir/state/attempts/$token/lines" 2>/dev/null; }
going_home() { heard | grep -q 'reboot: Restarting system\|reboot: machine restart'; }
reach() { # state
	_end=$(($(date +%s) + 600))
	until running && "$1"; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 0.1
	done
}
asked() { # line of the tree's commits
	mmperf run "$(commit "$1")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
}
wait_sql 600 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
asked 3
ok "kill -9 while it goes home from a kernel that is another than asked for" reach going_home
kill9 runner
sql "update requests set state = 'cancelled', ended_at = now() where id = $id; update jobs set state = 'cancelled', ended_at = now() where request = $id"
daemon runner
asked 1
for at in between_kernels measuring; do
	ok "kill -9 while $at" reach $at
	kill9 runner
	daemon runner
done
ok "... the job ends well" wait_sql 900 "select count(*) = 1 and bool_and(state = 'done') from jobs where request = $id and kind = 'boot' and ended_at is not null"
is "... once" "$(sql "select count(*) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id and b.outcome = 'ok'")" 1
is "... in the kernel that runs now" "$(on_machine cat /proc/sys/kernel/random/boot_id)" \
	"$(sql "select boot_uuid from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id and b.outcome = 'ok'")"
ok "... and nobody holds the machine, which is in service" wait_sql 60 "select bool_and(state = 'up' and failures = 0) and not exists (select from leases) from machines"
test_end
