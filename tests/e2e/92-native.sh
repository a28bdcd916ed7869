#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks that turn the machine's knobs, on the kernel that runs here. Collapses are seen in the page tables, and a kernel that
# cannot says so at once; the state that compaction starts from is recorded; nothing that takes zone->lock is read while something is
# measured. Alone: the knobs are the machine's.
. "$(dirname "$0")/../lib.sh"
if [ "$(id -u)" != 0 ] || [ ! -d /sys/kernel/mm/transparent_hugepage/khugepaged ]; then
	echo '1..0 # skip khugepaged is needed, and root'
	exit 0
fi
test_begin
bench=$build/bench

# collapse PARAMETERS...: "huge_pmds N" or "missing REASON", then the words of what was traced
collapse() {
	"$bench/khugepaged" --json --size 4M --limit 60s --scan_sleep 20 --alloc_sleep 20 --accesses 32768 "$@" >"$dir/out"
	/usr/bin/python3 - "$dir/out" <<-'PY'
		import json, sys
		lines = [json.loads(l) for l in open(sys.argv[1])]
		m = {l["name"]: l["values"][0] for l in lines if l["type"] == "metric"}
		missing = {l["name"]: l["reason"] for l in lines if l["type"] == "missing"}
		if "time_to_collapse" in m:
		    ordered = m["time_to_first_collapse"] <= m["time_to_last_collapse"] == m["time_to_collapse"]
		    print("huge", m["huge_pmds_start"], m["huge_pmds"], "in order" if ordered and m["time_to_collapse"] > 0 else m)
		else:
		    print("missing", missing["time_to_collapse"])
		print("traced", "scans_per_collapse" in m, any(n.startswith("scan-") for n in m), missing.get("scans_per_collapse", ""))
	PY
}
knobs() {
	cat /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/shmem_enabled \
		/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
}

before=$(knobs)

# --- khugepaged --------------------------------------------------------------------------------------
for memory in anon shmem; do
	for by in khugepaged madvise; do
		is "$memory, by $by: all is huge, and was not before" "$(collapse --memory $memory --by $by | head -1)" \
			'huge 0.0 2.0 in order'
	done
done
# On a kernel without tracefs the reason stands there instead.
like "the kernel's words for what it did are counted, or why not is told" "$(collapse | tail -1)" \
	'traced True True $|traced False False (no tracefs|this kernel has no event)'
start=$(date +%s)
like "a file's pages: huge, or the kernel's refusal" "$(collapse --memory file | head -1)" \
	'^huge 0.0 2.0 in order|^missing this kernel does not collapse a file'
ok "... without waiting for what never comes" test $(($(date +%s) - start)) -lt 50

# --- compaction --------------------------------------------------------------------------------------
compact='--threads 1 --size 64M --first base --file none'
"$bench/compaction" --json $compact >"$dir/out" 2>"$dir/err"
for state in start_free_pages start_free_huge_pages start_pageblocks_movable free_pages; do
	like "compaction records $state" "$(cat "$dir/out")" "\"name\":\"$state-1\",\"type\":\"counter\",\"value\":[0-9]"
done
like "... and tells times, or that nothing had to be compacted" "$(cat "$dir/out")" \
	'"name":"fault_both-1".*"values":\[[0-9]|"name":"fault_both-1","reason":"no compaction happened'
# A quarter of what is free becomes ballast.
mb_free() { awk '/^MemFree/ { print int($2 / 1024) }' /proc/meminfo; }
huge_pages() { cat /proc/sys/vm/nr_hugepages; }
sync
echo 3 >/proc/sys/vm/drop_caches
leave=$(($(mb_free) * 3 / 4))
huge=$(huge_pages)
"$bench/compaction" --json $compact --memory "${leave}M" --iterations 20 >"$dir/out" 2>"$dir/err" &
least=$(mb_free)
while kill -0 $! 2>/dev/null; do
	now=$(mb_free)
	[ "$now" -ge "$least" ] || least=$now
	sleep 0.1
done
wait $!
is "ballast leaves the memory that was asked for, give or take what others do" \
	"$? $([ "$least" -gt $((leave * 8 / 10)) ] && [ "$least" -lt $((leave * 11 / 10)) ] && echo yes || echo "$least of $leave")" '0 yes'
is "... and is given back" "$(huge_pages)" "$huge"

# --- what is read in a phase -------------------------------------------------------------------------
# phases BENCHMARK PARAMETERS...: "N phases", then what takes zone->lock and was opened within, then whether it was outside
phases() {
	yes '' | strace -f -qq -s 60 -e trace=open,openat,write -o "$dir/trace" "$bench/$@" --sync >"$dir/out" 2>"$dir/err"
	/usr/bin/python3 - "$dir/trace" <<-'PY'
		import re, sys
		on, phases, within, outside = False, 0, [], False
		for line in open(sys.argv[1], errors="replace"):
		    switch = re.search(r'write\(1, .*\\"on\\":(true|false).*phase', line)
		    if switch:
		        on = switch[1] == "true"
		        phases += on
		    path = re.search(r'open(?:at)?\(.*"(/proc/(?:buddyinfo|zoneinfo|pagetypeinfo|sys/vm/(?:compact_memory|drop_caches)))"', line)
		    if path and on:
		        within.append(path[1])
		    outside |= bool(path) and not on
		print(phases > 0 and "phases", *within, outside and "(outside: yes)" or "")
	PY
}
if command -v strace >/dev/null; then
	is "compaction looks at free memory before and after" "$(phases compaction $compact)" 'phases (outside: yes)'
	small='--size 256K --iterations 2 --folio inherit'
	for name in fault fork mremap munmap; do
		is "$name reads nothing that takes zone->lock" "$(phases $name $small)" 'phases '
	done
	is "... nor does khugepaged" "$(phases khugepaged --size 2M --limit 2s --accesses 32768)" 'phases '
fi
is "the knobs are as before" "$(knobs)" "$before"
test_end
