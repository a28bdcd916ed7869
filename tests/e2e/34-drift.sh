#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a search knows beside its own boots, over rows: the good level by the history of the branch, and a machine that drifts.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	min-effect = 0.05
[bisect]
	budget = 60
	second-odds = 0
	revert = false
	clean-rebuild = false"
sql "update fake_noise set sd = 0.05"

base=$(commit base)
line one "$base" 1 60 "'one ' || i, ln(800) + case when i >= 47 then 0.25 else 0 end, true, true"
daemon bisector
idle="select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from candidates where state = 'confirming')
	and (select count(distinct j.commit) from jobs j where j.purpose = 'detect' and j.kind = 'boot') = "
for head in $(seq 1 12); do
	snapshot "$base" "$(commit "one $head")"
	serve 0.$((head + 100)) "$idle $((head + 1))"
done
snapshot "$base" "$(commit 'one 60')"
serve 0.5 "select exists (select from bisections where ended_at is not null)"
is "the step is found" "$(sql "select outcome, c.subject from bisections b join commits c on c.id = b.culprit")" "culprit|mm: patch 47"
# of either of the metrics that moved, as both are told by the same boots; logs are of what is worse when it is more
is "its good level was told by eight heads or more" "$(sql "select past_heads >= 8,
	abs(past_level - case m.name when 'fault_ns' then ln(801) else -ln(1e9 / 801) end) < 0.05, past_sd between 0.002 and 0.05
	from bisections b join series s on s.id = b.series join metrics m on m.id = s.metric")" "t|t|t"
is "which the search believed, but not before it had boots of its own" \
	"$(sql "select min(n) between 3 and 12 from steps where reason like '%heads tells the good level%'")" t
like "and says so" "$(sql "select reason from bisections")" 'its history of [0-9]+ heads tells the good level$'

# Nothing changed in this range, but the machine becomes slower from boot to boot.
sql "update fake_noise set drift = 0.012; update branches set active = false"
oid() {
	sql "select fake_oid('commit $1')"
}
ask=$(sql "insert into requests (kind, args, asked_by) values ('bisect',
	'{\"good\": \"$(oid 'one 13')\", \"bad\": \"$(oid 'one 46')\", \"metric\": \"fault_ns\"}', 'test') returning id")
serve 0.6 "select exists (select from requests where id = $ask and ended_at is not null)"
like "a machine that drifts is named in the end" "$(sql "select reason from bisections where request = $ask")" \
	'the machine m1 drifts: its numbers moved by \+[0-9.]+ % during the search \(z [0-9.]+\)$'
is "and nobody is blamed for it" "$(sql "select count(*) from bisections where request = $ask and outcome = 'culprit'")" 0
is "the first search saw none" "$(sql "select count(*) from steps s join bisections b on b.id = s.bisection
	where b.candidate is not null and s.reason like '%drifts%'")" 0
test_end
