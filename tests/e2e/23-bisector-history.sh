#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The detector over the history of heads, over rows: a step that two heads side by side would not show.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	z = 7
	false-mails = 0.04
[bisect]
	budget = 200
	revert = false
	clean-rebuild = false"
sql "update fake_noise set sd = 0.05"

base=$(commit base)
line one "$base" 1 30 "'one ' || i, ln(800) + case when i >= 27 then 0.35 else 0 end, true, true"
daemon bisector
idle="select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from candidates where state = 'confirming')
	and (select count(distinct j.commit) from jobs j where j.purpose = 'detect' and j.kind = 'boot') = "
for head in $(seq 2 2 26); do
	snapshot "$base" "$(commit "one $head")"
	serve 0.$((head + 100)) "$idle $((head / 2 + 1))"
done
is "thirteen heads without a change" "$(sql "select count(*) from snapshots")" 13
is "raise at most one candidate" "$(sql "select count(distinct coalesce(leader, id)) <= 1 from candidates where state <> 'better'")" t
is "and none that is confirmed" "$(sql "select count(*) from candidates where state = 'confirmed'")" 0
snapshot "$base" "$(commit 'one 28')"
serve 0.2 "select exists (select from bisections where ended_at is not null)"
is "the step is raised by its own head" "$(sql "select distinct c.subject from candidates x join commits c on c.id = x.after_commit
	where x.state = 'confirmed' and x.leader is null")" "mm: patch 28"
like "against the level of its history" "$(sql "select 'z ' || detect_z from candidates where state = 'confirmed' and leader is null")" \
	'^z [3-7]\.'
is "and found" "$(sql "select outcome, c.subject from bisections b join commits c on c.id = b.culprit")" "culprit|mm: patch 27"

is "a cluster may use a fiftieth of the false alarms that the week has left" \
	"$(sql "select round(max(alpha)::numeric, 9), sum(alpha) <= 0.04, count(*) > 0 from candidates where leader is null and alpha is not null")" \
	"0.000800000|t|t"
is "and was confirmed by evidence beyond it" \
	"$(sql "select bool_and(log_e >= -ln(alpha)) from candidates where leader is null and state = 'confirmed'")" t
is "status says what noise alone would have confirmed" \
	"$(mmperf status --json | /usr/bin/python3 -c 'import json, sys
a = json.load(sys.stdin)["alarms"]; print(a["confirmed"] >= 1, 0 < a["expected_false"] <= a["allowed_false"] == 0.04)')" "True True"

# The new level is the level from here on: the same numbers raise nothing more.
found=$(sql "select count(*) from candidates where state = 'confirmed'")
measured() {
	snapshot "$base" "$(commit "one $1")"
	serve 0.$(($1 + 200)) "select not exists (select from jobs where state in ('queued', 'running')) and exists (select from jobs
		where kind = 'boot' and purpose = 'detect' and commit = $(commit "one $1"))"
}
measured 29
measured 30
is "once" "$(sql "select count(*) from candidates where state = 'confirmed'")" "$found"
test_end
