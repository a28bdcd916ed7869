#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How searches end whose question has no plain answer, over rows: the change is gone on the tip, the good end is not good, the metric stops
# existing half way.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	min-effect = 0.1
	history-every = 0s
	z = 100
[bisect]
	revert = false
	clean-rebuild = false
	prove-boots = 3
	budget = 120
[suite \"fault\"]
	judge = fault_ns"
sql "update fake_noise set sd = 0.03"

# 4 brings a third more, 9 takes it away; 13 brings it again, and 12 to 14 do not tell.
base=$(commit base)
line a "$base" 1 18 "'a ' || i, ln(800) + case when i between 4 and 8 or i >= 13 then 0.3 else 0 end, true, true, i not between 12 and 14"
snapshot "$base" "$(commit 'a 18')"
daemon bisector
serve 0.1 "select count(*) >= 6 from boot_estimates e join series s on s.id = e.series join metrics m on m.id = s.metric where m.name = 'fault_ns'"
sql "update branches set active = false"
# search SEED GOOD BAD: the outcome and reason of a bisection by hand
search() {
	_ask=$(sql "insert into requests (kind, args, asked_by) select 'bisect', jsonb_build_object('good', g.oid, 'bad', b.oid, 'metric', 'fault_ns'), 'test'
		from commits g, commits b where g.id = $2 and b.id = $3 returning id")
	serve "0.$1" "select exists (select from requests where id = $_ask and ended_at is not null)"
	sql "select outcome || ': ' || reason from bisections where request = $_ask"
}

like "gone on the tip: nothing lies between the ends" "$(search 2 "$base" "$(commit 'a 11')")" '^none: no regression above 10.0 % between good and bad'
like "a good end that is not good: nothing came behind it" "$(search 3 "$(commit 'a 5')" "$(commit 'a 8')")" '^none: no regression above 10.0 %'
like "... and one that is worse than the bad one: likewise" "$(search 4 "$(commit 'a 5')" "$(commit 'a 11')")" '^none: no regression above 10.0 %'
got=$(search 5 "$(commit 'a 10')" "$(commit 'a 18')")
like "a metric that stops existing half way: what lies around the gap" "$got" \
	'^narrowed: one of 4 .*What lies between them does not build or boot, or no longer gives this metric'
for i in 12 13 14 15; do
	like "... patch $i is among them" "$got" "mm: patch $i\)"
done
is "... without using the budget up" "$(sql "select count(*) < 60 from jobs where purpose = 'bisect'
	and bisection = (select max(id) from bisections)")" t
is "... and with two boots of a commit that does not tell at most" "$(sql "select max(n) <= 2 from (select count(*) as n from jobs j
	join commits c on c.id = j.commit where j.purpose = 'bisect' and j.kind = 'boot' and c.subject in ('mm: patch 12', 'mm: patch 13', 'mm: patch 14')
	group by j.bisection, j.commit) x")" t
test_end
