#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests by hand, and every honest end of a bisection, over rows.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 2 "[detect]
	gaps = false
[bisect]
	budget = 60"

oid() {
	sql "select fake_oid('commit $1')"
}
# ask KIND ARGS -> id
ask() {
	sql "insert into requests (kind, args, asked_by) values ('$1', '$2', 'test') returning id"
}
result() {
	sql "select result->>'$2' from requests where id = $1"
}
error() {
	sql "select state || ': ' || error from requests where id = $1"
}

base=$(commit base)
# 5 slower by 30 %; 8 does not build; 12 panics; 14 is a comment; 20 gains 25 %; 21 and 22 do not build, 23 slower by 40 %
line a "$base" 1 30 "case when i = 14 then 'a 13' else 'a ' || i end, ln(800) + case when i >= 5 then 0.3 else 0 end
	- case when i >= 20 then 0.25 else 0 end + case when i >= 23 then 0.4 else 0 end, i not in (8, 21, 22), i <> 12"
snapshot "$base" "$(commit 'a 30')"
# stop routine work: this test is about requests
sql "update branches set active = false"
daemon bisector

run=$(ask run "{\"commits\": [\"$(oid base)\", \"$(oid 'a 8')\", \"$(oid 'a 12')\"], \"boots\": 2}")
same=$(ask compare "{\"before\": \"$(oid 'a 13')\", \"after\": \"$(oid 'a 14')\"}")
cmp=$(ask compare "{\"before\": \"$(oid base)\", \"after\": \"$(oid 'a 7')\", \"suites\": [\"fault\"], \"class\": \"fake\"}")
find=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 19')\", \"suite\": \"fault\", \"metric\": \"fault_ns\"}")
none=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 4')\", \"metric\": \"fault_ns\", \"min_effect\": 0.1, \"budget\": 300}")
some=$(ask bisect "{\"good\": \"$(oid 'a 20')\", \"bad\": \"$(oid 'a 30')\", \"metric\": \"faults_per_s\"}")
tight=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 19')\", \"metric\": \"fault_ns\", \"budget\": 3}")
bad_oid=$(ask run "{\"commits\": [\"0123\"]}")
bad_suite=$(ask run "{\"commits\": [\"$(oid base)\"], \"suites\": [\"nope\"]}")
bad_class=$(ask compare "{\"before\": \"$(oid base)\", \"after\": \"$(oid 'a 1')\", \"class\": \"nope\"}")
bad_metric=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 1')\", \"metric\": \"nope\"}")
bad_range=$(ask run '{"commits": []}')
no_build=$(ask compare "{\"before\": \"$(oid 'a 8')\", \"after\": \"$(oid 'a 1')\"}")
serve 0.3 "select count(*) = 0 from requests where ended_at is null"

is "all have ended" "$(sql "select count(*) from requests where ended_at is null")" 0
is "run: builds" "$(sql "select string_agg(c->>'build', ' ') from requests, jsonb_array_elements(result->'commits') c
	where id = $run")" "built failed built"
is "run: boots" "$(sql "select string_agg((c->>'boots') || '/' || (c->>'boots_failed'), ' ')
	from requests, jsonb_array_elements(result->'commits') c where id = $run")" "2/0 0/0 0/2"
is "compare: a comment is the same image" "$(result "$same" identical)" true
is "compare: a slowdown is seen" "$(sql "select s->>'significant', s->>'before_n' from requests,
	jsonb_array_elements(result->'series') s where id = $cmp and s->>'metric' = 'fault_ns'")" "true|5"
is "bisect: the culprit" "$(result "$find" outcome) $(result "$find" culprit)" "culprit $(oid 'a 5')"
like "bisect: its regression" "$(result "$find" regression)" '^[0-9]+$'
like "bisect: nothing to find" "$(result "$none" outcome): $(result "$none" reason)" '^none: no regression above 10.0 %'
like "bisect: what does not build cannot be told apart" "$(result "$some" outcome): $(result "$some" reason)" \
	'^narrowed: .*does not build or boot'
like "bisect: the budget" "$(result "$tight" outcome): $(result "$tight" reason)" '^(narrowed: .*budget of 3 boots|culprit)'
like "unknown commit" "$(error "$bad_oid")" '^failed: commit 0123 is on no followed branch'
like "unknown suite" "$(error "$bad_suite")" '^failed: no suite nope; there are: fault'
like "unknown class" "$(error "$bad_class")" '^failed: no machine class nope; there are: fake'
like "unknown metric" "$(error "$bad_metric")" '^failed: metric nope is not measured there; there are: .*fault_ns'
like "empty range" "$(error "$bad_range")" '^failed: the range is empty'
like "a side that does not build" "$(error "$no_build")" '^failed: the first commit does not build: mm/fake.c:1'
sql "select '# ' || coalesce(outcome, state) || ': ' || reason from bisections order by id"

