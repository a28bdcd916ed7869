# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced behind lib.sh by tests that boot the demo's kernels, whose second plant is a lock's: a lab with a private database.
#
#	lab_begin                      after test_begin: the programs where daemons may read them, the tree with two pushes
#	lab DIR <<EOF                  settings: state in DIR, the tree, its recipe, and what stdin adds
#	lab_start                      mmperf up, until the tree was followed and the machine is there
#	lab_stop                       its exit status
#	lab_sql TEXT                   like sql
#	truth NAME                     what the tree's maker says: planted, base, push2, panicking, ...

lab_begin() {
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/mmperf
	[ "$(id -u)" != 0 ] || cache=/var/cache/mmperf
	mkdir -p "$cache" "$dir/bin"
	cp "$build"/mmperf "$build"/mmperf-runner "$build"/mmperf-bisector "$build"/mmperf-reporter \
		"$build"/bench/mmperf-agent "$dir/bin/"
	build=$dir/bin
	cp "$root/deploy/recipes/qemu-x86.config" "$dir/"
	trap 'kill "${up:-}" 2>/dev/null; wait; _finish' EXIT
	sh "$root/deploy/demo-tree" init "$dir/tree" --plant locks --cache "$cache/demo-tree" >"$dir/tree.log" 2>&1 &&
		sh "$root/deploy/demo-tree" push "$dir/tree" 2 >>"$dir/tree.log" 2>&1 || { cat "$dir/tree.log"; exit 1; }
}

lab() {
	state=$1
	cat - >"$dir/config" <<-EOF
		[state]
			dir = $state
			cache = $cache
		[tree "demo"]
			url = $dir/tree/remote.git
			branch = mm-unstable
			recipe = qemu-x86
			poll = 1h
			reference = $dir/tree/remote.git
		[recipe "qemu-x86"]
			config = $dir/qemu-x86.config
		[health]
			canary = 0
		$(cat)
	EOF
}

lab_start() {
	"$build/mmperf" --config "$dir/config" up >>"$dir/up.log" 2>&1 &
	up=$!
	_end=$(($(date +%s) + 120))
	until mmperf log 2>/dev/null | grep -q ' snapshot ' && mmperf machines 2>/dev/null | grep -q ' up '; do
		[ "$(date +%s)" -lt "$_end" ] || { tail -5 "$dir/up.log"; return 1; }
		sleep 1
	done
}

lab_stop() {
	kill -TERM "$up"
	wait "$up"
}

lab_sql() {
	env -u PGPORT psql -XqAt -h "$state/pg/socket" -U mmperf -d mmperf -c "$1"
}

truth() {
	sed -n "s/^$1=//p" "$dir/tree/truth"
}
