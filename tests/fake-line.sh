# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced behind lib.sh by tests of the whole line: a tree that builds in a second, fake machines, all three daemons.
#
#	line_settings [LINE]...    $dir/config: tree $dir/tree, two fake machines, one suite of both passes that judges fault_ns, and
#	                           LINEs; $line_gaps and $line_compiler replace detect.gaps (false) and build.compiler (gcc)
#	plant [WORD]...            tests/make-fake-tree in $dir/tree (its first word is the directory or an option)
#	number K                   oid of the newest commit "mm: change number K" of the tree
#	start_all, stop_all        the three daemons
#	fetch                      tells the runner to look at the tree now
#	rounds N                   runner and bisector in turn, each until it has nothing to do, N times
#	mails                      how many the spool holds

line_settings() {
	settings_head >"$dir/config"
	echo '# nothing' >"$dir/tiny.config"
	[ -f "$dir/fake.script" ] || echo 'boot-s 0' >"$dir/fake.script"
	cat >>"$dir/config" <<-EOT
		[build]
			min-free = 1M
			ccache = false
			compiler = ${line_compiler:-gcc}
		[detect]
			gaps = ${line_gaps:-false}
		[bisect]
			prove-boots = 5
		[recipe "tiny"]
			config = $dir/tiny.config
		[tree "test"]
			url = $dir/tree
			branch = main
			base = base
			recipe = tiny
			poll = 1h
		[machine "m1"]
			class = fake
			driver = fake
			script = $dir/fake.script
			boot-timeout = 2s
			run-timeout = 5s
		[machine "m2"]
			class = fake
			driver = fake
			script = $dir/fake.script
			boot-timeout = 2s
			run-timeout = 5s
		[suite "fault"]
			benchmark = fault
			judge = fault_ns
		[mail]
			to = mm list <linux-mm@example.org>
	EOT
	for _line; do
		printf '%s\n' "$_line" >>"$dir/config"
	done
}

plant() {
	case $1 in
	--*) _mode=$1; shift; sh "$root/tests/make-fake-tree" "$_mode" "$dir/tree" "$@" || exit 1 ;;
	*) sh "$root/tests/make-fake-tree" "$dir/tree" "$@" || exit 1 ;;
	esac
}

number() {
	git -C "$dir/tree" log -1 --format=%H --grep="^mm: change number $1\$" main
}

start_all() {
	daemon runner
	daemon bisector
	daemon reporter
}

stop_all() {
	for _s in runner bisector reporter; do
		stop_daemon $_s
	done
}

fetch() {
	kill -HUP "$pid_runner"
}

rounds() {
	for _round in $(seq "$1"); do
		"$build/mmperf-runner" --config "$dir/config" --once >>"$dir/runner.log" 2>&1 || return 1
		"$build/mmperf-bisector" --config "$dir/config" --once >>"$dir/bisector.log" 2>&1 || return 1
	done
}

mails() {
	find "$dir/state/spool" -name '*.eml' 2>/dev/null | wc -l
}
