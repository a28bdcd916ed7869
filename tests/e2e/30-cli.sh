#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line: words that a person gets wrong, requests and their rows, tables and JSON, man pages.
. "$(dirname "$0")/../lib.sh"
test_begin

# A branch of eight commits; a side branch that leaves it at the third; a history of its own.
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
repo=$dir/state/repo.git
g() { git --git-dir="$repo" "$@"; }
commit() { # parent-or-empty text -> oid
	_tree=$(printf '100644 blob %s\tfile\n' "$(echo "$2" | g hash-object -w --stdin)" | g mktree)
	g commit-tree "$_tree" ${1:+-p "$1"} -m "$2"
}
mkdir -p "$dir/state"
git init -q --bare "$repo"
c=''
for i in 0 1 2 3 4 5 6 7; do
	c=$(commit "$c" "main $i")
	eval "m$i=$c"
done
s1=$(commit "$m3" 'side 1')
s2=$(commit "$s1" 'side 2')
alone=$(commit '' 'alone')
unseen=$(commit "$m7" 'never followed')
g update-ref refs/mmperf/heads/demo/main "$m7"
g update-ref refs/mmperf/heads/demo/side "$s2"
g update-ref refs/mmperf/heads/other/alone "$alone"
g update-ref refs/heads/unseen "$unseen"

add_commits() { # oid...
	for _o; do
		g log -1 --format="insert into commits (oid, tree_oid, author_name, author_email, authored_at, subject, body)
			values ('%H', '%T', 'A', 'a@example.org', now(), '%s', '') on conflict do nothing;" "$_o"
	done
}
snapshot() { # tree branch base oid...
	echo "insert into trees (name, url) values ('$1', '/nowhere') on conflict do nothing;"
	echo "insert into branches (tree, name) select id, '$2' from trees where name = '$1';"
	_branch=$2 _base=$3 _pos=0
	shift 2
	add_commits "$@"
	for _o; do _head=$_o; done
	echo "insert into snapshots (branch, seq, head, base) select b.id, 1, h.id, z.id from branches b, commits h, commits z
		where b.name = '$_branch' and h.oid = '$_head' and z.oid = '$_base';"
	for _o; do
		echo "insert into snapshot_commits select s.id, $_pos, c.id, $_pos from snapshots s, branches b, commits c
			where b.id = s.branch and b.name = '$_branch' and c.oid = '$_o';"
		_pos=$((_pos + 1))
	done
}
{
	snapshot demo main $m0 $m1 $m2 $m3 $m4 $m5 $m6 $m7
	snapshot demo side $m3 $s1 $s2
	snapshot other alone $alone
	echo "insert into hosts (name) values ('testhost');
	insert into classes (name, driver, emulated) values ('guests', 'qemu', false), ('others', 'qemu', false);
	insert into machines (name, class, host) select 'g1', c.id, h.id from classes c, hosts h where c.name = 'guests';
	insert into machines (name, class, host, state, note) select 'o1', c.id, h.id, 'offline', 'new disk'
		from classes c, hosts h where c.name = 'others';
	insert into suites (name, version, definition) values ('fault', 1, '{\"benchmark\": \"fault\", \"judge\": []}'),
		('khugepaged', 1, '{\"benchmark\": \"khugepaged\"}');
	insert into metrics (benchmark, version, name, unit, direction) values ('fault', 1, 'fault_time', 'ns', 'lower'),
		('khugepaged', 1, 'scan_time', 'ns', 'lower');"
} >"$dir/rows.sql"
psql -Xq -v ON_ERROR_STOP=1 -f "$dir/rows.sql" >/dev/null || exit 1

settings_head >"$dir/config"
cat >>"$dir/config" <<-EOF
	[tree "demo"]
		url = /nowhere
		branch = main
		recipe = r
	[recipe "r"]
		config = /dev/null
EOF

# Runs mmperf; $out, $err, $status.
try() {
	mmperf "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	out=$(cat "$dir/out")
	err=$(cat "$dir/err")
}
# One line on stderr that matches, that exit status, nothing on stdout.
refused() { # name status pattern args...
	_name=$1 _want=$2 _pattern=$3
	shift 3
	try "$@"
	like "$_name" "$status $(wc -l <"$dir/err" | tr -d ' ') $(wc -c <"$dir/out" | tr -d ' ') $err" "^$_want 1 0 .*($_pattern)"
}

