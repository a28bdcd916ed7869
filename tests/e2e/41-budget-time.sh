#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A search whose time is used up ends as a narrowed range, and goes on when it is taken up again, over rows.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	z = 1000
[bisect]
	budget-time = 2h
	revert = false
	clean-rebuild = false
	prove-boots = 4"
sql "update fake_noise set sd = 0.05"
base=$(commit base)
line a "$base" 1 32 "'a ' || i, ln(800) + case when i >= 20 then 0.2 else 0 end, true, true"
snapshot "$base" "$(commit 'a 32')"
# The fifth boot of a search brings the clock to three hours.
sql "create function age() returns trigger language plpgsql as \$\$
	begin
		update bisections set begun_at = now() - interval '3 hours' where id = new.bisection and old.state <> 'done'
			and (select count(*) from jobs where bisection = new.bisection and purpose = 'bisect' and state = 'done') = 5;
		return null;
	end \$\$;
	create trigger age after update on jobs for each row when (new.purpose = 'bisect' and new.state = 'done')
	execute function age()"
daemon bisector
sql "insert into requests (kind, args, asked_by) values ('bisect', jsonb_build_object('good', fake_oid('commit base'),
	'bad', fake_oid('commit a 32'), 'metric', 'fault_ns'), 'test')"
serve 0.2 "select exists (select from bisections where ended_at is not null)"
like "it ends when its time is used up" "$(sql "select outcome, reason from bisections")" '^narrowed\|one of .*Its time of 3.0 hours is used up'
is "... with the boots that it had" "$(sql "select count(*) from jobs where purpose = 'bisect' and kind = 'boot'")" 5
mmperf bisect resume "$(sql 'select id from bisections')" >"$dir/out" 2>&1
serve 0.3 "select exists (select from bisections where outcome = 'culprit')" 60
is "taken up again it has as much time once more" "$(sql "select b.outcome, c.subject from bisections b join commits c on c.id = b.culprit")" \
	'culprit|mm: patch 20'
test_end
