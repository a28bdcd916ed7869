#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On real kernels: another planted change, found through the wait on the lruvec lock alone.
. "$(dirname "$0")/../../lib.sh"
test_begin
sh "$root/deploy/demo" --build "$build" --dir "$dir/demo" --plant locks --judge lock.lruvec.wait_per_op --timeout 3000 \
	>"$dir/demo.out" 2>&1
status=$?
sed 's/^/# /' "$dir/demo.out" | tail -60
is "the demo ends well" "$status" 0
like "the planted commit is named" "$(tail -1 "$dir/demo.out")" \
	"^demo: planted commit found: $(sed -n 's/^planted=\(............\).*/\1/p' "$dir/demo/tree/truth")"
like "by the lock's wait" "$(cat "$dir/demo.out")" "lock\.lruvec\.wait_per_op"
test_end
