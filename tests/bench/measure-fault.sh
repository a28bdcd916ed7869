# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/bench/measure: does the benchmark cost what its system calls cost? One process each, both at the same time on
# the same CPU: what else the machine does, and what its frequency and caches do, meets both within milliseconds. Told are touches
# per second, of which the scheduler gives both the same share, and per second of CPU time. With huge pages as the machine has
# them, and without, since clearing huge pages hides what is done for each touch. 16 and 4 MB a round instead of 128: what is
# done once a round weighs the more.

fault_runs=${MEASURE_FAULT_RUNS:-20}
fault_seconds=4
gcc -std=gnu17 -D_GNU_SOURCE -O2 tests/bench/plain_fault.c -o "$work/plain_fault"

# Command and arguments in a process that gets no huge pages (PR_SET_THP_DISABLE), nor do its children.
fault_small() {
	/usr/bin/python3 -c 'import ctypes, os, sys
if ctypes.CDLL(None).prctl(41, 1, 0, 0, 0): sys.exit("PR_SET_THP_DISABLE")
os.execv(sys.argv[1], sys.argv[1:])' "$@"
}

# fault_both PREFIX PAGES MBYTES: one run of both; PREFIX is nothing, or fault_small.
fault_both() {
	$1 "$work/plain_fault" 1 $fault_seconds "$3" >>"$work/fault.$2.plain" &
	$1 "$build/bench/fault" --preset page_fault1 --threads 1 --size "$3M" --warmup 1 --seconds 1 \
		--iterations $fault_seconds --json | tr '\n' ' ' >>"$work/fault.$2.ours"
	echo >>"$work/fault.$2.ours"
	wait
}

run=0
while [ $run -lt "$fault_runs" ]; do
	fault_both '' huge 16
	fault_both fault_small small 4
	run=$((run + 1))
done
/usr/bin/python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
decoder = json.JSONDecoder()
for pages in "huge", "small":
    plain = [l.split() for l in open(f"{work}/fault.{pages}.plain")]
    wall, cpu = open(f"{work}/fault.{pages}.wall", "w"), open(f"{work}/fault.{pages}.cpu", "w")
    for (per_s, per_cpu_s), text in zip(plain, open(f"{work}/fault.{pages}.ours")):
        values, text = {}, text.strip()
        while text:
            line, end = decoder.raw_decode(text)
            text = text[end:].strip()
            if line["type"] == "metric":
                values[line["name"]] = line["values"]
        rates = values["throughput"]
        print(per_s, sum(rates) / len(rates), file=wall)
        cpu_ns = [u + s for u, s in zip(values.get("user_time", []), values.get("system_time", []))]
        if len(cpu_ns) == len(rates):  # else starved: in one of the seconds not a round ended
            # Each second weighs what was touched in it, as it does in the other's single number.
            mean_ns = sum(r * t for r, t in zip(rates, cpu_ns)) / sum(rates)
            print(per_cpu_s, 1e9 / mean_ns, file=cpu)
PY
fault_condition="$fault_runs x $fault_seconds s on one CPU, load $(cut -d " " -f 1 /proc/loadavg)"
fault_thp=$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo none)
for pages in huge small; do
	fault_pages="THP $fault_thp"
	[ $pages = huge ] || fault_pages='4K pages'
	row "page_fault1 / plain loop, touches/s, $fault_pages" "$fault_condition" '1 +- 0.01' \
		"$(ratio_interval "$work/fault.$pages.wall")" ratio
	row "page_fault1 / plain loop, touches/CPU s, $fault_pages" "$fault_condition" '1 +- 0.01' \
		"$(ratio_interval "$work/fault.$pages.cpu")" ratio
done
