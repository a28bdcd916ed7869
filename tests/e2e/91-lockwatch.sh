#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# lockwatch on Debian's kernels in guests with native spinlocks: 6.12, and 6.1 too when CHECK_ALL is set (make check-all).
. "$(dirname "$0")/../lib.sh"
test_begin

guest() { # KERNEL COMMAND...
	kernel=$1
	shift
	for _ in 1 2 3; do
		O=$build TIMEOUT=240 sh "$root/tests/guest/run" "$kernel" 4 1024 "$@" >"$dir/out" 2>&1
		status=$?
		# an emulated CPU may run into the breakpoint by which the kernel changes its own code
		grep -q 'Oops: int3' "$dir/out" || break
		echo '# the guest ended in a breakpoint of its own kernel; once more'
	done
	return $status
}

check_kernel() {
	series=$1
	image=$(sh "$root/tests/guest/debian-kernel" "$series" 2>"$dir/err")
	if [ -z "$image" ]; then
		_report 0 "lockwatch on Debian's $series # skip $(head -1 "$dir/err")"
		return
	fi
	guest "$image" lockwatch --self-test naming
	is "$series: the lock whose holders are delayed is the one that is named" \
		"$? $(grep -c '^ok .*holders delayed' "$dir/out")" '0 2'
	sed 's/^/# /' "$dir/out"
	guest "$image" lockwatch --json -- fault --preset guest --json
	ok "$series: lockwatch watches a benchmark" test $? = 0
	for class in lruvec mmap_lock; do
		like "$series: $class is seen" "$(cat "$dir/out")" "\"class\":\"$class\""
	done
	/usr/bin/python3 - "$dir/out" >"$dir/health" <<-'PY'
		import json, sys
		lines = [json.loads(l) for l in open(sys.argv[1], errors="replace") if l.startswith("{")]
		h = [l for l in lines if l["type"] == "lock_health"][0]
		print(h["lost"], h["stack_failures"], h["unmatched_ns"] <= 0.02 * h["wait_ns"])
		for l in sorted((l for l in lines if l["type"] == "lock"), key=lambda l: -l["wait_ns"]):
		    print("#", l["class"], l["site"], l["count"], l["wait_ns"])
	PY
	is "$series: nothing is lost, and hardly a wait is without name" "$(head -1 "$dir/health")" '0 0 True'
	tail -n +2 "$dir/health"
}

check_kernel 6.12
[ -z "${CHECK_ALL:-}" ] || check_kernel 6.1
test_end
