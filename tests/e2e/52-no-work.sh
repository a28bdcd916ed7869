#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What must cost nothing: documentation and comments no boot, a rebase with equal trees no build and no boot, a push back to
# what is known neither, a head that did not move not even a row.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-line.sh"
test_begin
# no suspicions here: noise alone must not ask for boots
line_gaps=true line_settings '[detect]' 'boots = 1' 'z = 9'
plant 20 doc=2 comment=3 doc=7 comment=20

all() { # rounds until nothing is asked for
	for _ in $(seq 30); do
		rounds 1 || return 1
		[ "$(sql "select count(*) from jobs where state in ('queued', 'running')")" != 0 ] || return 0
	done
	return 1
}
costs() {
	sql "select (select count(*) from jobs where kind = 'build') || ' builds, ' || (select count(*) from attempts) || ' attempts, '
		|| (select count(*) from boots) || ' boots'"
}
known() { # every row that following or planning could write
	sql "select (select count(*) from snapshots), (select count(*) from snapshot_commits), (select count(*) from commits),
		(select count(*) from patches), (select count(*) from builds), (select count(*) from jobs), (select count(*) from suites),
		(select count(*) from recipes), (select count(*) from toolchains), (select count(*) from candidates)"
}

daemon runner
daemon bisector
ok 'every commit is measured' wait_sql 900 "select count(distinct image) = 17 from boots where outcome = 'ok'"
ok '... or is known to need no measuring' wait_sql 300 "select count(*) = 21 from builds where outcome = 'built'"
stop_all
ok 'then there is nothing to do' all
is '... by a build of each' "$(sql "select count(*), count(*) filter (where outcome = 'built') from builds")" '21|21'
is '... and a boot of each image, fewer by the commits of words' \
	"$(sql "select count(*), count(distinct image), (select count(*) from images) from boots where outcome = 'ok'")" '17|17|17'
before=$(costs)
rows=$(known)
ok 'a head that did not move' all
is '... stores nothing' "$(known)" "$rows"

# A rebase of 20 commits: an empty commit below them, so all hashes change and no tree.
cd "$dir/tree" || exit 1
old=$(git rev-parse main)
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
new=$(git commit-tree -p base -m 'base: nothing' 'base^{tree}')
list=$(git rev-list --reverse base..main)
git branch -qf base "$new"
for c in $list; do
	new=$(git log -1 --format=%B "$c" | git commit-tree -p "$new" "$c^{tree}")
done
git checkout -q --detach
git branch -qf main "$new"
ok 'a rebase with equal trees' all
is '... is a snapshot of 20 other commits' "$(sql "select count(*) from snapshot_commits a where pos > 0 and snapshot =
	(select max(id) from snapshots) and not exists (select from snapshot_commits b where b.commit = a.commit and b.snapshot < a.snapshot)")" 20
is '... and costs nothing' "$(costs)" "$before"

git branch -qf main "$old~5"
ok 'a push back to an older head' all
is '... is a snapshot' "$(sql "select c.oid from snapshots s join commits c on c.id = s.head order by s.seq desc limit 1")" \
	"$(git rev-parse main)"
is '... and costs nothing' "$(costs)" "$before"

git branch -qf main "$new"
ok 'a push forth to a newer head' all
is '... costs nothing' "$(costs)" "$before"

# Trees that differ by words only: builds tell, boots need not.
cd "$dir" || exit 1
plant --more 21 2 doc=21 comment=22
boots=$(sql 'select count(*) from boots')
ok 'a push of words' all
is '... is built' "$(sql "select count(*) from builds where outcome = 'built'")" 23
is '... and costs no boot' "$(sql 'select count(*) from boots')" "$boots"
is 'no job was asked for twice' "$(sql "select count(*) from jobs where kind = 'boot'")" "$boots"
is 'nothing was suspected' "$(sql 'select count(*) from candidates')" 0
test_end