# --- the command itself -----------------------------------------------------------------------------
try --help
is 'help: status' $status 0
commands=$(printf '%s\n' "$out" | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
is 'help lists the commands' "$(echo $commands)" \
	'init up demo status log run compare bisect regressions report machines machine noise db simulate'
for command in $commands; do
	try "$command" --help
	like "$command --help" "$status $out" "^0 usage: mmperf $command"
	ok "$command has a section in mmperf(1)" grep -q "^\.Ss $command\$" "$root/docs/man/mmperf.1"
	printf '%s\n' "$out" | sed -n 's/^ .*--\([a-z-]*\).*/\1/p' | grep -vx 'help\|config\|json' >"$dir/opts"
	missing=$(while read -r o; do grep -q "Fl Fl $o\|Fl . | Fl Fl $o" "$root/docs/man/mmperf.1" ||
		case $o in bench | boots | limit) ;; *) echo "$o" ;; esac; done <"$dir/opts")
	is "$command: its options are in mmperf(1)" "$missing" ''
done
is 'every section of mmperf(1) is a command' \
	"$(sed -n 's/^\.Ss \([a-z]*\)$/\1/p' "$root/docs/man/mmperf.1" | sort | xargs)" "$(echo $commands | tr ' ' '\n' | sort | xargs)"
refused 'unknown command' 2 'did you mean "status"' stauts
refused 'unknown option' 2 'did you mean --since' log --sinse 1h
refused 'no command' 2 'mmperf --help'
refused 'too many words' 2 'is too much' status now
try --version
like 'version' "$out" "^mmperf $(cat "$root/VERSION")$"
if command -v mandoc >/dev/null; then
	is 'man pages are clean' "$(mandoc -Tlint -Wwarning "$root"/docs/man/* 2>&1)" ''
fi

# --- settings ---------------------------------------------------------------------------------------
try --config "$dir/none" status
like 'no settings: says what to do' "$status $err" '^2 .*mmperf init'
sed 's/recipe = r/recpie = r/' "$dir/config" >"$dir/typo"
try --config "$dir/typo" status
like 'a typo: file, line, nearest key' "$status $err" "^2 .*typo.*1[0-9].*recpie.*recipe"
mkdir "$dir/new"
try --config "$dir/new/config" init
is 'init writes' "$status" 0
ok 'init: the file loads' "$build/mmperf" --config "$dir/new/config" up --help
try --config "$dir/new/config" init
like 'init does not write over' "$status $err" '^2 .*--force'
try --config "$dir/new/config" init --force
is 'init --force does' "$status" 0
try init --demo
printf '%s\n' "$out" >"$dir/demo.conf"
# an unknown key would be told before the database is looked for
for f in "$dir/new/config" "$dir/demo.conf" "$root/deploy/mmperf.conf.sample"; do
	printf '[database]\n\tconninfo = host=%s dbname=%s\n' "$PGHOST" "$PGDATABASE" >"$dir/with-db"
	sed '/^\tconninfo =/d' "$f" >>"$dir/with-db"
	try --config "$dir/with-db" machines
	is "$(basename "$f") loads" "$status" 0
done
printf '[database]\n\tconninfo = host=%s dbname=nosuch\n' "$dir" >"$dir/nodb"
try --config "$dir/nodb" status
like 'no database: one line that says what to do' "$status $(wc -l <"$dir/err") $err" '^1 1 .*mmperf up'

# --- revisions and bad requests -----------------------------------------------------------------------
refused 'unknown revision' 2 'unknown revision "nosuch"' run nosuch --class guests
refused 'too far back' 2 'main is [0-9a-f]{12}, which has no "~400"' run main~400 --class guests
refused 'a commit of no followed branch' 2 'none of the followed branches' run "$unseen" --class guests
refused 'empty range' 2 'same commit' run main..main --class guests
refused 'turned range' 2 'swap' run main..main~2 --class guests
refused 'range of unrelated ends' 2 'no common ancestor' run alone..main --class guests
refused 'three dots' 2 'two dots' run main~2...main --class guests
refused 'which class?' 2 'guests, others' run main
refused 'unknown class' 2 'known classes: guests, others' run main --class gests
refused 'offline machine' 2 'o1 is offline \(new disk\).*mmperf machines up o1' run main --class others
refused 'unknown suite' 2 'known suites: fault, khugepaged' run main --class guests --bench fautl
refused 'boots' 2 'from 1 to 1000' run main --class guests --boots -3
refused 'compare wants two' 2 'an argument is missing' compare main
refused 'unknown metric' 2 'known: fault_time' \
	bisect --good main~3 --bad main --bench fault --metric faulttime --class guests
refused 'unrelated histories' 2 'no common ancestor' \
	bisect --good alone --bad main --metric fault_time --class guests
