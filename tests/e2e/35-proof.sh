#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A proof whose boots leave the effect open: as many again, once, and all of them count.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	z = 1000
	gaps = false
[bisect]
	prove-boots = 4"
sql "update fake_noise set sd = 0.01, outlier = 0"

base=$(commit base)
line one "$base" 1 8 "'one ' || i, ln(800) + case when i >= 5 then 0.2 else 0 end, true, true"
snapshot "$base" "$(commit 'one 8')"
# The first boots of the culprit in each proof are as fast as its parent's.
sql "create table fast (boots integer);
	insert into fast values (2);
	create function be_fast() returns trigger language plpgsql as \$\$
	declare j jobs;
	begin
		select x.* into j from jobs x join attempts a on a.job = x.id join boots b on b.attempt = a.id
			join runs r on r.boot = b.id where r.id = new.run;
		if j.purpose = 'prove' and j.role = 'after' and (select count(*) from jobs x where x.bisection = j.bisection
			and x.purpose = 'prove' and x.role = 'after' and x.state = 'done') < (select boots from fast) then
			new.estimate := new.estimate * exp(-0.2);
			new.\"values\" := array[new.estimate];
		end if;
		return new;
	end \$\$;
	create trigger be_fast before insert on samples for each row execute function be_fast()"
daemon bisector
bisect() { # seed
	sql "insert into requests (kind, args, asked_by) values ('bisect', jsonb_build_object('good', fake_oid('commit base'),
		'bad', fake_oid('commit one 8'), 'metric', 'fault_ns'), 'test')"
	serve "$1" "select bool_and(ended_at is not null) and not exists (select from requests where ended_at is null) from bisections"
}
last() {
	sql "select b.outcome, c.subject, string_agg(j.role || ' ' || j.n, ', ' order by j.role) from bisections b
		join commits c on c.id = b.culprit, lateral (select role, count(*) as n from jobs x where x.bisection = b.id
		and x.purpose = 'prove' and x.kind = 'boot' and x.state = 'done' group by role) j
		where b.id = (select max(id) from bisections) group by b.outcome, c.subject"
}
bisect 0.3
is "the second set tells it" "$(last)" 'culprit|mm: patch 5|after 8, before 8'
is "both sets are in the effect" "$(sql "select before_n, after_n, lo > 0, hi > 0.15 and lo < 0.15 from regression_series where is_primary")" '8|8|t|t'
sql "update fast set boots = 100"
bisect 0.4
is "what two sets leave open is not proved, and not asked a third time" "$(last)" 'unproved|mm: patch 5|after 8, before 8'
like "... which is said" "$(sql "select reason from bisections order by id desc limit 1")" 'in 8 \+ 8 fresh boots, which may be nothing'
test_end
