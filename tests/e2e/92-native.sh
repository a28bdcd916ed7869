#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# khugepaged with shared memory and files, on the kernel that runs here: collapses are seen in the page tables, and a kernel that
# cannot says so at once. Alone: the knobs are the machine's.
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
is "the knobs are as before" "$(knobs)" "$before"
test_end
