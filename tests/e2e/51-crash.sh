#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole line while its daemons are killed with -9 in each of their states and at random, and the database crashes once:
# the same culprit, one regression, nothing twice, nothing lost, nothing sent twice.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-line.sh"
own_server "$@"
test_begin
echo 'boot-s 0.2' >"$dir/fake.script"
cat >"$dir/slowcc" <<-'EOT'
	#!/bin/sh
	[ "$1" = --version ] || sleep 0.02
	exec gcc "$@"
EOT
chmod 755 "$dir/slowcc"
line_compiler=$dir/slowcc line_settings
plant 12 'metric=fault_ns:ns:lower:1000:0.1' doc=4 break=6 panic=9

again() { # daemon: kill -9 and another one
	kill9 "$1"
	daemon "$1"
	kills=$((kills + 1))
}
kills=0
# kill_when WHAT DAEMON QUERY: waits for the state, kills, and tells whether the state was seen
kill_when() {
	_what=$1 _who=$2
	ok "killed: $_what" wait_sql 600 "$3"
	again "$_who"
}

# The first push: claims, builds, boots ---------------------------------------------------------------------------
start_all
kill_when 'runner, a job just claimed' runner "select exists (select from attempts where outcome = 'running')"
kill_when 'runner, while it builds' runner \
	"select exists (select from attempts a join jobs j on j.id = a.job where a.outcome = 'running' and j.kind = 'build' and a.pid is not null)"
again bisector
# Between a result and its rows: the table is locked while the result lies on disk.
held() {
	find "$dir/state/attempts" -name result.json 2>/dev/null | grep -q .
}
# A lock that its holder's end releases.
hold() { # table
	psql -XqAt -c "begin" -c "lock table $1 in access exclusive mode" -c "select pg_sleep(600)" >/dev/null 2>&1 &
	holder=$!
	wait_sql 60 "select exists (select from pg_locks l join pg_class c on c.oid = l.relation
		where c.relname = '$1' and l.mode = 'AccessExclusiveLock' and l.granted)"
}
release() {
	sql "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()" >/dev/null
	wait "$holder" 2>/dev/null
}
ok 'killed: runner, while a machine boots' wait_sql 600 "select exists (select from boots where outcome = 'running')"
kill9 runner
hold samples
daemon runner
for _ in $(seq 1200); do
	held && break
	sleep 0.05
done
ok 'killed: runner, a result on disk, not yet in the database' held
kill9 runner
release
daemon runner
kills=$((kills + 2))
ok 'the first push is measured' wait_sql 600 "select count(*) = 6 from jobs where kind = 'boot' and purpose = 'detect' and state = 'done'"

# The second push is a rebase ----------------------------------------------------------------------------------------
plant --rebase drop=7 fold=11
plant --more 13 20 break=15 shift=21:0.4 comment=22 panic=25 doc=28
culprit=$(number 21)
fetch
kill_when 'runner, while it follows' runner "select true"
kill_when 'bisector, a suspicion is being confirmed' bisector "select exists (select from candidates where state = 'confirming')"
kill_when 'both, half of its boots done' bisector \
	"select count(*) >= 4 from jobs where purpose = 'confirm' and state = 'done'"
again runner
kill_when 'bisector, as the search begins' bisector "select exists (select from bisections where state = 'searching')"
kill_when 'bisector, with a boot of the search queued' bisector "select exists (select from steps)"
kill_when 'runner, in a boot of the search' runner "select exists (select from boots b join attempts a on a.id = b.attempt
	join jobs j on j.id = a.job where j.purpose = 'bisect' and b.outcome = 'running') or exists (select from bisections where state <> 'searching')"
as=''
[ "$(id -u)" = 0 ] && as='runuser -u postgres --'
$as "$MMPERF_PGBIN/pg_ctl" -D "$MMPERF_PGDATA" -m immediate -w restart -l "$MMPERF_PGDATA/../log" >/dev/null 2>&1

# At random, while it searches and proves. The seed is said, so that a failure can be looked into.
seed=$(date +%N | sed 's/^0*//')
echo "# seed $seed"
for who_and_when in $(awk -v seed="$seed" 'BEGIN { srand(seed); split("runner bisector reporter runner bisector", who);
	for (i = 0; i < 10; i++) printf "%s:%.2f ", who[1 + int(rand() * 5)], 0.1 + rand() * 0.9 }'); do
	sleep "${who_and_when#*:}"
	again "${who_and_when%:*}"