refused 'good is bad' 2 'nothing between' bisect --good main --bad "$m7" --metric fault_time --class guests
refused 'bad before good' 2 'swap' bisect --good main --bad main~2 --metric fault_time --class guests
refused 'no metric' 2 'metric or --boot-failure are needed' bisect --good main~2 --bad main
refused 'not a revision but an option' 2 'is no revision' run --class guests -- --upload-pack=x

is 'what was refused left no row' "$(sql 'select count(*) from requests')" 0

# --- requests -----------------------------------------------------------------------------------------
try --json run main~2..main --class guests --no-wait -n 4 -b fault
like 'run --no-wait: JSON' "$status $out" '"state": "queued"'
is 'run: the row' "$(sql "select kind, state, args->>'tree', args->>'class', args->>'boots', args->'suites',
	args->'commits' = to_jsonb(array['$m6', '$m7']) from requests order by id desc limit 1")" \
	'run|queued|demo|guests|4|["fault"]|t'
try run demo/side^ --class others --no-wait
is 'an offline machine may be waited for; TREE/BRANCH^' "$(sql "select args->'commits'->>0 from requests
	order by id desc limit 1")" "$s1"
try compare "$(echo "$m5" | cut -c1-12)" main --class guests --no-wait
is 'compare: the row' "$(sql "select kind, args->>'before' = '$m5', args->>'after' = '$m7', args->>'boots'
	from requests order by id desc limit 1")" 'compare|t|t|8'
try bisect --good side --bad main --metric fault_time --class guests --budget 30 --min-effect 0.05 --no-wait
is 'bisect: good need not be an ancestor' "$(sql "select kind, args->>'good' = '$s2', args->>'bad' = '$m7',
	args->>'metric', args->>'budget', round((args->>'min_effect')::numeric, 9) = 0.05, args ? 'suite' from requests order by id desc limit 1")" \
	'bisect|t|t|fault_time|30|t|f'
id=$(sql 'select max(id) from requests')
try run --cancel "$id"
is 'cancel' "$status $(sql "select state, ended_at is not null from requests where id = $id")" '0 cancelled|t'
refused 'cancel again' 2 'is not open' run --cancel "$id"

# Waiting: the row is ended from outside, as the bisector would.
mmperf run main --class guests >"$dir/out" 2>"$dir/err" &
waiter=$!
wait_sql 10 "select count(*) = 1 from requests where kind = 'run' and state = 'queued' and args->'commits'->>0 = '$m7'
	and not args ? 'boots'"
