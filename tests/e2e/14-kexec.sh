#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kexec driver against a machine that is played by a namespace of this host (tests/fake-metal.sh).
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-metal.sh"
metal_begin

ok "a machine is played" metal_make
metal_tree good silent liar better
commit() { # kind
	sed -n "$(printf 'good\nsilent\nliar\nbetter\n' | grep -nx "$1" | cut -d: -f1)p" "$dir/tree.commits"
}
mood() {
	printf '%s\n' "$@" >"$box/mood"
	: >"$box/done"
}
one() { # kind: a boot of it
	mmperf run "$(commit "$1")" -n 1 >"$dir/out" 2>&1
	cat "$dir/out"
}
home() {
	grep -c mmperf.token "$box/cmdline"
}
{
	settings_head
	metal_settings
	kernel_lab played 1 2M
} >"$dir/config"
metal_power on
lab_starts
# What the bisector plans by itself, head and base, is over before anything else is asked for.
ok "its routine boots go well" wait_sql 900 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"
: >"$box/done"

# --- a boot ------------------------------------------------------------------------------------------
like "a kernel is measured" "$(one good)" 'fault +clean +fault_time'
is "by kexec, and it proved itself" \
	"$(sql "select distinct b.outcome, b.method, b.build_id = i.build_id from boots b join images i on i.id = b.image join commits c on c.oid = '$(commit good)' join jobs j on j.commit = c.id and j.purpose = 'request' and j.id = (select job from attempts where id = b.attempt)")" 'ok|kexec|t'
is "the machine stays in the kernel that was well" "$(home)" 1
like "the command line is the machine's own and ours" "$(cat "$box/cmdline")" '^root=/dev/sda1 quiet panic=10 oops=panic softlockup_panic=1 hung_task_panic=1 mmperf.token=[0-9]+$'
like "the next one jumps from there" "$(one better)" 'fault +clean +fault_time'
like "... and nothing piles up" "$(cat "$box/cmdline")" '^root=/dev/sda1 quiet panic=10 oops=panic softlockup_panic=1 hung_task_panic=1 mmperf.token=[0-9]+$'
is "no switch and no reboot was needed" "$(cat "$box/done")" ''
is "our files are gone but for the mark of health, and the agent" "$(ls "$box/target" | tr '\n' ' ')" 'agent agent.sum healthy '

# --- kexec refuses (4) --------------------------------------------------------------------------------
mood no-s
like "without kexec_file_load" "$(one good)" 'fault +clean +fault_time'

# --- through firmware ---------------------------------------------------------------------------------
mood
stop_daemon bisector
printf '[health]\n\tfirmware-every = 3\n' >>"$dir/config"
daemon bisector
ok "a canary goes through firmware" wait_sql 120 "select exists (select from canaries k join attempts a on a.job = k.job join boots b on b.attempt = a.id where b.method = 'firmware' and b.outcome = 'ok')"
like "its jump came from the machine's own kernel, just started" "$(cat "$box/done")" 'reboot'
sql "insert into machine_events (machine, kind, text, told_at) select id, 'recovered', 'by hand', now() from machines" >/dev/null
ok "and one does not" wait_sql 120 "select exists (select from canaries k join attempts a on a.job = k.job join boots b on b.attempt = a.id where b.method = 'kexec' and b.outcome = 'ok')"
is "their numbers are not mixed" "$(sql "select count(distinct s.id) from series s join metrics m on m.id = s.metric join setups p on p.id = s.setup where m.name = 'fault_time' and s.pass = 'clean'")" 2
like "what kexec costs is shown" "$(mmperf machine show box)" 'fault +clean +fault_time +1 +1 +-?[0-9.]+'
test_end
