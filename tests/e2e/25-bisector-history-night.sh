#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The nightly look over whole histories, over rows: it places the steps, finds what rose too slowly for the online detector, lets
# two candidates of one step become one, and closes a regression that recovered.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
night() {
	cat <<-EOT
		[detect]
			gaps = false
			z = 7
			min-effect = 0.03
			history-every = $1
		[bisect]
			budget = 12
			revert = false
			clean-rebuild = false
	EOT
}
# measure FROM TO: routine boots of patches that nobody asked for
measure() {
	sql "
	do \$\$ declare b bigint; r bigint; t bigint; k commits;
	begin
		select id into r from recipes;
		select id into t from toolchains;
		for k in select * from commits where subject ~ '^mm: patch' and substring(subject from '[0-9]+\$')::int between $1 and $2
			order by id loop
			insert into builds (tree_oid, recipe, toolchain, commit) values (k.tree_oid, r, t, k.id) returning id into b;
			insert into jobs (key, kind, priority, purpose, build) values ('build:' || b, 'build', 1, 'detect', b);
		end loop;
	end \$\$"
	serve 0.1 "select true"
	sql "insert into jobs (key, kind, priority, purpose, build, image, commit, class, suites)
		select 'boot:old:' || b.id || ':' || n, 'boot', 1, 'detect', b.id, b.image, b.commit, cl.id, array[s.id]
		from builds b join commits k on k.id = b.commit, classes cl, suites s, generate_series(1, 3) n
		where substring(k.subject from '[0-9]+\$')::int between $1 and $2 order by b.id, n"
	serve 0.2 "select true"
}

lab_begin 1 "$(night 0s)"
sql "update fake_noise set sd = 0.02"

# Heads of which the old ones were measured while nobody decided: a rise of 12 % in steps of 1.5 %, long ago.
base=$(commit base)
line a "$base" 1 40 "'a ' || i, ln(800) + 0.015 * least(greatest(i - 6, 0), 8), true, true"
"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
for head in $(seq 1 40); do
	snapshot "$base" "$(commit "a $head")"
done
measure 1 40
is "forty heads were measured" "$(sql "select count(distinct image) from boot_estimates where purpose = 'detect'")" 40
"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
before=$(sql "select count(*) from candidates where state = 'confirming'")
is "the planner knows of what grew" "$(sql "select bool_and(reltuples >= 120) from pg_class where relname in ('runs', 'samples_0')")" t
is "nothing is suspected when only the newest heads are looked at" "$before" 0
sed -i 's/history-every = 0s/history-every = 1d/' "$dir/config"
daemon bisector
serve 0.3 "select exists (select from candidates where raised_by = 'history')" 40
is "the history holds more than one level" "$(sql "select count(*) > 1 from segments g join series s on s.id = g.series
	join metrics m on m.id = s.metric and m.name = 'fault_ns'")" t
is "the first ends where the rise begins" "$(sql "select substring(c.subject from '[0-9]+\$')::int between 5 and 9 from segments g
	join commits c on c.id = g.last_commit join series s on s.id = g.series join metrics m on m.id = s.metric
	and m.name = 'fault_ns' where g.n = 0")" t
is "the noise is that of heads" "$(sql "select sd between 0.006 and 0.025 from histories h
	join series s on s.id = h.series join metrics m on m.id = s.metric and m.name = 'fault_ns'")" t
is "and says what would have been seen" "$(sql "select down_to between 0.02 and 0.5 from histories h
	join series s on s.id = h.series join metrics m on m.id = s.metric and m.name = 'lock.lruvec.wait_per_op'")" t
is "the rise is raised as a whole" "$(sql "select detect_effect between 0.08 and 0.16 from candidates x join series s on s.id = x.series
	join metrics m on m.id = s.metric and m.name = 'fault_ns' where raised_by = 'history'")" t
serve 0.4 "select exists (select from candidates where raised_by = 'history' and state = 'confirmed')
	and not exists (select from bisections where ended_at is null)" 60
is "and confirmed by fresh boots" "$(sql "select count(*) from candidates where raised_by = 'history' and state = 'confirmed'
	and leader is null")" 1
kill9 bisector

# A second candidate of that step, before it was decided: the night ends it.
sql "update candidates set state = 'confirming', decided_at = null, leader = null where id = (select min(id) from candidates where state = 'confirmed');
	insert into candidates (series, before_image, after_image, before_commit, after_commit, branch, state, seed, detect_effect, detect_z)
	select c.series, x.image, c.after_image, x.commit, c.after_commit, c.branch, 'confirming', 1, 0.1, 9
	from candidates c, builds x join commits k on k.id = x.commit and k.subject = 'mm: patch 3' where c.raised_by = 'history'
	order by c.id limit 1"
