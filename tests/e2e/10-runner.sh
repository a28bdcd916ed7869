#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The runner alone, over a tree that builds in a second and fake machines: following, builds, boots, failures.
. "$(dirname "$0")/../lib.sh"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 8 shift=5:0.2 doc=2 comment=3 break=6 panic=8 hostile=4 series=1:3 \
	metric=fault_ns:ns:lower:1000:0.03 metric=lock.lruvec.wait_per_op:ns:lower:50:0.1 || exit 1
echo '# nothing' >"$dir/tiny.config"
settings_head >"$dir/config"
settings_tiny >>"$dir/config"
cat >>"$dir/config" <<-EOF
	[build]
		min-free = 1M
	[machine "m1"]
		class = fake
		driver = fake
		boot-timeout = 2s
	[machine "m2"]
		class = fake
		driver = fake
		boot-timeout = 2s
EOF
once() {
	"$build/mmperf-runner" --config "$dir/config" --once >>"$dir/runner.log" 2>&1
}

# Following --------------------------------------------------------------------------------------------
ok 'one pass over a fresh tree' once
is 'a snapshot of a base and eight commits' \
	"$(sql "select count(*), min(pos), max(pos) from snapshot_commits join snapshots s on s.id = snapshot where seq = 1")" '9|0|8'
is 'commits in order, parents stored' \
	"$(sql "select count(*) from snapshot_commits a join snapshot_commits b on b.snapshot = a.snapshot and b.pos = a.pos + 1
		join commit_parents p on p.commit = b.commit and p.parent = a.commit")" 8
is 'the marked series is one group' \
	"$(sql "select string_agg(group_first::text, ' ' order by pos) from snapshot_commits")" '0 1 1 1 4 5 6 7 8'
is 'patch ids are those of git' \
	"$(sql "select p.patch_id from commits c join patches p on p.id = c.patch where c.subject = 'mm: change number 5'")" \
	"$(git -C "$tree" diff-tree -p --full-index main~3 | git patch-id --stable | cut -d' ' -f1)"
is 'what a commit touches is stored, of the root it is not known' \
	"$(sql "select paths from commits where subject = 'mm: change number 5'"),$(sql "select count(*) from commits where paths is null")" \
	"$(git -C "$tree" diff-tree -r --no-commit-id --name-only main~3),1"
is 'a hostile message is stored as it is' \
	"$(sql "select subject from commits where oid = '$(git -C "$tree" rev-parse main~4)'")" \
	"$(git -C "$tree" log -1 --format=%s main~4)"
ok 'a head that did not move' once
is '... stores nothing' "$(sql 'select count(*) from snapshots')" 1
is 'the host and its machines are there' \
	"$(sql "select h.name, count(*) from hosts h join machines m on m.host = h.id where m.state = 'up' group by 1")" 'testhost|2'

# Building ---------------------------------------------------------------------------------------------
sql "insert into recipes (name, version, content) values ('tiny', 1, E'# nothing\n')"
want_builds() { # snapshot number
	sql "insert into builds (tree_oid, recipe, toolchain, commit)
		select distinct on (c.tree_oid) c.tree_oid, r.id, h.toolchain, c.id from recipes r, hosts h, snapshots s
			join snapshot_commits sc on sc.snapshot = s.id join commits c on c.id = sc.commit where s.seq = $1
			order by c.tree_oid, sc.pos
		on conflict do nothing;
		insert into jobs (key, kind, purpose, priority, build)
		select 'build:' || b.id, 'build', 'detect', 50, b.id from builds b order by b.commit on conflict do nothing"
}
want_builds 1
ok 'builds' once
is 'one tree of nine does not compile' \
	"$(sql "select string_agg(outcome || ' ' || n, ', ' order by outcome) from (select outcome, count(*) as n from builds group by 1) x")" \
	'built 8, failed 1'
is 'commits that change documentation or comments share an image' \
	"$(sql "select count(distinct b.image) from builds b join commits c on c.id = b.commit
		where c.subject in ('mm: change number 1', 'mm: change number 2', 'mm: change number 3')")" 1
like 'the compiler is quoted' "$(sql "select error from builds where outcome = 'failed'")" 'code/6.c.*error:'
is 'all jobs are done' "$(sql "select string_agg(distinct state, ',') from jobs")" done
is 'all but the first were incremental' \
	"$(sql "select count(*) from builds where not incremental")" 1
sql "insert into jobs (key, kind, purpose, priority, build)
	select 'rebuild:' || id, 'rebuild', 'prove', 30, id from builds where outcome = 'built'"
ok 'clean rebuilds' once
is '... give the same images' "$(sql "select count(*) from builds where clean_verified_at is not null")" 8
is '... and no other outcome' "$(sql "select string_agg(distinct state, ',') from jobs where kind = 'rebuild'")" done
if [ "$(id -u)" = 0 ]; then
	is 'builds run as the build user' "$(stat -c %U "$dir/cache/worktrees/tiny/tree/vmlinux")" mmperf-build
fi

# Booting ----------------------------------------------------------------------------------------------
sql "insert into suites (name, version, definition) values ('fault', 1,
	'{\"benchmark\": \"fault\", \"params\": {\"size\": \"16M\"}, \"passes\": [\"clean\", \"instrumented\"]}')"
