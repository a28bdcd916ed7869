#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a culprit changed of the code that its benchmark runs, over rows: layout suspects are told, and what is not known is said.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	z = 1000
[bisect]
	revert = false
	clean-rebuild = false
	prove-boots = 5"
sql "update fake_noise set sd = 0.01, outlier = 0"

# Digests of what is built: at each step of the metric another function differs.
store=$dir/state/artifacts
keep() { # first commit that has it, lines
	printf '%s\n' "$2" >"$dir/list"
	sum=$(sha256sum "$dir/list" | cut -d' ' -f1)
	mkdir -p "$store/$(echo "$sum" | cut -c1-2)"
	cp "$dir/list" "$store/$(echo "$sum" | cut -c1-2)/$(echo "$sum" | cut -c3-)"
	sql "insert into lists select $1, a.id from artifacts a where a.sha256 = '$sum'" >/dev/null
}
sql "create table lists (from_commit integer, artifact bigint)"
for list in '0:busy 111,idle 222,idle 223' '4:busy 111,idle 222,idle 224,more 999' '8:busy 111,idle 225,more 999' '12:busy 112,idle 225,more 999'; do
	lines=$(echo "${list#*:}" | tr , '\n')
	printf '%s\n' "$lines" >"$dir/list"
	sql "insert into artifacts (sha256, size, kind) values ('$(sha256sum "$dir/list" | cut -d' ' -f1)', 1, 'functions')"
	keep "${list%%:*}" "$lines"
done
sql "create function have_list() returns trigger language plpgsql as \$\$
	begin
		new.functions := (select l.artifact from lists l, commits c where c.id = new.commit
			and l.from_commit <= substring(c.subject from '[0-9]+\$')::int order by l.from_commit desc limit 1);
		return new;
	end \$\$;
	create trigger have_list before update on builds for each row when (new.outcome = 'built') execute function have_list()"

base=$(commit base)
line a "$base" 1 20 "'a ' || i, ln(800) + 0.2 * ((i >= 4)::int + (i >= 8)::int + (i >= 12)::int + (i >= 16)::int), true, true"
snapshot "$base" "$(commit 'a 20')"
daemon bisector
bisect() { # seed, good, bad: what its regression says of the code
	sql "insert into requests (kind, args, asked_by) values ('bisect', jsonb_build_object('good', fake_oid('commit a $2'),
		'bad', fake_oid('commit a $3'), 'metric', 'fault_ns'), 'test')"
	serve "$1" "select bool_and(ended_at is not null) and not exists (select from requests where ended_at is null) from bisections"
	sql "select c.subject, layout_suspect, functions_differ, functions_hot, functions_hot_differ,
		replace(functions_names, E'\n', ' '), functions_reason from regressions r join commits c on c.id = r.culprit order by r.id desc limit 1"
}
is "without a profile all functions count" "$(bisect 0.1 2 6)" 'mm: patch 4|f|2|0|0|idle more|'
sql "insert into profiles select max(id), 'cpu-clock', 1000, 0, '{\"entry;busy\": 900, \"entry;rare.cold\": 96, \"entry;idle\": 4}' from runs"
is "a profile tells what the benchmark runs: here nothing of it differs" "$(bisect 0.2 6 10)" 'mm: patch 8|t|1|1|0|idle|'
like "... which the log says" "$(cat "$dir/bisector.log")" 'culprit: .*layout suspect'
like "... and the report" "$("$build/mmperf" --config "$dir/config" report "$(sql 'select max(id) from regressions')" | tr -s ' \n' ' ')" \
	"code: LAYOUT SUSPECT: the commit may only have moved code. 1 function differs from the parent's: idle; none of the 1 where"
is "what differs in a hot function is the commit's" "$(bisect 0.3 10 14)" 'mm: patch 12|f|1|1|1|busy|'
rm -r "$store"
is "what is not there is said, and stops nothing" "$(bisect 0.4 14 18)" 'mm: patch 16||||||the builds are kept on another host'
test_end
