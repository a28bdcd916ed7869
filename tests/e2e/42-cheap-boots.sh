#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The next boot is where a number costs least: near what lies in the worktree, and away from what does not build, over rows.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	z = 1000
[bisect]
	revert = false
	clean-rebuild = false
	prove-boots = 4"
# Boots and builds take a minute; commit 21 of 32 touches a header that everything includes.
sql "update fake_noise set sd = 0.05, boot_s = 60"
base=$(commit base)
line a "$base" 1 32 "'a ' || i, ln(800) + case when i >= 27 then 0.3 else 0 end, i not between 9 and 14, true"
sql "update commits set paths = case subject when 'mm: patch 21' then E'include/linux/gfp.h\n' else E'mm/a.c\nmm/' || id || E'.c\n' end
	where subject like 'mm: patch %'"
snapshot "$base" "$(commit 'a 32')"
daemon bisector
serve 0.1 "select count(*) = 6 from jobs where kind = 'boot' and state = 'done'"
# Those two builds tell no time: what follows is all that is known.
sql "update attempts a set started_at = a.ended_at from jobs j where j.id = a.job and j.kind = 'build'"

# made NAME SECONDS: what an earlier build of that commit's tree took, in a layout that nobody asks for
made() {
	sql "with b as (insert into builds (tree_oid, recipe, toolchain, commit, layout_seed, outcome, error, seconds, incremental)
			select c.tree_oid, r.id, t.id, c.id, 1000 + (select count(*) from builds), 'failed', 'planted', $2, true
			from commits c, recipes r, toolchains t where c.oid = fake_oid('commit $1') returning id),
		j as (insert into jobs (key, kind, state, priority, purpose, build, ended_at)
			select 'build:' || b.id, 'build', 'done', 100, 'detect', b.id, now() from b returning id)
		insert into attempts (job, n, host, token, expires_at, outcome, started_at, ended_at)
			select j.id, 1, h.id, nextval('lease_tokens'), now(), 'ok', now() - interval '$2 s', now() from j, hosts h" >/dev/null
}
made 'a 30' 31
made 'a 28' 32
made 'a 20' 520
made 'a 18' 31
made 'a 24' 522
made 'a 32' 34

sql "insert into requests (kind, args, asked_by) values ('bisect', jsonb_build_object('good', fake_oid('commit base'),
	'bad', fake_oid('commit a 32'), 'metric', 'fault_ns'), 'test')"
serve 0.2 "select exists (select from bisections where ended_at is not null)"
# Half of the suspects are below 17: with a build of one price the first node between the ends would lie there.
first="select substring(c.subject from '[0-9]+\$')::int from steps s join commits c on c.id = s.commit
	where c.subject <> 'mm: patch 32' and c.subject like 'mm: patch %' order by s.n limit 1"
is "the culprit is found" "$(sql "select b.outcome, c.subject from bisections b join commits c on c.id = b.culprit")" 'culprit|mm: patch 27'
is "the first split is on the side of the header that lies in the worktree" "$(sql "select ($first) between 21 and 31")" t
like "the log says what that build takes" "$(cat "$dir/bisector.log")" 'asks for the build of [0-9a-f]{12}, about [34][0-9] s'
is "nothing that does not build was tried where the header lies" "$(sql "select count(*) from builds b join commits c on c.id = b.commit
	where b.outcome = 'failed' and b.layout_seed = 0")" 0
echo "# first split at $(sql "$first"); $(sql "select count(*) from jobs where kind = 'build'") builds"
test_end
