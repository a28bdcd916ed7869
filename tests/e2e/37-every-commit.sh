#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# "Nothing down to x" for every commit and series, over rows: measured ones, those that are the same kernel, those that only show with others.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = true
	history-every = 1s
	twin-every = 0
[bisect]
	revert = false
	clean-rebuild = false
[suite \"fault\"]
	judge = fault_ns"
sql "update fake_noise set sd = 0.03"

# 3 is slower by two thirds, 5 is the kernel of 4, 7 does not build.
base=$(commit base)
line a "$base" 1 8 "case when i = 5 then 'a 4' else 'a ' || i end, ln(800) + case when i >= 3 then 0.5 else 0 end, i <> 7, true"
daemon bisector
"$build/mmperf" --config "$dir/config" status --commit all >"$dir/out" 2>&1
is "before the first night nothing is known: status 2" "$?" 2
snapshot "$base" "$(commit 'a 8')"
serve 0.4 "select not exists (select from jobs where state in ('queued', 'running')) and exists (select from bisections where ended_at is not null)
	and (select count(*) from spans x join series s on s.id = x.series join metrics m on m.id = s.metric where m.name = 'fault_ns') = 7"
serve 0.5 "select (select min(made_at) from histories) > (select max(ended_at) from bisections)" 30

commits() {
	mmperf status --commit "${2:-all}" --json | /usr/bin/python3 -c "import json, sys; c = json.load(sys.stdin); print($1)"
}
is "every commit has its row, the newest first" "$(commits "' '.join(x['subject'].split()[-1] for x in c)")" "8 7 6 5 4 3 2 1"
is "what only shows with another says so" "$(commits "[x['beside'] for x in c]")" "[1, 1, 0, 0, 0, 0, 0, 0]"
is "the same kernel holds nothing at all" "$(commits "[x['subject'] for x in c if x['down_to'] == 0]")" "['mm: patch 5']"
# se of 3 against 3 boots is 0.03 sqrt(2/3); 3.5 + 1.28 of them, a little more for what is known of the noise
is "others hold nothing down to what their boots can tell" "$(commits "all(0.08 < x['down_to'] < 0.25 for x in c if x['down_to'])")" True
is "the change is found in its culprit and nowhere else" "$(commits "[(x['subject'], x['found']) for x in c if x['found']]")" \
	"[('mm: patch 3', 'confirmed')]"
oid=$(sql "select left(oid, 10) from commits where subject = 'mm: patch 6'")
is "one commit by itself" "$(commits "len(c), c[0]['metric'], c[0]['oid'].startswith('$oid'), c[0]['found']" "$oid")" "1 fault_ns True None"
like "a person reads it" "$(mmperf status --commit "$oid")" "mm-test +$oid.* fault_ns .*mm: patch 6"
"$build/mmperf-reporter" --config "$dir/config" --once 2>>"$dir/reporter.log"
page=$dir/state/pages/commits.html
ok "and on a page, well-formed" xmllint --noout "$page"
like "with what was found" "$(cat "$page")" 'mm: patch 3</td><td>fake fault_ns \+[0-9.]+ % <b>confirmed</b>'
like "... what shows together" "$(cat "$page")" 'mm: patch 7</td><td>fake fault_ns \+[0-9.]+ % with 1 other<'
like "... and what is the same" "$(cat "$page")" 'mm: patch 5</td><td>fake fault_ns same kernel<'
test_end