sleep 1.5
sql "update requests set state = 'done', ended_at = now(), result = '{\"commits\": [{\"oid\": \"$m7\", \"subject\":
	\"main \\\\u001b[31m7\", \"build\": \"built\", \"error\": null, \"boots\": 3, \"boots_failed\": 1, \"series\": [
	{\"series\": 1, \"benchmark\": \"fault\", \"pass\": \"clean\", \"metric\": \"fault_time\", \"unit\": \"ns\",
	 \"direction\": \"lower\", \"n\": 3, \"mean\": 812.5, \"sd\": 0.021}]}]}'
	where state = 'queued' and args->'commits'->>0 = '$m7' and not args ? 'boots'" >/dev/null
wait $waiter
is 'run waits for its end' $? 0
like 'run: progress lines' "$(cat "$dir/err")" 'request [0-9]+: queued.*\[[0-9]+ s'
like 'run: the table' "$(cat "$dir/out")" 'fault +clean +fault_time +3 +812\.5 +ns +2\.1 %'
ok 'run: no escape sequence reaches the terminal' sh -c "! grep -q '$(printf '\033')' '$dir/out'"

mmperf run main~1 --class guests >"$dir/out" 2>"$dir/err" &
waiter=$!
wait_sql 10 "select count(*) = 1 from requests where state = 'queued' and args->'commits'->>0 = '$m6' and not args ? 'boots'"
sql "update requests set state = 'failed', error = 'recipe r: does not build', ended_at = now() where state = 'queued'
	and args->'commits'->>0 = '$m6' and not args ? 'boots'" >/dev/null
wait $waiter
is 'a failed request: status' $? 1
like 'a failed request: its error' "$(tail -1 "$dir/err")" 'request [0-9]+ failed: recipe r: does not build'

"$build/mmperf" --config "$dir/config" run main~2 --class guests >"$dir/out" 2>"$dir/err" &
waiter=$!
wait_sql 10 "select count(*) = 1 from requests where state = 'queued' and args->'commits'->>0 = '$m5' and not args ? 'boots'"
sleep 0.3
kill -TERM $waiter
wait $waiter
is 'an interrupted wait: status' $? 1
like 'an interrupted wait: the request goes on' "$(tail -1 "$dir/err")" 'interrupted; request [0-9]+ goes on'

# --- machines, status, log ------------------------------------------------------------------------------
try machines
like 'machines: table' "$out" 'o1 +others .* offline .*new disk'
try machines offline g1 --note "$(printf 'a\033[2Jb')"
is 'machines offline' "$status $(sql "select state from machines where name = 'g1'")" '0 offline'
try machines
ok 'machines: notes are shown safely' sh -c "! grep -q '$(printf '\033')' '$dir/out'"
try machines up g1
is 'machines up' "$status $(sql "select state, note is null from machines where name = 'g1'")" '0 up|t'
refused 'unknown machine' 2 'mmperf machines' machines up g9
refused 'machines: a verb without a name' 2 'say which machine' machines up
try --json machines
ok 'machines --json is JSON' python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 2' "$dir/out"

# Ten minutes of work: two of building, seven of measuring that overlap with them, two idle.
sql "insert into recipes (name, version, content) values ('r', 1, '');
	insert into toolchains (hash, description) values ('t', 't');
	insert into builds (tree_oid, recipe, toolchain, commit) select tree_oid, 1, 1, id from commits where oid = '$m7';
	insert into jobs (key, kind, state, priority, purpose, build, created_at, ended_at) values
		('a', 'build', 'done', 50, 'detect', 1, now() - interval '20 min', now() - interval '12 min');
	insert into jobs (key, kind, state, priority, purpose, class, created_at, ended_at) select
		'b', 'boot', 'done', 50, 'detect', id, now() - interval '15 min', now() - interval '10 min' from classes limit 1;
	insert into attempts (job, n, host, token, expires_at, outcome, started_at, ended_at) values
		(1, 1, 1, 1, now(), 'ok', now() - interval '19 min', now() - interval '17 min'),
		(2, 1, 1, 2, now(), 'ok', now() - interval '18 min', now() - interval '11 min')" >/dev/null || exit 1
try --json status
is 'status: utilisation' "$(python3 -c '
import json, sys
u = json.load(open(sys.argv[1]))["utilisation"][0]
print(*(round(u[k]) for k in ("work_s", "building_s", "measuring_s", "idle_s")), round(u["idle_share"], 3))' "$dir/out")" \
	'600 120 420 120 0.2'
try status
like 'status: table' "$out" 'testhost +10 min +2 min +7 min +2 min +20.0 %'
try --json status --window 11m
is 'status: of a window' "$(python3 -c '
import json, sys
u = json.load(open(sys.argv[1]))["utilisation"][0]
print(45 < u["work_s"] < 61, u["work_s"] == u["idle_s"])' "$dir/out")" 'True True'
like 'status: not idle while requests wait' "$(mmperf --json status)" '"idle": false'

# --- what was found: the rows that reports are tested with, in a database of their own -----------------------
PGDATABASE=${PGDATABASE}_r
createdb -T mmperf_template "$PGDATABASE" || exit 1
conninfo="host=$PGHOST dbname=$PGDATABASE"
settings_head >"$dir/config"
psql -Xq -v ON_ERROR_STOP=1 -v emulated=false -v primary=latency -f "$root/tests/data/report-fixture.sql" \
	>"$dir/fixture.log" 2>&1 || sed 's/^/# /' "$dir/fixture.log"
try log
like 'log: regression and its reason' "$out" 'regression .*posterior 0\.997'
ok 'log: hostile subjects are one line each' sh -c "! grep -q '^Bcc' '$dir/out'"
try log -n 2
is 'log -n' "$(wc -l <"$dir/out" | tr -d ' ')" 2
try --json log --since 1h
ok 'log --json' python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))[0]["kind"]' "$dir/out"
try regressions
like 'regressions' "$out" 'latency +\+12\.3 % +0\.997'
try --json regressions --tree nosuch
is 'regressions of one tree' "$out" '[]'
rid=$(sql 'select max(id) from regressions')
try report "$rid"
like 'report: text' "$status $out" '^0 '
try --json report "$rid"
ok 'report: JSON' python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$dir/out"
try report "$rid" --html
like 'report: HTML' "$out" '<html'
bid=$(sql 'select max(id) from bisections')
try bisect list
like 'bisect list' "$out" "^ *$bid +mm +fault +latency +done +culprit"
try bisect show "$bid"
like 'bisect show' "$out" 'culprit [0-9a-f]{12} .*posterior 0\.9971'
refused 'bisect cancel: ended' 2 'begun by the detector|ended' bisect cancel "$bid"
refused 'report: no such' 2 'mmperf regressions' report 999
refused 'report: not a number' 2 'mmperf regressions' report abc
refused 'bisect show: no such' 2 'mmperf bisect list' bisect show 999
dropdb --force "$PGDATABASE"
PGDATABASE=${PGDATABASE%_r}
test_end
