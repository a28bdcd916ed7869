#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The bisector alone, over rows: 64 commits with noise across a rebase, with kill -9 all the time.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
[bisect]
	budget = 200
	prove-boots = 8"
sql "update fake_noise set sd = 0.05, outlier = 0.02"

base=$(commit base)
line one "$base" 1 16
snapshot "$base" "$(commit 'one 16')"
daemon bisector
serve 0.1 "select count(*) = 6 from jobs where kind = 'boot' and state = 'done'"
is "the first snapshot costs two builds" "$(sql "select count(*) from jobs where kind = 'build'")" 2
is "and three boots of each" "$(sql "select count(*) from jobs where kind = 'boot' and state = 'done'")" 6

# The rebase: other hashes, patch 9 dropped, more patches; 37 is the planted one, 40 a comment, 41 does not compile, 30 panics.
truth="'two ' || case i when 40 then 39 else i end, ln(800) + case when i >= 37 then 0.12 else 0 end, i <> 41, i <> 30"
line two "$base" 1 8 "$truth"
line two "$(commit 'two 8')" 10 64 "$truth"
# What the culprit touches makes it a tenth as likely as the others; it is found all the same.
sql "update commits set paths = case when subject = 'mm: patch 37' then E'Documentation/mm/x.rst\n' else E'mm/swap.c\n' end
	where subject <> 'mm: patch 30'"
snapshot "$base" "$(commit 'two 64')"

serve 0.2 "select exists (select from bisections where ended_at is not null)" &
server=$!
kills=0
while kill -0 $server 2>/dev/null; do
	sleep $((kills % 2)).$((kills % 7 + 2))
	kill9 bisector
	kills=$((kills + 1))
	daemon bisector
done
echo "# $kills times killed"
is "the bisection ended" "$(sql "select state, outcome from bisections")" "done|culprit"
is "with the planted commit" "$(sql "select c.subject from bisections b join commits c on c.id = b.culprit")" \
	"mm: patch 37"
is "although what it touches made it a tenth as likely" "$(sql "select round((b.prior / a.prior)::numeric, 6), count(*) over ()
	from hypotheses a join commits ac on ac.id = a.commit and ac.subject = 'mm: patch 36',
	hypotheses b join commits bc on bc.id = b.commit and bc.subject = 'mm: patch 37'")" "0.100000|1"
is "posterior at least 0.99" "$(sql "select posterior >= 0.99 from bisections")" t
is "one regression, proved" "$(sql "select state from regressions")" proved
is "no step twice" "$(sql "select count(*) from jobs where purpose = 'bisect' and kind = 'boot'")" "$(sql "select count(*) from steps")"
is "one set of proof boots, or two when one leaves it open" "$(sql "select count(*), count(distinct n), bool_and(n in (8, 16)) from
	(select role, count(*) as n from jobs where purpose = 'prove' and kind = 'boot' group by role) x")" '2|1|t'
is "both ends rebuilt from clean trees" "$(sql "select count(*) from jobs where kind = 'rebuild' and state = 'done'")" 2
is "all masses are a distribution" "$(sql "select round(sum(mass)::numeric, 6) from hypotheses")" 1.000000
# That takes its own build and its parent's; a step that was chosen later knows both.
is "the comment is ruled out when its image is known" "$(sql "select count(*) from hypotheses h
	join commits c on c.id = h.commit
	where c.subject = 'mm: patch 40' and h.mass > 0 and 2 = (
		select count(*) from commits x join builds b on b.tree_oid = x.tree_oid and b.outcome = 'built'
		join jobs j on j.build = b.id and j.kind = 'build'
		where (x.id = c.id or x.id = (select p.parent from commit_parents p where p.commit = c.id))
		and j.ended_at < (select max(created_at) from steps))")" 0
is "no boot is used twice" "$(sql "select count(*) from jobs where candidate is not null and bisection is not null")" 0
echo "# $(sql "select reason from bisections")"
echo "# $(sql "select count(*) || ' boots of the search' from jobs where purpose = 'bisect' and kind = 'boot'")"

# A rebase that changes no tree.
builds=$(sql "select count(*) from builds")
boots=$(sql "select count(*) from jobs where kind = 'boot'")
sql "do \$\$ declare c bigint := $base; begin
	for i in 1..64 loop
		continue when i = 9;
		c := fake_commit('three ' || i, c, 'mm: patch ' || i, 'p' || i, 'two ' || i);
	end loop; end \$\$"
snapshot "$base" "$(commit 'three 64')"
# a pass over the new snapshot is over when a request that is handled in the same pass is
sql "insert into requests (kind, args, asked_by) values ('run', '{\"commits\": []}', 'test')"
wait_sql 60 "select ended_at is not null from requests"
sql "insert into requests (kind, args, asked_by) values ('run', '{\"commits\": []}', 'test')"
wait_sql 60 "select count(*) = 2 from requests where ended_at is not null"
is "a rebase with equal trees costs no build" "$(sql "select count(*) from builds")" "$builds"
is "and no boot" "$(sql "select count(*) from jobs where kind = 'boot'")" "$boots"
test_end
