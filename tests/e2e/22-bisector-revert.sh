#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The proof with the culprit reverted on the tip (a real repository), and a database that restarts meanwhile.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
own_server "$@"
test_begin
lab_begin 1 "[detect]
	gaps = false"

# 6 commits, each changes a file of its own; 3 is the culprit. With it reverted the tip is fast again.
repo=$dir/state/repo.git
work=$dir/work
mkdir -p "$dir/state"
git init -q --bare "$repo"
git init -q -b main "$work"
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
g() {
	git -C "$work" "$@"
}
# store I PARENT SLOW: HEAD of the work tree as a commit row
store() {
	sql "with p as (insert into patches (patch_id, author_email, subject) values (fake_oid('g$1'), 'a@b', 'g$1') returning id),
		c as (insert into commits (oid, tree_oid, patch, author_name, author_email, authored_at, subject, body)
		select '$(g rev-parse HEAD)', '$(g rev-parse 'HEAD^{tree}')', id, 'A', 'a@b', now(), 'mm: change $1', '' from p
		returning id),
		l as (insert into commit_parents select id, 0, $2 from c where $2 > 0),
		t as (insert into fake_truth values ('$(g rev-parse 'HEAD^{tree}')', 'g$1', ln(800) + $3))
		select id from c"
}
parent=0
for i in 0 1 2 3 4 5 6; do
	echo "$i" >"$work/file$i"
	g add -A
	g commit -q -m "mm: change $i"
	slow=0
	[ $i -lt 3 ] || slow=0.4
	parent=$(store $i $parent $slow)
	[ $i != 0 ] || first=$parent
done
g revert --no-edit HEAD~3 >/dev/null
sql "insert into fake_truth values ('$(g rev-parse 'HEAD^{tree}')', 'reverted', ln(800))"
g push -q "$repo" main~1:refs/heads/main
chmod -R a+rwX "$dir/state"

# Four boots a side say within a fifth what the revert gains, whatever noise they draw.
sql "update fake_noise set sd = 0.02"
snapshot "$first" "$parent"
daemon bisector
ok "heads are asked for" wait_sql 60 "select count(*) = 2 from jobs where kind = 'build'"
pg_ctl() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u postgres -- "$MMPERF_PGBIN/pg_ctl" -D "$MMPERF_PGDATA" "$@" >/dev/null
	else
		"$MMPERF_PGBIN/pg_ctl" -D "$MMPERF_PGDATA" "$@" >/dev/null
	fi
}
pg_ctl -m immediate -w -l "$MMPERF_PGDATA/../log" restart
serve 0.5 "select exists (select from bisections where ended_at is not null)"
is "the lost database was said once" "$(grep -c 'trying again' "$dir/bisector.log")" 1
is "the culprit" "$(sql "select c.subject from regressions r join commits c on c.id = r.culprit")" "mm: change 3"
is "all four kinds of proof boots" \
	"$(sql "select string_agg(role || n, ' ' order by role) from (select role, count(*) n from jobs
	where purpose = 'prove' and kind = 'boot' group by role) x")" "after8 before8 revert4 tip4"
ok "the revert removes nearly all of it" \
	test "$(sql "select revert_effect between 0.7 and 1.3 and revert_lo between 0.3 and revert_effect and revert_hi > revert_effect and revert_reason is null from regressions")" = t
ok "the order of the proof is mixed" \
	test "$(sql "select count(distinct role) from (select distinct on (row_number) role from (select role,
	(row_number() over (order by id) - 1) / 4 as row_number, id from jobs where purpose = 'prove' and kind = 'boot') x
	order by row_number, id) y")" -gt 1
sql "select '# ' || reason from bisections"
test_end
