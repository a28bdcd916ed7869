#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Trouble around the whole line: no database, wrong settings, full disks, machines that are away; kernels that hang or panic
# right beside the culprit.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-line.sh"
own_server "$@"
test_begin
line_settings
plant 8 'metric=fault_ns:ns:lower:1000:0.05' hang=3 shift=5:0.4 panic=6 doc=8

# Settings -----------------------------------------------------------------------------------------------------
sed 's/min-free/min-fre/' "$dir/config" >"$dir/typo"
line=$(grep -n 'min-fre ' "$dir/typo" | cut -d: -f1)
for d in runner bisector reporter; do
	like "$d: a typo is said with file and line, status 2" \
		"$("$build/mmperf-$d" --config "$dir/typo" --once 2>&1; echo "status $?")" "$dir/typo:$line: .*min-free"
	is "$d: ... status" "$("$build/mmperf-$d" --config "$dir/typo" --once >/dev/null 2>&1; echo $?)" 2
	is "$d: settings that are not there: status" \
		"$("$build/mmperf-$d" --config "$dir/none" --once >/dev/null 2>&1; echo $?)" 2
done
is 'no row came of it' "$(sql "select (select count(*) from hosts), (select count(*) from trees), (select count(*) from suites)")" '0|0|0'

# No database --------------------------------------------------------------------------------------------------
as=''
[ "$(id -u)" = 0 ] && as='runuser -u postgres --'
server() {
	$as "$MMPERF_PGBIN/pg_ctl" -D "$MMPERF_PGDATA" -w "$@" >/dev/null 2>&1
}
server -m fast stop
start_all
waits() { # all three have said it
	for _d in runner bisector reporter; do
		grep -q 'database' "$dir/$_d.log" 2>/dev/null || return 1
	done
}
for _ in $(seq 600); do
	waits && break
	sleep 0.1
done
sleep 2
for d in runner bisector reporter; do
	is "$d says once that there is no database" "$(grep -c 'database' "$dir/$d.log")" 1
	ok "$d waits for it" kill -0 "$(eval "echo \$pid_$d")"
done
server -l "$MMPERF_PGDATA/../log" start
ok 'they go on when it is there' wait_sql 300 "select exists (select from snapshots)"

# Hang and panic beside the culprit ----------------------------------------------------------------------------
ok 'a bisection among them ends' wait_sql 900 "select bool_or(state = 'done') from bisections"
is 'with the culprit' "$(sql "select b.outcome, c.subject from bisections b join commits c on c.id = b.culprit")" \
	'culprit|mm: change number 5'
is 'no boot that hung or panicked is a number' "$(sql "select count(*) from boots b join attempts a on a.id = b.attempt
	join jobs j on j.id = a.job join commits c on c.id = j.commit
	where (c.subject ~ ' [36]\$') <> (b.outcome in ('panic', 'no_boot'))")" 0
ok 'its mail is sent' wait_sql 300 "select bool_or(state = 'sent') from outbox"

# Machines that are away ---------------------------------------------------------------------------------------
mmperf machines offline m1 --note 'being moved' >/dev/null
mmperf machines offline m2 >/dev/null
plant --more 9 4 panic=10 shift=11:0.4
fetch
ok 'the next head is built' wait_sql 300 "select exists (select from builds b join commits c on c.tree_oid = b.tree_oid
	where c.subject = 'mm: change number 12' and b.outcome = 'built')"
sleep 1
is 'no boot starts on machines that are offline' \
	"$(sql "select count(*) from jobs j join commits c on c.id = j.commit where c.subject = 'mm: change number 12' and j.state <> 'queued'")" 0
mmperf machines up m1 >/dev/null
ok 'one comes back: the suspicion arises' wait_sql 600 "select count(*) = 2 from bisections"

# The culprit's parent panics: nobody can tell the two apart ----------------------------------------------------
ok 'a bisection that cannot tell ends' wait_sql 900 "select bool_and(state = 'done') from bisections"
is 'honestly narrowed, nobody is blamed' "$(sql "select outcome, culprit is null from bisections order by id desc limit 1")" 'narrowed|t'
is 'to the two' "$(sql "select string_agg(c.subject, ', ' order by h.n) from hypotheses h join commits c on c.id = h.commit
	where h.bisection = (select max(id) from bisections) and h.mass > 0.01")" 'mm: change number 10, mm: change number 11'
