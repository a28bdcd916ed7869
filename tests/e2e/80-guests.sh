#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real kernels that guests kexec into: all three benchmarks, another layout, a kernel that does not compile, one that panics.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/lab.sh"
test_begin
programs=$build
lab_begin

lab "$dir/state" <<-'EOF'
	[machine "jumper"]
		class = jumpers
		driver = qemu
		boot = kexec
		max-disturbance = 1
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
ok "the lab of kexec guests starts" lab_start
mmperf run mm-unstable -n 1 >"$dir/out" 2>"$dir/err"
is "a kernel is measured behind kexec" "$?" 0
for metric in 'fault +clean +fault_time' 'khugepaged +clean +time_to_collapse'; do
	like "it has $metric" "$(cat "$dir/out")" "$metric"
done
like "it has compaction +clean +fault_both, or nothing had to be compacted" "$(cat "$dir/out")
$(lab_sql "select name || ': ' || reason from counters where name like 'fault_both%' and reason is not null")" \
	'compaction +clean +fault_both|fault_both.*: no compaction happened'
# --- the image by itself ----------------------------------------------------------------------------------
artifact() { # COLUMN: that file of the first image
	sha256=$(lab_sql "select a.sha256 from images i join artifacts a on a.id = i.$1 order by i.id limit 1")
	find "$state/artifacts" -type f -path "*${sha256#??}"
}
alone() { # COMMAND...
	O=$programs FILES="$dir/symbols $dir/System.map" sh "$root/tests/guest/run" "$(artifact kernel)" 2 512 "$@" >"$dir/out" 2>&1
}
gcc -O2 -static "$root/tests/guest/symbols.c" -o "$dir/symbols"
cp "$(artifact system_map)" "$dir/System.map"
ok "what a kernel calls its functions is what its stored System.map does" alone /symbols /System.map
sed 's/^/# /' "$dir/out"
ok "a benchmark runs in nested memory cgroups" alone fault --memcg_depth 3 --size 1M --rounds 2 --iterations 2
like "... and tells numbers" "$(cat "$dir/out")" 'fault_time'

mmperf compare mm-unstable mm-unstable --layout 0,3 --bench fault -n 1 >"$dir/out" 2>"$dir/err"
is "a kernel of another layout is measured beside the plain one" \
	"$? $(lab_sql "select count(distinct b.image) from boots b join jobs j on j.id = (select job from attempts where id = b.attempt)
		join requests r on r.id = j.request where r.kind = 'compare' and b.outcome = 'ok'")" '0 2'
mmperf run "$(truth noncompiling)" -n 1 >"$dir/out" 2>"$dir/err"
like "what does not compile is told with the compiler's words" "$? $(cat "$dir/out")" \
	"^0 .*does not build: .*WRITEBACK_PRIORITY"
mmperf run "$(truth panicking)" -n 1 >"$dir/out" 2>"$dir/err"
like "a kernel that panics is no measurement" "$(cat "$dir/out")" '^1 boots failed'
like "... and what it said is told" "$(mmperf log)" ' boot .*: panic: .*cannot create /sys/kernel/mm'
is "every boot came by kexec" "$(lab_sql "select string_agg(distinct method, ' ') from boots")" kexec
is "every measured kernel proved its identity" \
	"$(lab_sql "select count(*) filter (where b.build_id is distinct from i.build_id) || ' ' || (count(*) >= 3) from boots b join images i on i.id = b.image where b.outcome = 'ok'")" '0 true'
is "an instrumented pass of each saw locks, or said why not" \
	"$(lab_sql "select count(distinct benchmark) from runs r join lock_health h on h.run = r.id where r.outcome = 'ok' and (h.measurable or h.reason <> '')")" 3
lab_stop
is "the lab stops well" "$?" 0
test_end