# A dropped patch: the new line lacks patch 3 of the old, which had made it faster.
line old "$base" 1 6 "'old ' || i, ln(800) - case when i >= 3 then 0.3 else 0 end, true, true"
line new "$base" 1 2 "'old ' || i, ln(800), true, true"
line new "$(commit 'new 2')" 4 6 "'new ' || i, ln(800), true, true"
snapshot "$base" "$(commit 'old 6')"
snapshot "$base" "$(commit 'new 6')"
drop=$(ask bisect "{\"good\": \"$(oid 'old 6')\", \"bad\": \"$(oid 'new 6')\", \"metric\": \"fault_ns\"}")
serve 0.4 "select ended_at is not null from requests where id = $drop"
like "a dropped patch" "$(result "$drop" outcome): $(result "$drop" reason)" '^narrowed: dropping [0-9a-f]{12} \(mm: patch 3\)'

# Cancelled while it searches.
stop=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 19')\", \"metric\": \"fault_ns\"}")
wait_sql 60 "select exists (select from jobs where request = $stop)"
sql "update requests set state = 'cancelled', ended_at = now() where id = $stop"
ok "cancelled jobs end" wait_sql 60 "select not exists (select from jobs where request = $stop and ended_at is null)"

# More boots for one that used its budget up; one that was ended is taken up again from its boots.
of() {
	sql "select id from bisections where request = $1"
}
state() {
	sql "select state || ' ' || coalesce(outcome, '-') from bisections where id = $1"
}
answered=$(ask extend "{\"bisection\": $(of "$find"), \"boots\": 5}")
tight2=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 19')\", \"metric\": \"fault_ns\", \"budget\": 2}")
again=$(ask bisect "{\"good\": \"$(oid base)\", \"bad\": \"$(oid 'a 19')\", \"metric\": \"fault_ns\"}")
serve 0.3 "select ended_at is not null from requests where id = $tight2"
serve 0.3 "select exists (select from bisections where request = $again)"
halt=$(ask halt "{\"bisection\": $(of "$again")}")
ok "halt is done at once" wait_sql 60 "select state = 'done' from requests where id = $halt"
like "an answered bisection is not extended" "$(error "$answered")" '^failed: .*has its answer'
like "the budget is used up" "$(state "$(of "$tight2")")" '^done narrowed$'
like "halted" "$(state "$(of "$again")")" '^(cancelled unfinished|done culprit)$'
ask extend "{\"bisection\": $(of "$tight2"), \"boots\": 80}" >/dev/null
ask resume "{\"bisection\": $(of "$again")}" >/dev/null
serve 0.3 "select count(*) = 0 from requests where state in ('queued', 'running')"
serve 0.3 "select count(*) = 0 from bisections where ended_at is null"
for request in "$tight2" "$again"; do
	is "taken up again: the culprit" "$(sql "select b.state || ' ' || b.outcome || ' ' || c.oid from bisections b
		join commits c on c.id = b.culprit where b.request = $request")" "done culprit $(oid 'a 5')"
done

# A host that could not build is asked again later; what does not compile is not.
sql "select fake_commit('late', $base, 'late', null, 'late');
	insert into builds (tree_oid, recipe, toolchain, commit, layout_seed) select c.tree_oid, b.recipe, b.toolchain, c.id, 0
		from commits c, builds b where c.oid = fake_oid('commit late') limit 1;
	insert into jobs (key, kind, purpose, priority, build, state, error, ended_at)
		select 'build:' || id, 'build', 'detect', 50, id, 'failed', 'no space', now() - interval '5 minutes'
		from builds where tree_oid = fake_oid('tree late')" >/dev/null
late="select state || ' ' || max_attempts from jobs where build = (select id from builds where tree_oid = fake_oid('tree late'))"
sql "notify mmperf, 'jobs'"
sleep 1
is "a build that the host failed rests for a while" "$(sql "$late")" "failed 3"
sql "update jobs set ended_at = now() - interval '11 minutes' where error = 'no space'; notify mmperf, 'jobs'"
ok "... and is tried again" wait_sql 60 "select ($late) = 'queued 6'"
test_end
