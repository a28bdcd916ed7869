#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A commit whose kernel panics is found, proved and reported by a bisection like any other.
. "$(dirname "$0")/../lib.sh"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 12 doc=3 break=5 panics=8 metric=fault_ns:ns:lower:1000:0.03 || exit 1
culprit=$(git -C "$tree" rev-parse main~4)
echo '# nothing' >"$dir/tiny.config"
echo 'fail-every 13' >"$dir/script"
{
	settings_head
	settings_tiny
	cat <<-EOF
		[build]
			min-free = 1M
		[detect]
			gaps = false
		[bisect]
			prove-boots = 4
		[mail]
			from = MM performance <mmperf@lab.example.org>
			to = lab@lab.example.org
		[machine "m1"]
			class = fake
			driver = fake
			script = $dir/script
			boot-timeout = 3s
		[suite "fault"]
			benchmark = fault
			pass = clean
	EOF
} >"$dir/config"
bisect() {
	mmperf bisect "$@" 2>&1
}
like 'a metric or boots, not both' "$(bisect --good a --bad b --metric x --boot-failure)" 'either --metric or --boot-failure'
like 'one of them' "$(bisect --good a --bad b)" 'either --metric or --boot-failure'
like 'no pass of boots' "$(bisect --good a --bad b --boot-failure --pass clean)" 'no --pass'
daemon bisector
daemon runner
daemon reporter
ok 'the lab starts' wait_sql 60 "select exists (select from machines where state = 'up') and exists (select from snapshots)"
mmperf bisect --good main~11 --bad main --boot-failure --json >"$dir/out" 2>"$dir/err"
is 'a culprit was found' $? 3
like 'it is the one that was planted' "$(tr -d ' \n' <"$dir/out")" "\"culprit\":\"$culprit\""
is 'in fewer boots than commits' "$(sql "select count(*) < 12 from jobs where purpose = 'bisect' and kind = 'boot'")" t
is 'each number is a boot: its own were good, all others failed' \
	"$(sql "select bool_and((e.estimate = 1) = (c.subject ~ 'number (8|9|1[0-2])\$')) from boot_estimates e join bisections b on b.id = e.bisection and b.series = e.series join commits c on c.id = e.commit where e.role <> 'revert'")" t
is 'the tip boots again without it' "$(sql "select count(*) > 0 and max(e.estimate) = 0 from boot_estimates e join bisections b on b.id = e.bisection and b.series = e.series where e.role = 'revert'")" t
is 'what the machine or the lab did is none of them' \
	"$(sql "select count(*) from boot_estimates e join bisections b on b.series = e.series join boots x on x.id = e.boot where x.outcome in ('machine', 'infra', 'lost')")" 0
is 'it was proved by fresh boots' "$(sql "select count(*) filter (where role = 'before'), count(*) filter (where role = 'after') from jobs where purpose = 'prove' and kind = 'boot'")" '4|4'
is 'a regression of its own metric' "$(sql "select m.name, r.is_primary, r.before_mean, r.after_mean from regression_series r join series s on s.id = r.series join metrics m on m.id = s.metric")" 'boots_failed|t|0|1'
ok 'is reported' wait_sql 60 "select exists (select from outbox where state = 'sent')"
like 'by a mail that says what' "$(cat "$dir"/state/spool/*.eml)" 'boots_failed'

# --- nothing fails ----------------------------------------------------------------------------------------
mmperf bisect --good main~11 --bad main~6 --boot-failure --json >"$dir/out" 2>"$dir/err"
like 'a range that boots has no culprit' "$? $(tr -d ' \n' <"$dir/out")" '^0 .*"outcome":"none"'
test_end
