# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/bench/measure: does the benchmark cost what its system calls cost? One process each, in turns, the
# order changed every time; touches per second, and per second of CPU time (all that counts on a machine with other work).
# 16 MB a round instead of 128: what is done once a round weighs eight times as much.

fault_pairs=${MEASURE_FAULT_PAIRS:-100}
gcc -std=gnu17 -D_GNU_SOURCE -O2 tests/bench/plain_fault.c -o "$work/plain_fault"

fault_plain() {
	"$work/plain_fault" 0.4 0.4 16 >>"$work/fault.plain"
}
fault_ours() {
	"$build/bench/fault" --preset page_fault1 --threads 1 --size 16M --warmup 1 --seconds 0.4 --iterations 1 --json |
		sed -n 's/$/ /; H; $ { x; s/\n//g; p; }' >>"$work/fault.ours"
}

pair=0
while [ $pair -lt "$fault_pairs" ]; do
	case $((pair % 2)) in
	0) fault_plain && fault_ours ;;
	1) fault_ours && fault_plain ;;
	esac
	pair=$((pair + 1))
done
/usr/bin/python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
plain = [l.split() for l in open(work + "/fault.plain")]
wall, cpu = open(work + "/fault.wall", "w"), open(work + "/fault.cpu", "w")
decoder = json.JSONDecoder()
for (per_s, per_cpu_s), text in zip(plain, open(work + "/fault.ours")):
    values, text = {}, text.strip()
    while text:
        line, end = decoder.raw_decode(text)
        text = text[end:].strip()
        if line["type"] == "metric":
            values[line["name"]] = sum(line["values"]) / len(line["values"])
    if "user_time" not in values:  # starved: not one round ended
        continue
    print(per_s, values["throughput"], file=wall)
    print(per_cpu_s, 1e9 / (values["user_time"] + values["system_time"]), file=cpu)
PY
fault_condition="$fault_pairs pairs, 16M, load $(cut -d " " -f 1 /proc/loadavg), THP $(sed 's/.*\[\(.*\)\].*/\1/' \
	/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo none)"
row 'page_fault1 / plain loop, touches/s' "$fault_condition" '1 +- 0.01' "$(ratio_interval "$work/fault.wall")" ratio
row 'page_fault1 / plain loop, touches/CPU s' "$fault_condition" '1 +- 0.01' "$(ratio_interval "$work/fault.cpu")" ratio
