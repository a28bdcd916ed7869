#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each benchmark at a shell: help, description, one table, lines of JSON, and one clear line for what it cannot do.
. "$(dirname "$0")/../lib.sh"
test_begin

bench=$build/bench
names='compaction fault fork khugepaged mremap munmap reclaim'
all_describe() {
	for name in $names; do
		"$bench/$name" --describe | /usr/bin/python3 -c '
import json, sys
b = json.load(sys.stdin)
assert b["name"] == sys.argv[1] and b["params"] and any(m["primary"] for m in b["metrics"]), b["name"]
for p in b["params"]:
    assert p["help"] and p["default"] != ""' "$name" || return 1
	done
}
ok "every benchmark describes itself" all_describe
is "emulated machines judge of khugepaged its time to collapse and its huge pages" "$("$bench/khugepaged" --describe | /usr/bin/python3 -c '
import json, sys
print(*(m["name"] for m in json.load(sys.stdin)["metrics"] if m["direction"] != "none" and not m["real_cpus"]))')" \
	"time_to_collapse huge_pmds"
like "... and no tail of fault" "$("$bench/fault" --help)" ' ! latency_p999'
for name in $names; do
	like "$name --help tells parameters, metrics, options" "$("$bench/$name" --help | tr '\n' ' ')" \
		"^$name \(version [0-9]+\).*Parameters.*--json.*Metrics"
done
is "the agent starts them by name too" "$("$bench/mmperf-agent" fork --help | head -1)" "$("$bench/fork" --help | head -1)"

refused() { # words of the command line, then what the one line must hold
	what=$1
	shift
	"$bench/$1" "$2" "$3" >"$dir/out" 2>"$dir/err" </dev/null
	is "$what: status 2, one line, nothing on stdout" "$? $(wc -l <"$dir/err" | tr -d ' ') $(wc -c <"$dir/out" | tr -d ' ')" "2 1 0"
	like "... which says what is meant" "$(cat "$dir/err")" "$4"
}
refused "an unknown parameter" fault --colour red 'colour'
refused "a slip of the keyboard" fault --thread 3 'did you mean --threads'
refused "a number that is none" munmap --size many '"many" is not a size such as'
refused "a number out of bounds" fault --threads 0 'should be 1 to 4096'
refused "an odd size" mremap --size 5000 'multiple of 4K'
refused "a word that is no choice" reclaim --memory paper 'file\|anon'
refused "a preset that is none" khugepaged --preset fast 'preset "fast"'
refused "a list that is none" compaction --threads 1,many 'numbers such as 1,3,5'
refused "a file in memory" compaction --file /dev/shm/mmperf-test 'file on a disk'
rm -f /dev/shm/mmperf-test

"$bench/fault" --folio inherit --advise nohuge --threads 2 --size 1M --rounds 1 --iterations 2 --mode processes >"$dir/out" 2>"$dir/err"
is "fault runs with a table" "$? $(head -1 "$dir/out" | tr -s ' ')" "0 metric unit median min max n"
like "... that has the fault time and its parts" "$(tr '\n' ' ' <"$dir/out")" 'fault_time +ns.*touch_time +ns.*release_time +ns.*latency_mean'
"$bench/fault" --json --preset page_fault1 --threads 1 --size 1M --seconds 50ms --warmup 1 --iterations 2 --scaling auto >"$dir/out"
is "a preset of will-it-scale counts per process" "$(/usr/bin/python3 -c '
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
m = {l["name"]: l for l in lines if l["type"] == "metric"}
done = lines[-1]
print(done["type"], m["per_process_ops"]["direction"], len(m["per_process_ops"]["values"]), m["scalability-1"]["values"])
assert sum(m["throughput"]["values"]) > 0 and done["operations"] > 0' "$dir/out")" 'done higher 2 [1.0]'
"$bench/munmap" --folio inherit --size 1M --iterations 2 --json >"$dir/out"
like "munmap tells the release" "$(cat "$dir/out")" '"direction":"lower".*"name":"release_time","primary":true'
test_end