done
kill_when 'bisector, as the proof begins' bisector "select exists (select from bisections where state <> 'searching')"
kill_when 'runner, in the proof' runner "select exists (select from jobs where purpose = 'prove')"
kill_when 'both, boots of the proof done' bisector \
	"select count(*) >= 2 from jobs where purpose = 'prove' and kind = 'boot' and state = 'done'"
again runner
kill_when 'reporter, as there is something to say' reporter "select exists (select from regressions)"
kill_when 'reporter, as the mail is there' reporter "select exists (select from outbox)"
ok 'the mail is sent' wait_sql 600 "select bool_or(state = 'sent') from outbox"
again reporter
again bisector
again runner
stop_all
rounds 2
"$build/mmperf-reporter" --config "$dir/config" --once >>"$dir/reporter.log" 2>&1
echo "# killed $kills times"

is 'the planted commit is the culprit' "$(sql "select b.outcome, c.oid from bisections b join commits c on c.id = b.culprit")" \
	"culprit|$culprit"
is 'posterior at least 0.99' "$(sql "select posterior >= 0.99 from bisections")" t
is 'one regression, reported' "$(sql "select state, count(*) from regressions group by 1")" 'reported|1'
is 'one mail' "$(mails) $(sql "select string_agg(state, ' ') from outbox")" '1 sent'
is 'no job is left open' "$(sql "select count(*) from jobs where state in ('queued', 'running')")" 0
is 'no attempt is left running' "$(sql "select count(*) from attempts where outcome = 'running'")" 0
is 'no boot is left running' "$(sql "select count(*) from boots where outcome = 'running'")" 0
is 'no lease is left' "$(sql "select count(*) from leases")" 0
is 'no job was done twice' "$(sql "select count(*) from (select job from attempts where outcome = 'ok' group by 1 having count(*) > 1) x")" 0
is 'each job that is done has its attempt' "$(sql "select count(*) from jobs j where state = 'done'
	and not exists (select from attempts a where a.job = j.id and a.outcome = 'ok')")" 0
is 'each good boot has its runs and samples once' "$(sql "select count(*) from boots b where b.outcome = 'ok'
	and (select count(*) from samples s join runs r on r.id = s.run where r.boot = b.id) <> 1")" 0
is 'no other boot has any' "$(sql "select count(*) from boots b join runs r on r.boot = b.id where b.outcome <> 'ok'")" 0
is 'no work was done over' "$(sql "select count(*) - count(distinct n || ' ' || bisection) from steps")" 0
is 'a boot of each step' "$(sql "select count(*) from jobs where purpose = 'bisect' and kind = 'boot'")" "$(sql 'select count(*) from steps')"
is 'a fixed number of boots of the proof' \
	"$(sql "select string_agg(n::text, ' ') from (select count(*) as n from jobs where purpose = 'prove' and role in ('before', 'after')
		group by role) x")" '5 5'
is 'no attempt failed but for kernels that do not boot' \
	"$(sql "select j.key, a.outcome, a.error from attempts a join jobs j on j.id = a.job where a.outcome in ('infra', 'machine')")" ''
is 'nothing is left of the attempts' "$(ls "$dir/state/attempts")" ''

# Killed while the mail server has the mail: nobody knows, so a person decides --------------------------------------------
sql "delete from outbox; update regressions set state = 'proved'"
rm -rf "$dir/state/spool" "$dir/smtp"
mkdir "$dir/smtp"
/usr/bin/python3 "$root/tests/smtp-server.py" "$dir/smtp" silent &
smtp=$!
for _ in $(seq 200); do
	[ -f "$dir/smtp/port" ] && break
	sleep 0.1
done
printf '[mail]\n\tlab = lab@example.org\n\tserver = smtp://127.0.0.1:%s\n\tstarttls = false\n' "$(cat "$dir/smtp/port")" >>"$dir/config"
daemon reporter
for _ in $(seq 600); do
	[ -f "$dir/smtp/1.eml" ] && break
	sleep 0.1
done
is 'the server has the text, the row is still being sent' "$(find "$dir/smtp" -name "*.eml" | wc -l) $(sql 'select state from outbox')" '1 sending'
again reporter
ok 'a fresh reporter is unsure' wait_sql 60 "select state = 'unsure' from outbox"
sleep 1
is '... and does not send again' "$(find "$dir/smtp" -name "*.eml" | wc -l) $(sql 'select state from outbox')" '1 unsure'
kill $smtp
wait $smtp 2>/dev/null
test_end
