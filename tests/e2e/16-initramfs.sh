#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# root = initramfs: nothing but the agent behind the jump, its results by the serial line or the network, on a machine that is played by
# a namespace (tests/fake-metal.sh). 99 has it on a guest.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-metal.sh"
metal_begin

ok "a machine is played" metal_make
metal_tree good better
settings() { # lines of the machine's
	stop_daemon runner
	{
		settings_head
		metal_settings 30 "${back_s:-20}"
		metal_console
		printf '\t%s\n' 'root = initramfs' "$@"
		kernel_lab played 1 2M
		printf '[health]\n\tfirmware-every = 0\n\tsuite = none-here\n'
	} >"$dir/config"
	daemon runner
}
one() { # outcome|method|reason of one attempt with the first kernel
	wait_sql 60 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
	: >"$box/boots"
	: >"$box/done"
	mmperf run "$(head -n 1 "$dir/tree.commits")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	wait_sql 60 "select exists (select from jobs where request = $id and kind = 'boot')"
	sql "update jobs set max_attempts = 1 where request = $id"
	wait_sql 100 "select exists (select from jobs where request = $id and kind = 'boot' and state not in ('queued', 'running'))" &&
		wait_sql 60 "select not exists (select from leases)"
	sql "select b.outcome, b.method, coalesce(nullif(b.reason, ''), a.error) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id order by a.id limit 1"
}
numbers() { # of that boot: runs|whether there are any
	sql "select count(distinct r.id), count(*) filter (where s.estimate > 0) > 0 from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job
		join runs r on r.boot = b.id join samples s on s.run = r.id where j.request = (select max(id) from requests)"
}
pieces() {
	grep -c 'mmperf:0:' "$box/console"
}
metal_power on
settings
daemon bisector
ok "two kernels are measured" wait_sql 300 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"

# --- by the serial line --------------------------------------------------------------------------------------------------
recovered=$(sql "select count(*) from machine_events where kind = 'recovered'")
is "the agent alone behind the jump, its results by the serial line" "$(one)" 'ok|initramfs|'
is "... are all there" "$(numbers)" '1|t'
is "... and it is back in its own kernel" "$(paste -s -d ' ' "$box/boots")" 'good base'
is "... where it went by itself, which is no recovery" "$(sql "select count(*) from machine_events where kind = 'recovered'") $(cat "$box/done")" "$recovered init ended"

# --- by the network ------------------------------------------------------------------------------------------------------
cat >"$dir/prepare.c" <<'EOF'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	return write(open("/dev/kmsg", O_WRONLY), "<6>prepared\n", 12) != 12;
}
EOF
${CC:-gcc} -static -o "$dir/prepare" "$dir/prepare.c"
(cd "$dir" && echo prepare | cpio -o -H newc --quiet >before)
said=$(pieces)
settings 'results = tcp://127.0.0.1' "initrd = $dir/before"
is "its results by the network" "$(one)" 'ok|initramfs|'
is "... are all there" "$(numbers)" '1|t'
is "... and none of them on the console" "$(pieces)" "$said"
like "what stands in front of the agent has run before it" "$(cat "$box/console")" '\] prepared$'
is "... and it is back in its own kernel" "$(paste -s -d ' ' "$box/boots")" 'good base'

# --- a machine that does not come home behind its result ---------------------------------------------------------------------
back_s=5
settings 'power-delay = 0'
echo dead >"$box/mood"
like "a complete result counts, though its machine does not come home" "$(one)" '^ok\|initramfs\|the machine did not come back \(tried: waiting, .*power cycle\)'
is "... are all there" "$(numbers)" '1|t'
id=$(sql 'select max(id) from requests')
is "... its job is done, and the machine has failed once" "$(sql "select j.state, m.state, m.failures from jobs j, machines m where j.request = $id and j.kind = 'boot'")" 'done|up|1'
: >"$box/mood"
stop_daemon bisector
sed -i '/suite = none-here/d' "$dir/config"
daemon bisector
ok "... which a canary brings home, unasked" wait_sql 120 "select exists (select from jobs where purpose = 'canary' and state = 'done') and (select bool_and(failures = 0 and state = 'up') from machines)"

settings 'power-delay = 0'
stop_daemon bisector
daemon bisector
echo dead >"$box/mood"
: >"$box/done"
mmperf run "$(head -n 1 "$dir/tree.commits")" -n 1 --no-wait >"$dir/out" 2>&1
id=$(sql 'select max(id) from requests')
switched() {
	for _ in $(seq 600); do
		! grep -qx reset "$box/done" || return 0
		sleep 0.1
	done
	return 1
}
ok "kill -9 of the runner while it brings the machine home" switched
kill9 runner
: >"$box/mood"
daemon runner
ok "... the result counts" wait_sql 60 "select count(*) = 1 and bool_and(b.outcome = 'ok' and j.state = 'done') from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id"
is "... once" "$(numbers)" '1|t'
like "the next boot finds the machine and brings it home first" "$(one)" '^ok\|initramfs\|$'
back_s=20

# --- settings ------------------------------------------------------------------------------------------------------------
settings 'results = udp://127.0.0.1'
like "a way that there is not" "$(one)" 'results is "udp://127.0.0.1"; it may be console or tcp://ADDRESS'
settings 'results = tcp://here'
like "a place that is no address" "$(one)" '"here" is no numeric address'
settings "initrd = $dir/none"
like "a file that is not there" "$(one)" "$dir/none"
test_end