sql "update histories set made_at = now() - interval '2 days'"
"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
like "two candidates of one step become one" "$(sql "select reason from candidates where state = 'abandoned' order by id desc limit 1")" \
	'its step is that of candidate [0-9]+'

mmperf status --history >"$dir/out"
like "status tells the levels of each series" "$(cat "$dir/out")" 'fault_ns +40 +[2-9] '
mmperf status --json >"$dir/out"
is "and scripts too" "$(/usr/bin/python3 -c 'import json, sys
print(sorted((h["metric"], h["heads"]) for h in json.load(sys.stdin)["histories"])[0])' <"$dir/out")" "('fault_ns', 40)"

is "each head says what it alone would have shown, the first ones nothing" "$(/usr/bin/python3 -c 'import json, sys
h = [h for h in json.load(sys.stdin)["histories"] if h["metric"] == "lock.lruvec.wait_per_op"][0]["commits"]
print(len(h), h[0]["subject"], all(0.02 < c["down_to"] < 0.9 for c in h), h[1]["found"])' <"$dir/out")" \
	"10 mm: patch 40 True None"
is "of which there is too little before them" "$(sql "select bool_and(head_down_to[1] = 'Infinity' and cardinality(head_down_to) = 40) from histories")" t
mmperf status --history >"$dir/out"
like "a person reads that, too" "$(cat "$dir/out")" 'wait_per_op +[0-9a-f]{12} +- +\+[0-9.]+ % +mm: patch 39'
"$build/mmperf-reporter" --config "$dir/config" --once 2>>"$dir/reporter.log"
page=$dir/state/pages/history.html
ok "and on a page, well-formed" xmllint --noout "$page"
like "with every head" "$(cat "$page")" 'mm: patch 39</td><td>nothing</td><td class="num">\+[0-9.]+ %'

# The same boots, three of ten of them higher by ten deviations: no change, but two heaps.
is "one heap is one" "$(sql "select count(mode_apart) from histories")" 0
sql "create table kept as select run, series, estimate from samples;
	update samples set estimate = exp(6 + 0.02 * fake_normal() + case when random() < 0.3 then 0.2 else 0 end)
		where series in (select s.id from series s join metrics m on m.id = s.metric and m.name = 'fault_ns');
	update histories set made_at = now() - interval '2 days'"
"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
is "two heaps are recognised" "$(sql "select m.name, abs(mode_apart - 0.2) < 0.03, abs(mode_upper - 0.3) < 0.15 from histories h
	join series s on s.id = h.series join metrics m on m.id = s.metric where mode_apart is not null")" "fault_ns|t|t"
like "and said" "$(mmperf status --history)" 'fault_ns +40 .*\+(1[89]|2[0-5])[0-9.]+ % +[1-4][0-9.]+ %'
like "in the log, too" "$(cat "$dir/bisector.log")" 'history of fault_ns: its boots lie in two heaps'
sql "update samples x set estimate = k.estimate from kept k where k.run = x.run and k.series = x.series"

# A regression that was proved, and heads after it whose numbers are as good as before it.
sql "insert into regressions (tree, patch, culprit, parent, bisection, state, posterior) select b.tree, c.patch, c.id, p.parent, b.id,
	'reported', 0.99 from bisections b, commits c join commit_parents p on p.commit = c.id where c.subject = 'mm: patch 8'"
sql "insert into regression_series select r.id, s.id, true, 8, 800, 8, 900, ln(900 / 800.0), 0.1, 0.14, true
	from regressions r, series s join metrics m on m.id = s.metric and m.name = 'fault_ns'"
state() {
	sql "update histories set made_at = now() - interval '2 days'"
	"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
	sql "select r.state, coalesce(c.subject, '-') from regressions r left join commits c on c.id = r.fixed_commit"
}
is "while the numbers are bad it is open" "$(state)" "reported|-"
line b "$(commit 'a 40')" 41 46 "'b ' || i, ln(800), true, true"
measure 41 46
snapshot "$base" "$(commit 'b 41')"
is "one good head is too few" "$(state)" "reported|-"
for head in $(seq 42 46); do
	snapshot "$base" "$(commit "b $head")"
done
is "when they are good again it is closed" "$(state)" "fixed|mm: patch 41"
mmperf regressions >"$dir/out"
like "and shown so" "$(cat "$dir/out")" 'fixed'
test_end
