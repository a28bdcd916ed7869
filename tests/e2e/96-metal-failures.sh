#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines and kernels that fail, one way after the other, on a machine that is played by a namespace (tests/fake-metal.sh). The
# numbers are those of docs/failures.md.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-metal.sh"
metal_begin

kinds='good silent liar panics restarts emergency nonet better'
ok "a machine is played" metal_make
# shellcheck disable=SC2086
metal_tree $kinds
commit() { # kind
	sed -n "$(printf '%s\n' $kinds | grep -nx "$1" | cut -d: -f1)p" "$dir/tree.commits"
}
mood() {
	printf '%s\n' "$@" >"$box/mood"
	: >"$box/done"
}
{
	settings_head
	metal_settings 600 10
	metal_console
	printf '\tpower-timeout = 5s\n\tpower-delay = 0\n'
	kernel_lab played 1 8M
	# after each recovery comes a canary (28-health), which would double the time of this: there is no such suite
	printf '[health]\n\tfirmware-every = 0\n\tsuite = none-here\n'
} >"$dir/config"
# as a whole .config would have it, of a kernel with neither disks nor a network
echo 'CONFIG_CC_VERSION_TEXT="played"' >>"$dir/none.config"
echo '[    9.0] Kernel panic - not syncing: of last week' >"$box/console"
metal_power on
lab_starts
ok "its routine boots go well, though an old panic stands on its console (16)" \
	wait_sql 300 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"
record() { # condition: what the console of such a boot said, and what was kept behind it
	_sum=$(sql "select sha256 from artifacts where id = (select console from boots where $1 order by id desc limit 1)")
	zcat "$dir/state/artifacts/$(echo "$_sum" | cut -c1-2)/$(echo "$_sum" | cut -c3-)"
}
like "the kernel's log is fetched after the run, and kept behind what the console said" "$(record "outcome = 'ok'" | sed -n '/: the jump ---/,$p')" \
	"^--- mmperf: the kernel's log after the run ---\$"
ask() { # kind: one attempt of it
	wait_sql 60 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
	: >"$box/boots"
	mmperf run "$(commit "$1")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	wait_sql 60 "select exists (select from jobs where request = $id and kind = 'boot')"
	sql "update jobs set max_attempts = 1 where request = $id"
}
ended() {
	wait_sql 100 "select exists (select from jobs where request = $id and kind = 'boot' and state not in ('queued', 'running'))" &&
		wait_sql 60 "select not exists (select from leases)"
}
one() { # kind: outcome|reason of its boot
	ask "$1"
	ended
	sql "select b.outcome, coalesce(nullif(b.reason, ''), a.error) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id order by a.id limit 1"
}
at_home() { # kernels that started since it was asked for, the last of them its own
	is "... it is back in its own kernel" "$(paste -s -d ' ' "$box/boots")" "$*"
}
by() {
	grep 'back with its own kernel' "$dir/runner.log" | tail -n 1 | sed 's/.* by: //'
}
short() { # waits for what never answers are over sooner from here on
	stop_daemon runner
	sed -i 's/boot-timeout = 600s/boot-timeout = 8s/' "$dir/config"
	daemon runner
	wait_sql 60 "select bool_and(state = 'up') from machines"
}

# --- the console ends an attempt: boot-timeout is 10 minutes here ----------------------------------------------
mood
like "it panics and stays so (13)" "$(one panics)" '^panic\|.*Kernel panic - not syncing: VFS.*no driver for the machine.s root disk .*: add them to the recipe, or set initrd-command'
like "... the switch brings it back" "$(by)" 'power reset$'
at_home panics base
record "outcome = 'panic'" >"$dir/heard"
like "... the console is kept, and what was there before the jump stands before it" "$(sed '/: the jump ---/,$d' "$dir/heard")" 'of last week$'
like "... behind it the panic of this boot" "$(sed '1,/: the jump ---/d' "$dir/heard")" 'VFS: Unable to mount root'
like "it panics and restarts by itself (13)" "$(one restarts)" '^panic\|.*Kernel panic - not syncing: VFS'
like "... no switch was needed" "$(by)" '^waiting$'
like "no root file system: not the commit's fault" "$(one emergency)" '^infra\|.*You are in emergency mode.*lacks something that the machine.s user space mounts'
at_home emergency base

