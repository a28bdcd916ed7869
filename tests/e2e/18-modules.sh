#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a tested kernel needs beside itself: modules and an initrd of its own, on a machine that is played by a namespace
# (tests/fake-metal.sh).
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-metal.sh"
metal_begin

ok "a machine is played" metal_make
metal_tree good better
one() { # outcome|reason of one attempt with the first kernel
	mmperf run "$(head -n 1 "$dir/tree.commits")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	wait_sql 60 "select exists (select from jobs where request = $id and kind = 'boot')"
	sql "update jobs set max_attempts = 1 where request = $id"
	wait_sql 100 "select exists (select from jobs where request = $id and kind = 'boot' and state not in ('queued', 'running'))" &&
		wait_sql 60 "select not exists (select from leases)"
	sql "select b.outcome, coalesce(nullif(b.reason, ''), a.error) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id order by a.id limit 1"
}
initrd() { # command: for a runner that starts anew
	stop_daemon runner
	sed -i "/^initrd-command/d; s|^driver = kexec|&\\ninitrd-command = $1|" "$dir/config"
	daemon runner
	wait_sql 60 "select bool_and(state = 'up') from machines"
}
checked() {
	wait_sql 60 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
	mmperf machine quarantine box --note test >/dev/null
	mmperf machine check box --no-jump 2>&1
	mmperf machine release box >/dev/null
}
{
	settings_head
	metal_settings 300 60 | sed 's/^driver = kexec/&\nmodules = true/'
	kernel_lab played 1 2M
	printf '[health]\n\tfirmware-every = 0\n\tsuite = none-here\n'
} >"$dir/config"
echo 'CONFIG_MODULES=y' >>"$dir/none.config"
mkdir -p "$box/modules/5.0.0-own/kernel"
metal_power on
lab_starts

# --- modules ----------------------------------------------------------------------------------------------------------
ok "two kernels are measured" wait_sql 300 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"
is "... that are two by their modules as well" "$(sql "select count(distinct i.content_hash), count(distinct i.modules) from boots b join images i on i.id = b.image where b.outcome = 'ok'")" '2|2'
there=$(sed -n "s|^$box/modules/6.99.0-||p" "$box/modules.then" | paste -s -d ' ')
like "the second found its own at the jump, with what depmod makes of them" "$there" '^(good|better) \1/.mmperf \1/kernel \1/kernel/mm.ko .*\1/modules.dep'
is "... no link to a source tree, and none of the first" "$(echo "$there" | tr ' ' '\n' | grep -c '/build$\|^good$\|^better$')" 1
ok "none are left behind" wait_sql 30 "select not exists (select from leases)"
is "... but the machine's own" "$(ls "$box/modules")" 5.0.0-own
mkdir -p "$box/modules/6.99.0-good/kernel"
like "a release that is the machine's own is not touched" "$(one)" "^[a-z]+\\|.*/lib/modules/6.99.0-good is the machine's own: give tested kernels another release by CONFIG_LOCALVERSION"
rmdir "$box/modules/6.99.0-good/kernel" # as a killed attempt may leave it

# --- an initrd of the tested kernel -------------------------------------------------------------------------------------
initrd 'cat \&\& echo made of $RELEASE >$(dirname $KERNEL)/initrd \&\& echo $(dirname $KERNEL)/initrd'
like "an initrd is made for it" "$(one)" '^ok\|'
is "... and loaded" "$(cat "$box/loaded.initrd")" 'made of 6.99.0-good'
checked >"$dir/checked"
like "machine check makes one too" "$(cat "$dir/checked")" 'ok +initrd +what the settings name is there'
like "... says what its kernels need, and what is still to do" "$(paste -s -d ' ' "$dir/checked")" 'tested kernels need: [^ ]+ by .* note +noise +not known yet: `mmperf noise box`'
like "... and says what room modules have" "$(cat "$dir/checked")" 'ok +modules +/lib/modules has [0-9]+ MiB free'
initrd 'echo no such hook >\&2 \&\& exit 5'
like "a command that fails is told in its own words" "$(one)" "^[a-z]+\\|.*its initrd-command failed \\(status 5\\): no such hook; try it there as root, with KERNEL=$box/target/kernel"
like "... by machine check beforehand" "$(checked)" 'BAD +initrd +.*its initrd-command failed \(status 5\): no such hook; try it there'
initrd true
like "one that names no file" "$(checked)" 'BAD +initrd +.*its initrd-command printed no path'
initrd 'echo /boot/none'
like "one that names a file that is not there" "$(checked)" 'BAD +initrd +.*its initrd /boot/none is not there: see initrd-command'
test_end
