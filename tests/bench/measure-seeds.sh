# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/bench/measure: published results (docs/published.md), in kind and in guests. SEED_KERNELS=DIR, which tests/guest/seed-kernels
# made; without it the rows tell that there was none. Kernels of a pair boot in turns. Emulated: directions, not sizes.

seed_pairs=${SEED_PAIRS:-3}

seed_guest() { # IMAGE CPUS MEMORY COMMAND...: what it printed in $work/seed
	image=$SEED_KERNELS/$1
	shift
	O=$build TIMEOUT="${GUEST_TIMEOUT:-150}" sh tests/guest/run "$image" "$@" >"$work/seed" 2>/dev/null || true
}

# seed_number CODE: the value of a Python expression over `lines`, what was printed as JSON, and `stacks`, folded ones
seed_number() {
	/usr/bin/python3 - "$work/seed" "$1" <<-'PY'
		import json, re, statistics, sys
		lines, stacks = [], {}
		for text in open(sys.argv[1], errors="replace"):
		    if text.startswith("{"):
		        try:
		            lines.append(json.loads(text))
		        except ValueError:
		            pass
		    elif re.match(r"\S+ \d+$", text):
		        stack, n = text.split()
		        stacks[stack] = int(n)
		def waits(what, *locks):
		    """count or wait_ns of locks, each "CLASS" or "CLASS/SITE"; half a wait more, so that none has a logarithm"""
		    seen = [l for l in lines if l["type"] == "lock"]
		    half = 0.5 if what == "count" else 0.5 * sum(l["wait_ns"] for l in seen) / sum(l["count"] for l in seen)
		    return half + sum(l[what] for l in seen if l["class"] in locks or l["class"] + "/" + l["site"] in locks)
		def touches():
		    return [l for l in lines if l["type"] == "done"][0]["operations"]
		def metric(name):
		    return statistics.median([l for l in lines if l["type"] == "metric" and l["name"] == name][0]["values"])
		def share(*names):
		    return sum(n for s, n in stacks.items() if all(x in s for x in names)) / max(1, sum(stacks.values()))
		try:
		    print(eval(sys.argv[2]))
		except (IndexError, ZeroDivisionError):
		    pass
	PY
}

# seed_pair NAME KERNEL-A KERNEL-B CODE...: $work/NAME.1, .2, ...: a line "a b" per pair for each CODE; the guest's command is in $seed_command
seed_pair() {
	name=$1 a=$2 b=$3
	shift 3
	rm -f "$work/$name".*
	n=0
	while [ $n -lt "$seed_pairs" ]; do
		n=$((n + 1))
		for kernel in $([ $((n % 2)) = 0 ] && echo "$a $b" || echo "$b $a"); do
			seed_guest "$kernel" $seed_command
			i=0
			for code; do
				i=$((i + 1))
				seed_number "$code" >"$work/number.$kernel.$i"
			done
		done
		i=0
		for code; do
			i=$((i + 1))
			line="$(cat "$work/number.$a.$i") $(cat "$work/number.$b.$i")"
			case $line in ' '* | *' ') ;; *) echo "$line" >>"$work/$name.$i" ;; esac
		done
	done
}

# seed_medians FILE: "A -> B"
seed_medians() {
	/usr/bin/python3 - "$1" <<-'PY'
		import statistics, sys
		a, b = zip(*(map(float, l.split()) for l in open(sys.argv[1])))
		print("%.4g -> %.4g" % (statistics.median(a), statistics.median(b)))
	PY
}

# seed_mean FILE: "ratio [low, high]": geometric mean of b/a over the pairs, with Student's 95 % interval of the logarithms.
seed_mean() {
	/usr/bin/python3 - "$1" <<-'PY'
		import math, statistics, sys
		t = [math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
		x = [math.log(float(b) / float(a)) for a, b in map(str.split, open(sys.argv[1]))]
		mean = statistics.fmean(x)
		half = t[min(len(x), len(t)) - 1] * statistics.stdev(x) / math.sqrt(len(x)) if len(x) > 1 else math.inf
		print("%.4g [%.4g, %.4g]" % tuple(math.exp(min(v, 700)) for v in (mean, mean - half, mean + half)))
	PY
}

# seed_row WHAT CONDITION GOAL FILE [INTERVAL]: INTERVAL is ratio_interval or seed_mean; judged only when the pairs agree on the side of the goal.
seed_row() {
	if [ -s "$4" ]; then
		seed_ratio=$("${5:-ratio_interval}" "$4")
		case "$3 $(echo "$seed_ratio" | tr -d '[],' | awk '{ print ($2 < 1) + ($3 < 1) }')" in
		'<'*' 1' | '>'*' 1') seed_ratio="- pairs disagree: $seed_ratio" ;;
		esac
		row "$1" "$2, $(seed_medians "$4"), $(wc -l <"$4") pairs" "$3" "$seed_ratio" ratio
	else
		row "$1" "$2" "$3" '- no guest ended' ratio
	fi
}

