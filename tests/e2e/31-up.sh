#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `mmperf up`: a private database and the three daemons over fake machines; requests by hand from end to end.
. "$(dirname "$0")/../lib.sh"
test_begin

# As root the daemons run as user mmperf, who may not read the place where the programs were built.
mkdir "$dir/bin"
cp "$build"/mmperf "$build"/mmperf-runner "$build"/mmperf-bisector "$build"/mmperf-reporter \
	"$build"/bench/mmperf-agent "$dir/bin/"
build=$dir/bin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 8 shift=5:0.4 doc=2 break=7 metric=fault_ns:ns:lower:1000:0.003 || exit 1
culprit=$(git -C "$tree" rev-parse main~3)
echo '# nothing' >"$dir/tiny.config"
cat >"$dir/config" <<-EOF
	[state]
		dir = $dir/state
		cache = $dir/cache
	[host]
		name = testhost
	[build]
		min-free = 1M
	[detect]
		gaps = false
	[bisect]
		prove-boots = 4
	$(settings_tiny)
	[machine "m1"]
		class = fake
		driver = fake
	[machine "self"]
		class = self
		driver = local
	[suite "fault"]
		benchmark = fault
		pass = clean
		class = fake
	[suite "native"]
		benchmark = fault
		param = preset=guest
		class = self
EOF

up=''
start_up() { # args
	"$build/mmperf" --config "$dir/config" up "$@" 2>>"$dir/up.log" &
	up=$!
}
stop_up() {
	[ -n "$up" ] || return 0
	kill -TERM "$up" 2>/dev/null
	wait "$up" 2>/dev/null
	_up_status=$?
	up=''
	return $_up_status
}
trap 'stop_up; _finish' EXIT
gone() { # no process has its settings here
	! pgrep -f -- "--config $dir/config" >/dev/null
}
gone_too() {
	gone && ! pgrep -f -- "$dir/state/pg/data" >/dev/null
}
wait_for() { # seconds command...
	_end=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$_end" ] || { tail -5 "$dir/up.log"; return 1; }
		sleep 0.3
	done
}
says() { # pattern
	grep -Eq -- "$1" "$dir/up.log"
}
started() { # daemon: its newest process
	sed -n "s/.* $1: started, process //p" "$dir/up.log" | tail -1
}
starts() { # count: how often all were started, and the reporter again
	[ "$(grep -c 'reporter: started' "$dir/up.log")" = "$1" ]
}

start_up
ok 'the daemons start' wait_for 120 starts 1
for d in bisector runner reporter; do
	ok "$d has its line" says "$d: started, process [0-9]+"
done
mmperf up >"$dir/out" 2>"$dir/err"
like 'a second one is refused' "$? $(cat "$dir/err")" "^1 .*already runs on $dir/state \(process $up\)"
is 'the state is closed to others' \
	"$(stat -c %a "$dir/state/pg" "$dir/state/pg/socket" "$dir/state/pg/data" | xargs)" '700 700 700'
if [ "$(id -u)" = 0 ]; then
	is 'only the runner is root' "$(for d in bisector runner reporter; do ps -o user:20= -p "$(started $d)"; done | xargs)" \
		'mmperf root mmperf'
fi
snapshot_there() { mmperf log | grep -q 'snapshot .*main: snapshot 1, 8 commits'; }
ok 'the tree is followed' wait_for 60 snapshot_there
machine_there() { mmperf machines | grep -q '^m1 '; }
ok 'the machine is there' wait_for 60 machine_there

like 'status --brief: one line' "$(mmperf status --brief)" '^(.*; )?[0-9]+ jobs to go; [0-9]+ builds, [0-9]+ good boots$'

# kill -9: the daemons go with it, the database stays and is taken over.
kill -9 "$up"
wait "$up" 2>/dev/null
ok 'kill -9 takes the daemons along' wait_for 20 gone
ok 'the database lives on' mmperf status
start_up
ok 'a new one takes it over' wait_for 60 starts 2
ok '... the database as it runs' says 'database: already running'

# A daemon that dies comes back.
kill -9 "$(started reporter)"
ok 'a daemon that is killed is started again' wait_for 30 starts 3