want_boots() { # subject, count, key
	sql "insert into jobs (key, kind, purpose, priority, build, image, commit, class, suites)
		select '$3:' || n, 'boot', 'detect', 50, b.id, b.image, c.id, cl.id, array[s.id]
		from generate_series(1, $2) n, classes cl, suites s, commits c join builds b on b.tree_oid = c.tree_oid
		where c.subject = '$1'"
}
want_boots 'mm: change number 1' 6 before
want_boots 'mm: change number 5' 6 after
want_boots 'mm: change number 8' 1 panic
ok 'boots' once
is 'good boots' "$(sql "select count(*) from boots where outcome = 'ok'")" 12
is 'a panic is tried twice and is a failure of the kernel' \
	"$(sql "select j.state, count(*), min(a.outcome), min(b.outcome) from jobs j join attempts a on a.job = j.id
		join boots b on b.attempt = a.id where j.key = 'panic:1' group by 1")" 'failed|2|kernel|panic'
like 'the console tells why' "$(sql "select reason from boots where outcome = 'panic' limit 1")" 'Kernel panic'
is 'every boot has its console' "$(sql "select count(*) from boots where console is null")" 0
sha256=$(sql "select a.sha256 from boots b join artifacts a on a.id = b.console where b.outcome = 'panic' limit 1")
like '... compressed' "$(find "$dir/state/artifacts" -type f -path "*${sha256#??}" -exec zcat {} +)" 'Kernel panic'
last=$(sql "select m.name, b.outcome from boots b join machines m on m.id = b.machine order by b.id desc limit 1")
like '... to be read again' "$(mmperf machine console "${last%|*}" --last 2>&1)" "^mmperf: this boot ended as ${last#*|}"
is 'samples of both passes, one setup' \
	"$(sql "select count(*), count(distinct series), count(distinct setup) from samples join series s on s.id = series")" '24|2|1'
is 'five iterations and their median' \
	"$(sql "select count(*) from samples where array_length(values, 1) <> 5
		or abs(estimate - (select percentile_cont(0.5) within group (order by v) from unnest(values) v)) > 1e-9")" 0
is 'the planted shift is there' "$(sql "with m as (select j.key like 'after%' as after, avg(ln(e.estimate)) as m
	from boot_estimates e join series s on s.id = e.series join metrics mt on mt.id = s.metric join jobs j on j.id = e.job
	where mt.name = 'fault_ns' group by 1) select abs(max(m) - min(m) - 0.2) < 0.06 from m")" t
is 'locks and their health' "$(sql "select (select count(*) from lock_waits), (select count(*) from lock_health)")" '12|12'
is 'both machines worked' "$(sql "select count(distinct machine) from boots")" 2
is 'no lease is left' "$(sql "select count(*) from leases")" 0
is 'nothing is left of the attempts' "$(ls "$dir/state/attempts")" ''

# A rebase: new hashes, the same patches -----------------------------------------------------------------
sh "$root/tests/make-fake-tree" --rebase "$tree" drop=7 || exit 1
ok 'a force-push is followed' once
is 'the new snapshot lacks the dropped patch' \
	"$(sql "select count(*) from snapshot_commits sc join snapshots s on s.id = sc.snapshot where s.seq = 2")" 8
is 'its patches are known ones' \
	"$(sql "select count(*) from patches where id > (select max(c.patch) from snapshot_commits sc join commits c on c.id = sc.commit
		join snapshots s on s.id = sc.snapshot where s.seq = 1 and c.subject like 'mm:%')
		and subject like 'mm:%' and lineage is null")" 0
ok 'the old head is still in the repository' git -c safe.directory='*' -C "$dir/state/repo.git" cat-file -e \
	"$(sql "select c.oid from snapshots s join commits c on c.id = s.head where s.seq = 1")"

# A fresh database, the same cache -----------------------------------------------------------------------
before=$(sql "select string_agg(content_hash, ' ' order by content_hash) from images i
	join builds b on b.image = i.id")
dropdb --force "$PGDATABASE" && createdb -T mmperf_template "$PGDATABASE"
old=$(git -c safe.directory='*' -C "$dir/state/repo.git" rev-parse refs/mmperf/snapshots/test/main/1)
git -C "$tree" checkout -q --detach "$old"
git -C "$tree" branch -qf main "$old"
git -C "$tree" branch -qf base "$old~8"
ok 'following into a fresh database' once
sql "insert into recipes (name, version, content) values ('tiny', 1, E'# nothing\n')"
want_builds 1
rm -rf "$dir/cache/worktrees"
ok 'builds come from the cache' once
ok '... all of them' test ! -e "$dir/cache/worktrees"
is '... and give the same images' \
	"$(sql "select string_agg(content_hash, ' ' order by content_hash) from images i join builds b on b.image = i.id")" "$before"

# Layouts ----------------------------------------------------------------------------------------------
sql "insert into builds (tree_oid, recipe, toolchain, commit, layout_seed)
	select c.tree_oid, r.id, h.toolchain, c.id, seed from commits c, recipes r, hosts h, generate_series(1, 2) seed
		where c.subject = 'mm: change number 5';
	insert into jobs (key, kind, purpose, priority, build)
	select 'build:' || id, 'build', 'request', 50, id from builds where layout_seed > 0"
ok 'other layouts of one tree' once
is '... are other images' "$(sql "select count(distinct image) from builds b join commits c on c.tree_oid = b.tree_oid
	where c.subject = 'mm: change number 5'")" 3
sql "insert into jobs (key, kind, purpose, priority, build)
	select 'rebuild:' || id, 'rebuild', 'prove', 30, id from builds where layout_seed > 0"
ok 'the same layouts from clean trees' once
is '... are the same images' "$(sql "select count(*) from builds where layout_seed > 0 and clean_verified_at is not null")" 2
images=$(sql 'select count(*) from images')
sh "$root/tests/make-fake-tree" --rebase "$tree" || exit 1
ok 'a rebase where a layout was built last' once
want_builds 2
ok 'plain builds over it' once
is '... are plain again' "$(sql 'select count(*) from images')" "$images"
test_end