# --- a console that is lost --------------------------------------------------------------------------------------
measuring() { grep -q '"type":"run"' "$dir"/state/attempts/*/lines 2>/dev/null; }
until_measuring() {
	for _ in $(seq 600); do
		! measuring || return 0
		sleep 0.05
	done
	return 1
}
echo '[    9.0] Kernel panic - not syncing: again of last week' >>"$box/console"
sed -i "s/param = size=8M/param = size=32M/" "$dir/config"
stop_daemon bisector
daemon bisector
ask good
ok "a run begins" until_measuring
pkill -f "^tail -n +1 -f $box/console"
ended
is "its console is lost, and what is sent again is not of this boot (12)" \
	"$(sql "select distinct b.outcome from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id")" ok

# --- a machine that is reset while it measures ---------------------------------------------------------------------
ask better
ok "a run begins" until_measuring
metal_power reset
ended
is "no number comes of it (17)" \
	"$(sql "select count(*) filter (where b.outcome = 'ok'), count(*) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id")" '0|1'
like "... and the reason says why" "$(sql "select b.reason from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id")" 'restarted by itself|went down'

# --- nothing on the console, or too little ---------------------------------------------------------------------------
short
like "silence behind the jump: blamed once the machine's own kernel is back (1)" "$(one silent)" '^no_boot\|.*the old kernel jumped and the new one said nothing|^no_boot\|.*its console shows no jump'
at_home silent base
like "user space without a network: infrastructure (2)" "$(one nonet)" '^infra\|.*the network did not'
mood no-s no-c
like "both ways of loading are refused (4)" "$(one good)" 'kexec -s: kexec_file_load failed: No data available; kexec -c: kexec_load failed: Operation not permitted'
mood damaged
like "what arrived is not what was sent (15)" "$(one good)" '^(infra|machine)\|.*kernel arrived damaged in'
mood stay upgrade
like "the old boot is never taken for the new one (6)" "$(one good)" 'it still runs the boot that should have ended'
like "... and the reboot home does not go into what is loaded (5)" "$(cat "$box/done" | head -n 1) $(cat "$box/kernel/kexec_loaded")" '^reboot 0$'
at_home base
mood slow-jump
like "the old boot answers for a while (6)" "$(one good)" '^ok\|'
mood no-reboot
like "another kernel than the one loaded (7)" "$(one liar)" '^wrong_kernel\|build-id [0-9a-f]+ runs, [0-9a-f]+ was loaded'
like "... a reboot that hangs is not waited for (8)" "$(by)" '^waiting, reboot by ssh, sysrq by ssh, power (reset|cycle)$'
like "... it is back in its own kernel" "$(paste -s -d ' ' "$box/boots")" '^liar( base)+$'
if [ ! -e /proc/sysrq-trigger ]; then
	mood stuck
	one liar >/dev/null
	like "a kernel without sysrq is restarted by force (8)" "$(by)" '^waiting, reboot by ssh, sysrq by ssh$'
fi

# --- what somebody left behind ---------------------------------------------------------------------------------------
mood
wait_sql 60 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
mmperf machine quarantine box --note test >/dev/null
sed -i '/^.console/d' "$dir/config" # what is heard of it is played, and would be waited for
echo 'next_entry=test kernel' >"$box/bootdir/grub/grubenv"
like "a one-shot boot entry (14)" "$(mmperf machine check box --no-jump 2>&1)" 'BAD +boot entry +a one-shot entry is left in /boot/grub/grubenv: grub-editenv'
rm "$box/bootdir/grub/grubenv"
like "... and none" "$(mmperf machine check box --no-jump 2>&1)" 'ok +boot entry +nothing is left'
like "kernels without what its root file system needs (2)" "$(mmperf machine check box --no-jump 2>&1)" \
	'BAD +config +kernels of recipe none would not have the root file system: add .*CONFIG_[A-Z0-9_]+=y \([a-z0-9]+\)'
mmperf machine release box >/dev/null

# --- a machine that dies -----------------------------------------------------------------------------------------------
mood dead
metal_power off
sed -i 's/boot-timeout = 8s/boot-timeout = 3s/; s/reboot-timeout = 10s/reboot-timeout = 1s/' "$dir/config"
stop_daemon runner
daemon runner
mmperf run "$(commit good)" -n 1 --no-wait >"$dir/out" 2>&1
given_up() { # without the pauses between attempts
	for _ in $(seq 600); do
		[ "$(sql "update jobs set not_before = now() where state = 'queued'; select bool_and(state = 'quarantined') from machines")" != t ] || return 0
		sleep 0.2
	done
	return 1
}
ok "it never comes back: out of service after three failures (9)" given_up
n=$(wc -l <"$box/done")
sleep 2
is "... and its switch is left alone" "$(wc -l <"$box/done")" "$n"
is "... its owner is to hear of it once" "$(sql "select count(*) from machine_events where kind = 'quarantined' and text ~ 'after 3 failures in a row'")" 1
test_end