like 'and says so' "$(sql "select reason from bisections order by id desc limit 1")" 'mm: change number 1[01]'
is 'no second regression, no second mail' "$(sql 'select count(*) from regressions') $(mails)" '1 1'
stop_all

# Full disks ---------------------------------------------------------------------------------------------------
# The runner in a mount namespace of its own with a small disk at DIR; "free" makes room, "end" ends it.
small_disk() { # directory size
	cat >"$dir/small.sh" <<-END
		mount -t tmpfs -o size=$2,mode=755 none "$1" || exit 9
		[ ! -d "$1.was" ] || cp -a "$1.was/." "$1/"
		dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null
		"$build/mmperf-runner" --config "$dir/config" >>"$dir/runner.log" 2>&1 &
		runner=\$!
		while [ ! -e "$dir/free" ]; do sleep 0.1; done
		rm "$1/fill"
		while [ ! -e "$dir/end" ]; do sleep 0.1; done
		kill \$runner
		wait \$runner
		find "$1" -type f >"$dir/small.ls"
		cp -a "$1/." "$1.was/" 2>/dev/null
	END
	rm -f "$dir/free" "$dir/end"
	unshare -m sh "$dir/small.sh" >"$dir/small.log" 2>&1 &
	small=$!
}
small_end() {
	touch "$dir/free" "$dir/end"
	wait $small
}
sed -i 's/min-free = 1M/min-free = 0/' "$dir/config"

# The worktree: a build that stops for want of space is nobody's commit's fault.
plant --more 13 1
rm -rf "$dir/cache/worktrees"
mkdir -p "$dir/cache/worktrees"
small_disk "$dir/cache/worktrees" 2m
ok 'following goes on beside a full disk of the builder' wait_sql 300 "select count(*) = 3 from snapshots"
"$build/mmperf-bisector" --config "$dir/config" --once 2>>"$dir/bisector.log"
last="select b.id from builds b join commits c on c.tree_oid = b.tree_oid where c.subject = 'mm: change number 13'"
ok 'a build without space is a failure of the infrastructure' wait_sql 300 "select exists (select from attempts a join jobs j on j.id = a.job
	where j.build = ($last) and a.outcome = 'infra' and a.error ~ 'o space left on device')"
is '... and the build stays open' "$(sql "select outcome from builds where id = ($last)")" pending
touch "$dir/free"
ok '... and is made when there is room' wait_sql 300 "select outcome = 'built' from builds where id = ($last)"
small_end

# The artifacts: a result waits for room, nothing is half-written.
sql "insert into jobs (key, kind, purpose, priority, build, image, commit, class, suites) select 'full:' || n, 'boot', 'detect', 50, b.id,
	b.image, b.commit, cl.id, array[s.id] from builds b, classes cl, suites s, generate_series(1, 2) n where b.id = ($last)"
mv "$dir/state/artifacts" "$dir/state/artifacts.was"
mkdir "$dir/state/artifacts"
small_disk "$dir/state/artifacts" 4m
waiting() {
	grep -q 'its result waits.*o space left on device' "$dir"/state/attempts/*.out 2>/dev/null
}
for _ in $(seq 1200); do
	waiting && break
	sleep 0.1
done
ok 'a result waits for room on a full disk' waiting
is '... its job is not done' "$(sql "select count(*) from jobs where key like 'full:%' and state = 'done'")" 0
is '... and no sample is there' "$(sql "select count(*) from boot_estimates e join jobs j on j.id = e.job where j.key like 'full:%'")" 0
touch "$dir/free"
ok '... and is stored when there is room' wait_sql 300 "select count(*) = 2 from jobs where key like 'full:%' and state = 'done'"
is '... in one attempt each' "$(sql "select count(*) from attempts a join jobs j on j.id = a.job where j.key like 'full:%'")" 2
small_end
rm -rf "$dir/state/artifacts"
mv "$dir/state/artifacts.was" "$dir/state/artifacts"
is 'every artifact of the database is there, whole' "$(sql 'select sha256, size from artifacts' | while IFS='|' read -r sum size; do
	file=$(find "$dir/state/artifacts" -type f -name "*${sum#??}*" | head -1)
	[ -n "$file" ] && [ "$(wc -c <"$file")" = "$size" ] || echo "$sum"
done)" ''
is 'nothing is left of the attempts' "$(ls "$dir/state/attempts")" ''
is 'no attempt is left running' "$(sql "select count(*) from attempts where outcome = 'running'")" 0
test_end
