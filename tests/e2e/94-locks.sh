#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A person asks for a bisection on real kernels, of the demo's second plant: what the wait on the lruvec lock alone gives away.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/lab.sh"
test_begin
lab_begin

one_lock() {
	lab "$1" <<-'EOF'
		[machine "guest"]
			class = qemu-small
			driver = qemu
			cpus = 3
			memory = 512M
		[suite "fault"]
			benchmark = fault
			pass = instrumented
			param = preset=guest
			param = limit=2s
		[detect]
			boots = 1
			z = 1000
			gaps = false
		[bisect]
			clean-rebuild = false
			prove-boots = 5
			revert = false
	EOF
	lab_start
	mmperf bisect --good "$(truth base)" --bad "$(truth push2)" --bench fault \
		--metric lock.lruvec.wait_per_op >"$dir/out" 2>"$dir/err"
	found=$?
	sed 's/^/# /' "$dir/out"
}
one_lock "$dir/state2"
# Contention in a guest comes in spells: what was not found at all is looked for once more, what was found wrongly is not.
if [ "$(lab_sql "select count(*) from regressions")" = 0 ]; then
	mmperf log --limit 1000 | sed 's/^/# /'
	echo "# nothing was found; once more"
	lab_stop
	one_lock "$dir/state3"
fi
is "the planted change is found by the wait on the lruvec lock" "$found" 3
mmperf log --limit 1000 | sed 's/^/# /'
is "... and it is the planted one" "$(lab_sql "select c.oid from regressions r join commits c on c.id = r.culprit")" "$(truth planted)"
is "the posterior is high" "$(lab_sql "select posterior >= 0.99 from regressions")" t
report() {
	mmperf report 1 >"$dir/report" && grep -q lock.lruvec.wait_per_op "$dir/report" && grep -q "$(truth planted | cut -c1-12)" "$dir/report"
}
ok "its report names the lock and the commit" report
lab_stop
is "the lab stops well" "$?" 0
test_end