# So does the database.
kill -9 "$(head -1 "$dir/state/pg/data/postmaster.pid")"
ok 'a database that is killed is started again' wait_for 60 says 'database: ended without our doing'
ok '... and answers' wait_for 60 mmperf status

# By hand, through the real bisector and runner.
mmperf run main~4..main~2 -n 2 >"$dir/out" 2>"$dir/err"
is 'run: done' $? 0
like 'run: the changed commit' "$(cat "$dir/out")" 'fault +clean +fault_ns +2 +1[45][0-9][0-9]'
mmperf run --running -n 2 >"$dir/out" 2>"$dir/err"
is 'run --running: done' $? 0
like 'run --running: this kernel was measured twice' "$(cat "$dir/out")" 'fault +clean +fault_time +2 +[0-9.]+'
is 'run --running: on no image' \
	"$(psql -XqAt -h "$dir/state/pg/socket" -p 5432 -U mmperf -d mmperf -c "select count(*), count(image) from boots b join machines m on m.id = b.machine where m.name = 'self'")" '2|0'
mmperf run --running main >"$dir/out" 2>"$dir/err"
like 'run --running: wants no commit' "$? $(cat "$dir/err")" "^2 .*leave out 'main'"
mmperf run main --class self >"$dir/out" 2>"$dir/err"
like 'run: a class that boots nothing' "$? $(cat "$dir/err")" '^2 .*boots images.*fake'
mmperf compare base main~2 -n 5 >"$dir/out" 2>"$dir/err"
is 'compare: worse is status 3' $? 3
like 'compare: the table' "$(cat "$dir/out")" 'fault_ns.*\*'
mmperf --json compare base main~2 -n 5 >"$dir/out" 2>"$dir/err"
is 'compare again: the same, from the rows' "$? $(mmperf log -n 500 | grep -c 'compare, asked by')" '3 1'
mmperf compare base main~5 -n 4 >"$dir/out" 2>"$dir/err"
is 'compare: no change is status 0' $? 0
mmperf run main~1 >"$dir/out" 2>"$dir/err"
like 'run: what does not build says so' "$(cat "$dir/out")" 'does not build: .*error'
mmperf bisect --good base --bad main~2 --metric fault_ns --bench fault >"$dir/out" 2>"$dir/err"
is 'bisect: a culprit is status 3' $? 3
like 'bisect: the planted commit' "$(cat "$dir/out")" \
	"culprit $(echo "$culprit" | cut -c1-12) .*posterior (0\.99|1\.0)"
like 'bisect: progress' "$(cat "$dir/err")" 'bisection [0-9]+ (searching|proving): [0-9]+ boots of at most 80'

# Until nothing is left to do.
stop_up
is 'SIGTERM ends it well' $? 0
is 'in order' "$(sed -n 's/.* \([a-z]*\): stopped.*/\1/p' "$dir/up.log" | tail -3 | xargs)" 'bisector runner reporter'
ok 'nothing is left running' gone_too
"$build/mmperf" --config "$dir/config" up --exit-when-idle 2 2>>"$dir/up.log"
is '--exit-when-idle ends by itself' $? 0
mmperf status >"$dir/out" 2>"$dir/err"
like 'no database: says how to start it' "$? $(cat "$dir/err")" '^1 .*mmperf up'
mmperf db status >"$dir/out" 2>"$dir/err"
like 'db status starts it for the while' "$? $(cat "$dir/out")" '^0 schema version'
ok '... and stops it' gone_too

# What the regression says, read while the database runs once more.
start_up
ok 'it starts once more' wait_for 60 mmperf status
is 'the regression is there once' "$(mmperf regressions | grep -c "$(echo "$culprit" | cut -c1-12)")" 1
stop_up
printf '[state]\n\tdir = %s/%s\n' "$dir" "$(printf 'x%.0s' $(seq 1 100))" >"$dir/long"
"$build/mmperf" --config "$dir/long" up >"$dir/out" 2>"$dir/err"
like 'a path that no socket can have' "$? $(cat "$dir/err")" '^2 .*too long'
test_end
