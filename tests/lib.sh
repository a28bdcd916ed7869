# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the end-to-end tests: TAP lines, a database and a directory of their own, daemons that can be killed.
#
#	. "$(dirname "$0")/../lib.sh"
#	own_server "$@"                first of all in tests that stop or restart PostgreSQL: one that no other test uses
#	test_begin                     a fresh database and $dir; $dir/config is yours to write
#	ok NAME COMMAND...             one TAP line: passes when COMMAND does
#	is NAME GOT WANTED             the same for two texts
#	like NAME GOT PATTERN          for an extended regular expression (grep -E, any line)
#	sql TEXT                       the answer, columns split by |
#	daemon NAME [ARG...]           starts mmperf-NAME; its pid is in $pid_NAME
#	kill9 NAME                     kill -9 of it and of what it started
#	wait_sql SECONDS TEXT          until the query answers t
#	kernel_lab NAME THREADS SIZE   sections for tree NAME in $dir/tree, a recipe that asks for nothing, a short fault suite, and a
#	                               detector that raises nothing
#	free_port                      a port of 127.0.0.1 that nothing has, below those that the kernel gives to whoever connects: none of
#	                               these can take it meanwhile
#	lab_starts                     bisector and runner, until a machine and a snapshot are there: a TAP line
#	test_end                       prints the plan

set -u
export LC_ALL=C TZ=UTC
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel 2>/dev/null || (cd "$(dirname "$0")/../.." && pwd))
build=${O:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
tap_n=0
tap_failed=0

_report() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_n - $2"
	fi
}

ok() {
	_name=$1
	shift
	"$@" >"$dir/ok.out" 2>&1
	_status=$?
	_report $_status "$_name"
	[ $_status = 0 ] || sed 's/^/# /' "$dir/ok.out" | tail -20
}

is() {
	if [ "$2" = "$3" ]; then
		_report 0 "$1"
	else
		_report 1 "$1"
		printf '%s\n' "got:    $2" "wanted: $3" | sed 's/^/# /'
	fi
}

like() {
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		_report 0 "$1"
	else
		_report 1 "$1"
		printf '%s\n' "got:    $2" "wanted: /$3/" | sed 's/^/# /'
	fi
}

sql() {
	psql -XqAt -v ON_ERROR_STOP=1 -c "$1"
}

# One session that waits in the server; a server that is gone meanwhile, or a table that is not there yet, is asked again.
wait_sql() {
	_end=$(($(date +%s) + $1))
	until psql -Xq -v ON_ERROR_STOP=1 -c "do \$wait\$ begin
		while ($2) is not true loop
			commit;
			if extract(epoch from clock_timestamp()) > $_end then raise 'in vain'; end if;
			perform pg_sleep(0.1);
		end loop; end \$wait\$" 2>/dev/null; do
		if [ "$(date +%s)" -ge "$_end" ]; then
			echo "# waited $1 s in vain for: $2"
			return 1
		fi
		sleep 0.2
	done
}

own_server() {
	[ -z "${MMPERF_OWN_SERVER:-}" ] || return 0
	MMPERF_OWN_SERVER=1 exec sh "$root/tests/with-pg" sh "$0" "$@"
}

test_begin() {
	dir=$(mktemp -d "${TMPDIR:-/tmp}/mmperf-test.XXXXXX")
	# the build user and the database server must get in
	chmod 755 "$dir"
	name=$(basename "$0" .sh | tr -c 'a-z0-9\n' _)
	PGDATABASE=t_${name}_$$
	export PGDATABASE
	createdb --strategy=file_copy -T mmperf_template "$PGDATABASE" || exit 1
	conninfo="host=$PGHOST dbname=$PGDATABASE"
	daemons=''
	trap _finish EXIT
	trap 'exit 130' INT TERM
}

free_port() {
	python3 - <<-'PY'
		import random, socket
		low = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
		while True:
		    try:
		        with socket.socket() as s:
		            s.bind(("127.0.0.1", random.randrange(10000, max(low, 11000))))
		            print(s.getsockname()[1])
		            break
		    except OSError:
		        pass
	PY
}

# The part of the settings that every test wants.
settings_head() {
	cat <<-EOF
		[database]
			conninfo = $conninfo
		[state]
			dir = $dir/state
			cache = $dir/cache
		[host]
			name = testhost
	EOF
}

kernel_lab() {
	echo 'CONFIG_NONE=y' >"$dir/none.config"
	cat <<-EOF
		[tree "$1"]
			url = $dir/tree
			branch = main
			recipe = none
			poll = 1h
		[recipe "none"]
			config = $dir/none.config
		[suite "fault"]
			benchmark = fault
			pass = clean
			param = threads=$2
			param = size=$3
			param = iterations=2
		[detect]
			boots = 1
			z = 1000
			gaps = false
	EOF
}

lab_starts() {
	daemon bisector
	daemon runner
	ok "the lab starts" wait_sql 120 "select exists (select from machines where state = 'up') and exists (select from snapshots)"
}

# A tree that builds in a second: its repository is $tree, its recipe $dir/tiny.config.
settings_tiny() {
	cat <<-EOF
		[recipe "tiny"]
			config = $dir/tiny.config
		[tree "test"]
			url = $tree
			branch = main
			base = base
			recipe = tiny
			poll = 1h
	EOF
}

mmperf() {
	"$build/mmperf" --config "$dir/config" "$@"
}

daemon() {
	_d=$1
	shift
	setsid "$build/mmperf-$_d" --config "$dir/config" "$@" >>"$dir/$_d.log" 2>&1 &
	# until then a signal would end up in the traps of this shell's copy
	while [ "/proc/$!/exe" -ef "/proc/$$/exe" ]; do :; done
	eval "pid_$_d=$!"
	daemons="$daemons $_d"
}

kill9() {
	eval "_pid=\$pid_$1"
	kill -9 "$_pid" 2>/dev/null
	wait "$_pid" 2>/dev/null
}

stop_daemon() {
	eval "_pid=\${pid_$1:-}"
	[ -n "$_pid" ] || return 0
	kill -TERM "$_pid" 2>/dev/null
	wait "$_pid" 2>/dev/null
}

_finish() {
	_status=$?
	trap - EXIT
	for _d in $daemons; do
		stop_daemon "$_d"
	done
	if [ $_status = 0 ] && [ $tap_failed = 0 ]; then
		rm -rf "$dir" # its database goes with the server
	else
		for _d in bisector runner reporter; do
			[ -f "$dir/$_d.log" ] && tail -5 "$dir/$_d.log" | sed "s/^/# $_d: /"
		done
		echo "# files stay in $dir"
	fi
	exit $_status
}

test_end() {
	echo "1..$tap_n"
	[ $tap_failed = 0 ]
}
