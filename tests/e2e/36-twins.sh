#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The standing A/A, over rows: heads that are fed in again with another layout, and the false-alarm rate that they measure.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	twin-every = 2
	history-every = 0s
[suite \"fault\"]
	judge = fault_ns"
sql "update fake_noise set sd = 0.03"

base=$(commit base)
# From 17 on the truth makes up for what plain layouts are faster by when layouts begin to matter.
line a "$base" 1 24 "'a ' || i, ln(800) + case when i >= 17 then 0.3 else 0 end, true, true"
daemon bisector
quiet="not exists (select from jobs where state in ('queued', 'running')) and not exists (select from candidates where state = 'confirming')"
head() {
	snapshot "$base" "$(commit "a $1")"
	serve "0.$((100 + $1))" "select $quiet and (select count(*) from twins) = $(($1 / 2)) and exists (select from jobs
		where purpose = 'detect' and kind = 'boot' and commit = $(commit "a $1"))" 60
}
twins() {
	mmperf status --json | /usr/bin/python3 -c "import json, sys; t = json.load(sys.stdin)['alarms']['twins']; print($1)"
}

is "before the first there is no rate" "$(twins "t['judged'], t['confirmed_share'], t['suspected_hi']")" "0 None None"
for i in $(seq 1 16); do
	head "$i"
done
is "each second head has a twin of the same tree and another layout" "$(sql "select count(*), bool_and(b.layout_seed = w.snapshot and
	b.tree_oid = c.tree_oid and b.image = w.image) from twins w join builds b on b.id = w.build join snapshots s on s.id = w.snapshot
	join commits c on c.id = s.head where s.seq % 2 = 0")" "8|t"
is "with as many routine boots as a head" "$(sql "select bool_and(n = 3) from (select count(*) as n from jobs j join twins w on w.image = j.image
	where j.purpose = 'detect' and j.kind = 'boot' group by w.image) x")" t
is "where layouts change nothing, none is confirmed" "$(twins "t['judged'], t['open'], t['confirmed'], t['confirmed_share']")" "8 0 0 0.0"
is "... which bounds the rate by Wilson's interval for 0 of 8" "$(twins "round(t['confirmed_lo'], 4), round(t['confirmed_hi'], 4)")" "0.0 0.3244"
is "each is judged in its series" "$(twins "t['series'] == 8")" True

# Layouts that matter: what noise alone never is, a stable difference between two builds of one tree.
sql "update fake_noise set sd_layout = 0.3"
for i in $(seq 17 24); do
	head "$i"
done
is "layouts that matter are suspected" "$(twins "t['judged'], t['suspected'] >= 2")" "12 True"
is "and confirmed by fresh boots of the twin itself" "$(twins "t['confirmed'] >= 1, t['confirmed'] <= t['suspected']")" "True True"
is "... as the rows tell it" "$(twins "t['confirmed']")" "$(sql "select count(distinct after_image) from candidates where twin and state = 'confirmed'")"
is "against its own head, whatever came before that" "$(sql "select bool_and(before_commit = after_commit and before_image <> after_image)
	from candidates where twin")" t
is "... in equal numbers" "$(sql "select bool_and(x.b = x.a) and bool_and(x.seeds = 2) from (select count(*) filter (where role = 'before') as b,
	count(*) filter (where role = 'after') as a, count(distinct u.layout_seed) as seeds from jobs j join candidates c on c.id = j.candidate
	join builds u on u.id = j.build where c.twin group by c.id) x")" t
is "no twin is bisected" "$(sql "select count(*) from bisections b join candidates c on c.id = b.candidate where c.twin")" 0
is "nor counted beside what a week's budget allows" "$(mmperf status --json | /usr/bin/python3 -c "import json, sys
print(json.load(sys.stdin)['alarms']['clusters'])")" "$(sql "select count(*) from candidates where not twin and leader is null and alpha is not null")"
sql "update candidates set state = 'refuted', decided_at = now() where not twin and state = 'confirmed'
	and not exists (select from bisections b where b.candidate = candidates.id)"
like "status tells it to people" "$(mmperf status)" \
	'^standing A/A: of 12 heads fed in again with another layout [0-9]+ \([0-9.]+ % \[[0-9.]+, [0-9.]+\]\) were suspected and [1-9]'
like "the log calls them twins" "$(mmperf log -n 400)" 'a twin'

"$build/mmperf-reporter" --config "$dir/config" --once 2>>"$dir/reporter.log"
like "and the page of histories has it" "$(cat "$dir/state/pages/history.html")" 'standing A/A: of 12 heads'
test_end
