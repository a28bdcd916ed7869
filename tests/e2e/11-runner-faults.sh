#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What fails around the runner: kill -9 of it and of its jobs, a database that goes away, machines that die, hung and
# wrong kernels, garbage from the guest, cancelled jobs, a full disk. No result is lost, none is stored twice.
. "$(dirname "$0")/../lib.sh"
own_server "$@"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 3 hang=2 || exit 1
echo '# nothing' >"$dir/tiny.config"
echo 'boot-s 0.3' >"$dir/slow.script"
write_config() { # min-free
	settings_head >"$dir/config"
	cat >>"$dir/config" <<-EOF
		[build]
			min-free = $1
			ccache = false
		[recipe "tiny"]
			config = $dir/tiny.config
		[tree "test"]
			url = $tree
			branch = main
			recipe = tiny
			poll = 1h
		[machine "m1"]
			class = fake
			driver = fake
			script = $dir/slow.script
			boot-timeout = 1s
			run-timeout = 2s
	EOF
}
write_config 1M
once() {
	"$build/mmperf-runner" --config "$dir/config" --once >>"$dir/runner.log" 2>&1
}
key_state() {
	sql "select state from jobs where key = '$1'"
}
ok 'following' once
is 'without a base the root commit is it' "$(sql "select count(*) from snapshot_commits")" 4

sql "insert into recipes (name, version, content) values ('tiny', 1, E'# nothing\n');
	insert into builds (tree_oid, recipe, toolchain, commit) select c.tree_oid, r.id, h.toolchain, c.id from recipes r, hosts h, commits c;
	insert into suites (name, version, definition) values ('fault', 1, '{\"benchmark\": \"fault\", \"passes\": [\"clean\"]}')"
want_build() { # key, subject, max_attempts
	sql "insert into jobs (key, kind, purpose, priority, build, max_attempts) select '$1', 'build', 'detect', 50, b.id, $3
		from builds b join commits c on c.id = b.commit where c.subject = '$2'"
}
want_boots() { # key, subject, count
	sql "insert into jobs (key, kind, purpose, priority, build, image, commit, class, suites)
		select '$1:' || n, 'boot', 'detect', 50, b.id, b.image, c.id, cl.id, array[s.id]
		from generate_series(1, $3) n, classes cl, suites s, commits c join builds b on b.commit = c.id where c.subject = '$2'"
}

# A full disk is nobody's commit's fault -------------------------------------------------------------------
write_config 900T
want_build full 'mm: change number 1' 1
ok 'a build without space' once
like 'fails as infrastructure and says what to do' \
	"$(sql "select j.state, a.outcome, a.error from jobs j join attempts a on a.job = j.id where j.key = 'full'")" \
	'failed\|infra\|.*no space left on device.*min-free'
is 'and the build is still open' "$(sql "select distinct outcome from builds")" pending
write_config 1M

# kill -9 in the middle of builds ---------------------------------------------------------------------------
cat >"$dir/slowcc" <<-'EOF'
	#!/bin/sh
	[ "$1" = --version ] || sleep 0.4
	exec gcc "$@"
EOF
chmod 755 "$dir/slowcc"
sed -i "s|min-free = 1M|min-free = 1M\n\tcompiler = $dir/slowcc|" "$dir/config"
daemon runner
wait_sql 20 "select count(*) = 1 from hosts h join toolchains t on t.id = h.toolchain and t.description like '%slowcc%' or true limit 1"
sql "update builds set toolchain = (select toolchain from hosts)"
for i in 1 2 3; do
	want_build "build:$i" "mm: change number $i" 3
done
for delay in 0.3 0.9 0.5 1.3; do
	wait_sql 20 "select exists (select from attempts where outcome = 'running')"
	sleep $delay
	kill9 runner
	daemon runner
done
ok 'all builds end, with four kills in between' wait_sql 60 "select count(*) = 3 from jobs where key like 'build:%' and state = 'done'"
is '... well' "$(sql "select string_agg(b.outcome, ' ') from builds b join jobs j on j.build = b.id where j.key like 'build:%'")" \
	'built built built'
like '... and attempts were lost, not failed' "$(sql "select string_agg(distinct outcome, ' ' order by outcome) from attempts a
	join jobs j on j.id = a.job where j.key like 'build:%'")" '^(lost )?ok$'
sql "insert into jobs (key, kind, purpose, priority, build)
	select 're:' || id, 'rebuild', 'prove', 30, id from builds where outcome = 'built'"
