#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# lockwatch on Debian's kernels in guests with native spinlocks: 6.12, and 6.1 too when ALL_KERNELS is set (make check-all).
. "$(dirname "$0")/../lib.sh"
test_begin

guest() { # KERNEL COMMAND...
	kernel=$1
	shift
	O=$build TIMEOUT=240 sh "$root/tests/guest/run" "$kernel" 4 1024 "$@" >"$dir/out" 2>&1
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
	for class in lruvec zone mmap_lock; do
		like "$series: $class is seen" "$(cat "$dir/out")" "\"class\":\"$class\""
	done
	is "$series: nothing is lost, and hardly a wait is without name" "$(sed -n 's/^{/{/p' "$dir/out" | /usr/bin/python3 -c '
import json, sys
h = [json.loads(l) for l in sys.stdin if "\"lock_health\"" in l][0]
print(h["lost"], h["stack_failures"], h["unmatched_ns"] <= 0.02 * h["wait_ns"])')" '0 0 True'
}

check_kernel 6.12
[ -z "${ALL_KERNELS:-}" ] || check_kernel 6.1
test_end
