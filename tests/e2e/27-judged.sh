#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What an emulated class judges: not what wants real CPUs, unless its suite names it.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 2 "[detect]
	gaps = false"

# Both metrics become worse by a third; only one means something under an emulator.
sql "update classes set emulated = true; update metrics set real_cpus = true where name = 'faults_per_s' or name like 'lock.%'"
base=$(commit base)
line a "$base" 1 6 "'a ' || i, ln(800) + case when i >= 4 then 0.34 else 0 end, true, true"
snapshot "$base" "$(commit 'a 6')"
daemon bisector
raised="select coalesce(string_agg(distinct m.name, ' '), '-') from candidates c join series s on s.id = c.series
	join metrics m on m.id = s.metric"
serve 0.5 "select count(*) > 0 from candidates" 60
serve 0.5 "select count(*) = 0 from jobs where ended_at is null" 120
is "an emulated class raises no candidate by what wants real CPUs" "$(sql "$raised")" fault_ns

ask_run() {
	id=$(sql "insert into requests (kind, args, asked_by) values ('run', jsonb_build_object('commits',
		jsonb_build_array(fake_oid('commit base')), 'boots', 1), 'test') returning id")
	serve 0.4 "select ended_at is not null from requests where id = $id" 60
	sql "select string_agg((s->>'metric') || '=' || (s->>'judged'), ' ' order by s->>'metric') from requests,
		jsonb_array_elements(result->'commits'->0->'series') s where id = $id"
}
is "mmperf run tells what is judged" "$(ask_run)" "fault_ns=true faults_per_s=false lock.lruvec.wait_per_op=false"
sql "update classes set emulated = false"
is "a real class judges all of it" "$(ask_run)" "fault_ns=true faults_per_s=true lock.lruvec.wait_per_op=true"
sql "update classes set emulated = true"
kill9 bisector
printf '%s\n' '[suite "fault"]' '	judge = faults_per_s' >>"$dir/config"
daemon bisector
is "an emulated class judges what its suite names" "$(ask_run)" "fault_ns=false faults_per_s=true lock.lruvec.wait_per_op=false"
test_end