# Where S1's waits are: lock/call site as lockwatch names them, what happens there, and the goal for their number.
s1_sites='lruvec/folio_batch_move_lru|faulted in|-
lruvec/__page_cache_release|freed|<= 1
deferred_split/deferred_split_folio|faulted in|-
deferred_split/__folio_unqueue_deferred_split|freed|-'

# Two CPUs are enough, since these kernels tell the first waiter, too: with more virtual CPUs than real ones whoever holds a lock or is
# the next for it does not run, and that is all that would be seen. What is judged is how often there was a wait; how long it took
# depends on who else works on the host.
seed_s1() {
	seed_command='2 512 lockwatch --json -- fault --json --mode processes --threads 2 --size 4M --seconds 1 --iterations 10 --folio 16K
		--touch folio --max_ptes_none 0 --latency 0'
	both='"lruvec", "deferred_split"'
	set -- "waits('count', 'deferred_split') / waits('count', $both)" "waits('wait_ns', 'deferred_split') / waits('wait_ns', $both)" \
		"waits('wait_ns', 'lruvec') / touches()" "waits('wait_ns', $both) / touches()" "metric('fault_time')"
	for site in $(echo "$s1_sites" | cut -d '|' -f 1); do
		set -- "$@" "1000 * waits('count', '$site') / touches()" "waits('wait_ns', '$site') / waits('wait_ns', $both)"
	done
	seed_pairs=$((seed_pairs * 2))
	seed_pair s1 s1-inside s1-outside "$@"
	seed_pairs=$((seed_pairs / 2))
	seed_row "S1: waits for the queue's lock / those for it and lruvec" 'unqueued inside -> behind the lruvec lock' '>= 1' "$work/s1.1" seed_mean
	seed_row '... their time' 'the same boots' - "$work/s1.2" seed_mean
	seed_row 'S1: lruvec wait per touch, ns' 'the same boots' - "$work/s1.3" seed_mean
	seed_row 'S1: wait for both locks per touch, ns' 'the same boots' - "$work/s1.4" seed_mean
	seed_row 'S1: time per touch, ns' 'the same boots' - "$work/s1.5" seed_mean
	i=6
	while IFS='|' read -r site when goal; do
		seed_row "S1: $site, waits per 1000 touches" "folios are $when" "$goal" "$work/s1.$i" seed_mean
		seed_row '... share of the time of all waits for both locks' "folios are $when" - "$work/s1.$((i + 1))" seed_mean
		i=$((i + 2))
	done <<-EOF
		$s1_sites
	EOF
}

seeds() {
	seed_s1
	seed_command='4 512 profile -- compaction --preset guest --iterations 6'
	export DISK=268435456
	seed_pair s3 plain s3-drain '(share("migrate_pages", "lru_add_drain") + 1e-4) / share("migrate_pages")' 'share("migrate_pages")'
	unset DISK
	seed_row 'S3: lru_add_drain below migrate_pages, share of it' 'drained for mlocked -> for all folios' '>= 1' "$work/s3.1"
	seed_row 'S3: share of migrate_pages' 'the same boots' - "$work/s3.2"

	seed_command='4 512 khugepaged --json --size 32M --scan_sleep 500 --alloc_sleep 500 --limit 60s --accesses 100000 --trace 0'
	seed_pair s4 plain s4-skip 'metric("time_to_collapse")'
	seed_row 'S4: time to collapse hot2, ns' 'plain -> skips lazily freed ranges' '<= 1' "$work/s4.1"

	seed_guest release 4 512 lockwatch --json -- fault --json --threads 4 --size 256K --rounds 20 --iterations 5 --limit 4s --latency 0
	row 'lockwatch: holds of mmap_lock told' 'kernel with contended_release' '>= 1' \
		"$(seed_number 'sum(l.get("hold_count", 0) for l in lines if l["type"] == "lock" and l["class"] == "mmap_lock")')" holds
}

if [ -n "${SEED_KERNELS:-}" ]; then
	seeds
else
	row 'S1, S3, S4: published results in kind' 'guests' - '- no SEED_KERNELS given' ratio
fi