ok 'what was built between kills equals clean builds' wait_sql 60 \
	"select count(*) = 3 from builds where clean_verified_at is not null"

# kill -9 in the middle of boots ----------------------------------------------------------------------------
want_boots good 'mm: change number 1' 12
for delay in 0.2 0.7 0.4; do
	wait_sql 20 "select exists (select from leases)"
	sleep $delay
	kill9 runner
	daemon runner
done
# and of a job's own process
wait_sql 20 "select exists (select from attempts where outcome = 'running' and pid is not null)"
kill -9 "$(sql "select pid from attempts where outcome = 'running' and pid is not null limit 1")" 2>/dev/null
ok 'all boots end, with kills in between' wait_sql 60 "select count(*) = 12 from jobs where key like 'good:%' and state = 'done'"
is 'each job has one good boot' "$(sql "select count(*), count(distinct j.id) from boots b join attempts a on a.id = b.attempt
	join jobs j on j.id = a.job where j.key like 'good:%' and b.outcome = 'ok'")" '12|12'
is 'each good boot one sample' "$(sql "select count(*) from boot_estimates")" 12
is 'no boot is left running' "$(sql "select count(*) from boots where outcome = 'running'")" 0
is 'no lease is left' "$(sql "select count(*) from leases")" 0
like 'only one runner per state directory' "$(timeout 40 "$build/mmperf-runner" --config "$dir/config" --once 2>&1)" 'another mmperf-runner'

# The database goes away while boots run ---------------------------------------------------------------------
want_boots away 'mm: change number 1' 4
wait_sql 20 "select exists (select from boots where outcome = 'running')"
as=''
[ "$(id -u)" = 0 ] && as='runuser -u postgres --'
$as "$MMPERF_PGBIN/pg_ctl" -D "$MMPERF_PGDATA" -m immediate -w restart >/dev/null 2>&1 -l "$MMPERF_PGDATA/../log"
ok 'boots end after a crash of the database' wait_sql 60 "select count(*) = 4 from jobs where key like 'away:%' and state = 'done'"
is '... once each' "$(sql "select count(*) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job
	where j.key like 'away:%' and b.outcome = 'ok'")" 4
is '... none was lost for it' "$(sql "select count(*) from attempts a join jobs j on j.id = a.job where j.key like 'away:%' and a.outcome = 'lost'")" 0
is 'said once' "$(grep -c 'waiting for it' "$dir/runner.log")" 1

# Bad kernels ------------------------------------------------------------------------------------------------
want_boots hang 'mm: change number 2' 1
ok 'a hang ends' wait_sql 30 "select state = 'failed' from jobs where key = 'hang:1'"
is '... after two tries, as the kernel'"'"'s failure' "$(sql "select count(*), min(a.outcome), min(b.outcome) from attempts a
	join boots b on b.attempt = a.id join jobs j on j.id = a.job where j.key = 'hang:1'")" '2|kernel|no_boot'
stop_daemon runner

# Cancelled work ------------------------------------------------------------------------------------------------
echo 'boot-s 0' >"$dir/slow.script"
want_boots cancelled 'mm: change number 1' 3
sql "update jobs set state = 'cancelled', ended_at = now() where key like 'cancelled:%'"
ok 'a pass' once
is 'cancelled jobs are not done' "$(sql "select count(*) from attempts a join jobs j on j.id = a.job where j.key like 'cancelled:%'")" 0

# A machine that dies ----------------------------------------------------------------------------------------------
echo 'fail-every 1' >"$dir/slow.script"
want_boots dead 'mm: change number 1' 1
daemon runner
ok 'its job fails' wait_sql 60 "select state = 'failed' from jobs where key = 'dead:1'"
is 'as a failure of the machine' "$(sql "select string_agg(distinct a.outcome, ' ') from attempts a join jobs j on j.id = a.job
	where j.key = 'dead:1'")" machine
like 'the machine is quarantined, with a note' "$(sql "select state, note from machines where name = 'm1'")" 'quarantined\|.*3 failures'
want_boots later 'mm: change number 1' 1
sleep 1
is 'and gets no more work' "$(key_state later:1)" queued
sql "update machines set state = 'up', failures = 0"
echo 'boot-s 0' >"$dir/slow.script"
ok 'until a person says so' wait_sql 30 "select state = 'done' from jobs where key = 'later:1'"
stop_daemon runner
is 'nothing is left of the attempts' "$(ls "$dir/state/attempts")" ''
test_end
