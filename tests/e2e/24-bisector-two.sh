#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two changes in one range, over rows: the search notices the second, finds both, and each is proved by itself.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 2 "[detect]
	gaps = false
	min-effect = 0.05
[bisect]
	budget = 300
	second-odds = 100
	prove-boots = 12"
sql "update fake_noise set sd = 0.05, outlier = 0.02"

oid() {
	sql "select fake_oid('commit $1')"
}

base=$(commit base)
line a "$base" 1 64 "'a ' || i, ln(800) + case when i >= 18 then 0.2 else 0 end + case when i >= 47 then 0.16 else 0 end, true, true"
snapshot "$base" "$(commit 'a 64')"
sql "update branches set active = false;
	update snapshot_commits set group_first = 46 where pos between 46 and 50"
daemon bisector
ask=$(sql "insert into requests (kind, args, asked_by) values ('bisect',
	'{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 64')\", \"metric\": \"fault_ns\"}', 'test') returning id")
serve 0.7 "select (select count(*) >= 2 and bool_and(ended_at is not null) from bisections)
	and exists (select from requests where id = $ask and ended_at is not null)"

is "two bisections, the second beside the first" "$(sql "select count(*), count(beside) from bisections")" '2|1'
is "both culprits are the planted ones" "$(sql "select string_agg(c.subject, ', ' order by c.id) from bisections b
	join commits c on c.id = b.culprit where b.outcome = 'culprit' and b.posterior >= 0.99")" 'mm: patch 18, mm: patch 47'
is "each proved by boots of its own" "$(sql "select count(*) from regressions r join commits c on c.id = r.culprit
	where r.state = 'proved' and 24 = (select count(*) from jobs j where j.bisection = r.bisection and j.kind = 'boot'
		and j.purpose = 'prove' and j.state = 'done' and j.role in ('before', 'after'))")" 2
is "each with its own effect" "$(sql "select string_agg((s.lo > 0 and s.lo < t.d + 0.05 and s.hi > t.d - 0.05)::text, ' ') from regressions r
	join commits c on c.id = r.culprit join regression_series s on s.regression = r.id and s.is_primary
	join (values ('mm: patch 18', 0.2), ('mm: patch 47', 0.16)) t(name, d) on t.name = c.subject")" 'true true'
is "the answer names both" "$(sql "select (result->>'culprit' in ('$(oid 'a 18')', '$(oid 'a 47')')),
	(result->>'second_culprit' in ('$(oid 'a 18')', '$(oid 'a 47')')),
	result->>'culprit' <> result->>'second_culprit' from requests where id = $ask")" 't|t|t'
is "masses of each are a distribution" "$(sql "select string_agg(round(m::numeric, 6)::text, ' ') from
	(select sum(mass) as m from hypotheses group by bisection) x")" '1.000000 1.000000'
is "no search boot is the second's" "$(sql "select count(*) from jobs j join bisections b on b.id = j.bisection
	where b.beside is not null and j.purpose <> 'prove'")" 0
first=$(sql "select id from bisections where beside is null")
second=$(sql "select id from bisections where beside is not null")
mmperf bisect show "$first" >"$dir/first"
mmperf bisect show "$second" >"$dir/second"
like "the search says that there is another" "$(cat "$dir/bisector.log")" "proving .*there is another change beside it: [0-9a-f]{12}"
like "the first tells which bisection proves the other" "$(cat "$dir/first")" "second change: bisection $second"
is "a series has the mass of its patches" "$(mmperf bisect show --json "$second" | /usr/bin/python3 -c 'import json, sys
h = [x for x in json.load(sys.stdin)["hypotheses"] if x["series_patches"] == 5]
print(len(h), abs(sum(x["mass"] for x in h) - h[0]["series_mass"]) < 1e-9)')" '5 True'
like "the second says what it came with" "$(cat "$dir/second")" "second change of bisection $first"
"$build/mmperf-reporter" --config "$dir/config" --once >"$dir/reporter.log" 2>&1
is "two mails wait or went" "$(sql "select count(distinct regression) from outbox")" 2
echo "# $(sql "select string_agg(reason, '; ' order by id) from bisections")"
echo "# $(sql "select count(*) || ' boots of the search' from jobs where purpose = 'bisect' and kind = 'boot'")"
test_end
