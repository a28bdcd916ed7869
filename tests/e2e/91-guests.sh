#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real kernels, two labs on one tree. First guests that kexec into each tested kernel: all three benchmarks, a kernel that
# does not compile, one that panics. Then a planted change that only the wait on the lruvec lock may give away.
. "$(dirname "$0")/../lib.sh"
test_begin

cache=${XDG_CACHE_HOME:-$HOME/.cache}/mmperf
[ "$(id -u)" != 0 ] || cache=/var/cache/mmperf
mkdir -p "$cache" "$dir/bin"
# The daemons run as users who may not read the place where the programs were built.
cp "$build"/mmperf "$build"/mmperf-runner "$build"/mmperf-bisector "$build"/mmperf-reporter \
	"$build"/bench/mmperf-agent "$dir/bin/"
build=$dir/bin
cp "$root/deploy/recipes/qemu-x86.config" "$dir/"
sh "$root/deploy/demo-tree" init "$dir/tree" --plant locks --cache "$cache/demo-tree" >"$dir/tree.log" 2>&1 &&
	sh "$root/deploy/demo-tree" push "$dir/tree" 2 >>"$dir/tree.log" 2>&1 || { cat "$dir/tree.log"; exit 1; }

lab() { # directory of its state; the rest of the settings on stdin
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
		$(cat)
	EOF
}
start() {
	"$build/mmperf" --config "$dir/config" up >>"$dir/up.log" 2>&1 &
	up=$!
}
labsql() {
	env -u PGPORT psql -XqAt -h "$state/pg/socket" -U mmperf -d mmperf -c "$1"
}
truth() {
	sed -n "s/^$1=//p" "$dir/tree/truth"
}
wait_up() {
	_end=$(($(date +%s) + 120))
	until mmperf log 2>/dev/null | grep -q ' snapshot ' && mmperf machines 2>/dev/null | grep -q ' up '; do
		[ "$(date +%s)" -lt "$_end" ] || { tail -5 "$dir/up.log"; return 1; }
		sleep 1
	done
}
trap 'kill "${up:-}" 2>/dev/null; wait; _finish' EXIT

# --- kexec, all benchmarks, kernels that are none -------------------------------------------------
lab "$dir/state" <<-'EOF'
	[machine "jumper"]
		class = jumpers
		driver = qemu
		boot = kexec
	[suite "fault"]
		benchmark = fault
		param = preset=guest
	[suite "compaction"]
		benchmark = compaction
		param = preset=guest
	[suite "khugepaged"]
		benchmark = khugepaged
		param = preset=guest
	[detect]
		boots = 1
		z = 1000
		gaps = false
EOF
start
ok "the lab of kexec guests starts" wait_up
mmperf run mm-unstable -n 1 >"$dir/out" 2>"$dir/err"
is "a kernel is measured behind kexec" "$?" 0
for metric in 'fault +clean +fault_time' 'compaction +clean +fault_both' 'khugepaged +clean +time_to_collapse'; do
	like "it has $metric" "$(cat "$dir/out")" "$metric"
done
mmperf compare mm-unstable mm-unstable --layout 0,3 --bench fault -n 1 >"$dir/out" 2>"$dir/err"
is "a kernel of another layout is measured beside the plain one" \
	"$? $(labsql "select count(distinct b.image) from boots b join jobs j on j.id = (select job from attempts where id = b.attempt)
		join requests r on r.id = j.request where r.kind = 'compare' and b.outcome = 'ok'")" '0 2'
mmperf run "$(truth noncompiling)" -n 1 >"$dir/out" 2>"$dir/err"
like "what does not compile is told with the compiler's words" "$? $(cat "$dir/out")" \
	"^0 .*does not build: .*WRITEBACK_PRIORITY"
mmperf run "$(truth panicking)" -n 1 >"$dir/out" 2>"$dir/err"
like "a kernel that panics is no measurement" "$(cat "$dir/out")" '^1 boots failed'
like "... and what it said is told" "$(mmperf log)" ' boot .*: panic: .*cannot create /sys/kernel/mm'
is "every boot came by kexec" "$(labsql "select string_agg(distinct method, ' ') from boots")" kexec
is "every measured kernel proved its identity" \
	"$(labsql "select count(*) filter (where b.build_id is distinct from i.build_id) || ' ' || (count(*) >= 3) from boots b join images i on i.id = b.image where b.outcome = 'ok'")" '0 true'
is "an instrumented pass of each saw locks, or said why not" \
	"$(labsql "select count(distinct benchmark) from runs r join lock_health h on h.run = r.id where r.outcome = 'ok' and (h.measurable or h.reason <> '')")" 3
kill -TERM "$up"
wait "$up"
is "the lab stops well" "$?" 0

# --- the wait on one lock alone -------------------------------------------------------------------
one_lock() {
	lab "$1" <<-'EOF'
		[machine "guest"]
			class = qemu-small
			driver = qemu
			memory = 512M
		[suite "fault"]
			benchmark = fault
			param = preset=guest
			judge = lock.lruvec.wait_per_op
		[detect]
			boots = 4
			gaps = false
			alpha = 0.02
			confirm-boots = 5
			confirm-stages = 4
		[bisect]
			clean-rebuild = false
			prove-boots = 6
			revert = false
	EOF
	"$build/mmperf" --config "$dir/config" up --exit-when-idle 3 >>"$dir/up.log" 2>&1
	worked=$?
	start
	wait_up
}
one_lock "$dir/state2"
# Contention in a guest comes in spells: what was not found at all is looked for once more, what was found wrongly is not.
if [ "$(labsql "select count(*) from regressions")" = 0 ]; then
	mmperf log --limit 1000 | sed 's/^/# /'
	echo "# nothing was found; once more"
	kill -TERM "$up"
	wait "$up"
	one_lock "$dir/state3"
fi
is "the lab works until nothing is left to do" "$worked" 0
mmperf log --limit 1000 | sed 's/^/# /'
is "the planted change is found" "$(labsql "select c.oid from regressions r join commits c on c.id = r.culprit")" "$(truth planted)"
is "by the wait on the lruvec lock alone" \
	"$(labsql "select string_agg(distinct m.name, ' ') from candidates c join series s on s.id = c.series join metrics m on m.id = s.metric")" \
	lock.lruvec.wait_per_op
is "the posterior is high" "$(labsql "select posterior >= 0.99 from regressions")" t
is "one mail in the spool" "$(find "$state/spool" -name '*.eml' | wc -l | tr -d ' ')" 1
kill -TERM "$up"
wait "$up"
test_end
