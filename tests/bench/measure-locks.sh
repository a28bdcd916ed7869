# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/bench/measure: what lockwatch costs, loses and knows. GUEST_KERNELS="6.12=FILE 6.1=FILE" adds guests with
# native spinlocks (bzImage files); without it those rows tell that there was none. Needs root.

bench=$build/bench
pairs=${PAIRS:-15}

# field FILE TYPE NAME: of the first JSON line of that type
field() {
	/usr/bin/python3 - "$@" <<-'PY'
		import json, sys
		for line in open(sys.argv[1], errors="replace"):
		    if not line.startswith("{"):
		        continue
		    o = json.loads(line)
		    if o.get("type") == sys.argv[2]:
		        print(o.get(sys.argv[3], 0))
		        break
	PY
}

# throughput FILE: operations per second of a benchmark's `done` line
throughput() {
	awk -v n="$(field "$1" done operations)" -v s="$(field "$1" done seconds)" 'BEGIN { print n / s }'
}

locks_native() {
	if [ "$(id -u)" != 0 ]; then
		row 'lockwatch: instrumented / clean throughput' 'native' '>= 0.95' '- needs root' ratio
		return
	fi
	stats=/proc/sys/kernel/bpf_stats_enabled
	was=$(cat $stats)
	echo 1 >$stats
	"$bench/lockwatch" --json -- "$bench/fault" --threads 4 --size 4M --rounds 20 --iterations 2 --json >"$work/cost" 2>/dev/null
	echo "$was" >$stats
	row 'lockwatch: own time per event' 'native, fault of 4 threads, bpf_stats' - \
		"$(awk -v ns="$(field "$work/cost" lock_health bpf_ns)" -v n="$(field "$work/cost" lock_health bpf_runs)" \
			'BEGIN { if (n > 0) printf "%.0f", ns / n; else printf "- no event" }')" ns
	row 'lockwatch: events lost' 'native, the same' '<= 0' "$(field "$work/cost" lock_health lost)" events
	fault="$bench/fault --threads $(nproc) --size 4M --rounds 20 --iterations 2 --json"
	: >"$work/pairs"
	: >"$work/perf"
	n=0
	while [ $n -lt "$pairs" ]; do
		n=$((n + 1))
		# Who goes first changes, so that a drift of the machine cancels.
		for kind in $([ $((n % 2)) = 0 ] && echo 'clean watched' || echo 'watched clean'); do
			case $kind in
			clean) $fault >"$work/clean" 2>/dev/null ;;
			watched) "$bench/lockwatch" -- $fault >"$work/watched" 2>/dev/null ;;
			esac
		done
		echo "$(throughput "$work/clean") $(throughput "$work/watched")" >>"$work/pairs"
		if command -v perf >/dev/null; then
			unshare -m sh -c "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
				perf lock record -q -o '$work/perf.data' -- $fault" >"$work/perfed" 2>/dev/null || : >"$work/perfed"
			[ ! -s "$work/perfed" ] || echo "$(throughput "$work/clean") $(throughput "$work/perfed")" >>"$work/perf"
		fi
	done
	row 'lockwatch: instrumented / clean throughput' "native, fault on all CPUs, $pairs pairs" '>= 0.95' \
		"$(ratio_interval "$work/pairs")" ratio
	row '... the same by perf lock record' "native, $(wc -l <"$work/perf") pairs" - \
		"$([ -s "$work/perf" ] && ratio_interval "$work/perf" || echo '- perf cannot here')" ratio
	"$bench/lockwatch" --self-test accounting >"$work/self" 2>&1 || true
	row 'lockwatch: known waits, told / known' 'mmap_lock held by mprotect()' '1 +- 0.05' \
		"$(sed -n 's/.*held by mprotect.*known \([0-9.]*\) ms, told \([0-9.]*\) ms.*/\1 \2/p' "$work/self" |
			awk '{ printf "%.4f", $2 / $1 }')" ratio
}

# guest KERNEL COMMAND...: lines of JSON in $work/guest
locks_guest_run() {
	image=$1
	shift
	O=$build TIMEOUT="${GUEST_TIMEOUT:-200}" sh tests/guest/run "$image" 8 1536 "$@" >"$work/guest" 2>/dev/null || true
}

# What the benchmarks' presets hardly contend for: the queue of huge folios, page tables that threads share, anon_vmas of forks.
locks_guest_classes() {
	# Smaller folios than a huge page came with 6.8, the queue for them with 6.9.
	case $name in 6.1) folio=2M size=4M ;; *) folio=64K size=1M ;; esac
	# By seconds: where eight virtual CPUs share two, so many rounds may last for ever.
	locks_guest_run "$image" lockwatch --json -- fault --json --mode processes --threads 4 --size "$size" --folio "$folio" --touch folio \
		--release halves --seconds 1 --iterations 15 --latency 0 ';' \
		lockwatch --json -- fault --json --threads 8 --size 64K --align 4K --guard 0 --seconds 1 --iterations 8 --latency 0 ';' \
		lockwatch --json -- fault --json --mode processes --threads 8 --release exit --size 64K --seconds 1 --iterations 15 --latency 0
	sed -n 's/.*"class":"\([a-z_]*\)".*/\1/p' "$work/guest" >>"$work/classes"
}

locks_guest() { # NAME=FILE
	name=${1%%=*} image=${1#*=}
	: >"$work/classes"
	for what in 'fault --preset guest' 'compaction --preset guest' 'khugepaged --preset guest'; do
		locks_guest_run "$image" lockwatch --json -- $what --json
		if ! grep -q '"type":"lockwatch"' "$work/guest"; then
			row "lockwatch: unmatched share, ${what%% *}" "$name, 8 vCPUs emulated" '<= 0.02' '- the guest did not end' share
			continue
		fi
		row "lockwatch: unmatched share, ${what%% *}" "$name, 8 vCPUs emulated" '<= 0.02' \
			"$(awk -v u="$(field "$work/guest" lock_health unmatched_ns)" -v w="$(field "$work/guest" lock_health wait_ns)" \
				'BEGIN { printf "%.4f", w ? u / w : 0 }')" share
		row "lockwatch: events lost, ${what%% *}" "$name, 8 vCPUs emulated" '<= 0' \
			"$(field "$work/guest" lock_health lost) of $(field "$work/guest" lock_health begins)" events
		sed -n 's/.*"class":"\([a-z_]*\)".*/\1/p' "$work/guest" >>"$work/classes"
	done
	locks_guest_classes
	seen=0
	for class in lruvec zone deferred_split mmap_lock pte anon_vma; do
		! grep -qx $class "$work/classes" || seen=$((seen + 1))
	done
	row 'lockwatch: classes seen of lruvec, zone, deferred_split, mmap_lock, pte, anon_vma' "$name" '>= 6' \
		"$seen ($(sort -u "$work/classes" | tr '\n' ' '))" classes
}

locks_native
if [ -z "${GUEST_KERNELS:-}" ]; then
	row 'lockwatch: unmatched share' 'guests with native spinlocks' '<= 0.02' '- no GUEST_KERNELS given' share
fi
for kernel in ${GUEST_KERNELS:-}; do
	locks_guest "$kernel"
done
