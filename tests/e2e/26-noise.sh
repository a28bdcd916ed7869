#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A pilot tells what iterations, boots and layouts scatter by, is stored, and decisions use it.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 2 "[detect]
	gaps = false
	boots = 1"

base=$(commit base)
# 3 and 7 are slower by 40 % each
line a "$base" 1 9 "'a ' || i, ln(800) + case when i >= 3 then 0.34 else 0 end + case when i >= 7 then 0.34 else 0 end, true, true"
snapshot "$base" "$(commit 'a 5')"
daemon bisector
serve 0.1 "select count(*) >= 2 from boots"
sleep 1
is "two boots tell nothing while the noise is not known" "$(sql "select count(*) from candidates")" 0

# The truth: 4 % of a boot, 8 % of an iteration, 10 % of a layout; 25 s a boot beside its run of 5 s.
sql "update fake_noise set sd = 0.04, iterations = 5, sd_iteration = 0.08, sd_layout = 0.1, boot_s = 30, run_s = 5"
timeout 200 "$build/mmperf" --config "$dir/config" noise m2 --json >"$dir/out" 2>"$dir/err" &
asked=$!
wait_sql 60 "select exists (select from requests where kind = 'noise')"
serve 0.2 "select ended_at is not null from requests where kind = 'noise'"
wait $asked
is "mmperf noise ends well" "$?" 0
field() {
	/usr/bin/python3 - "$dir/out" "$1" <<-'PY'
		import json, sys
		r = json.load(open(sys.argv[1]))
		s = [x for x in r["series"] if x["metric"] == "fault_ns"][0]
		print(eval(sys.argv[2]))
	PY
}
is "it boots three layouts twelve times" "$(field 'r["boots"], r["boots_failed"], r["layouts"], s["n"], s["layouts"]')" '(36, 0, 3, 36, 3)'
is "... on the machine that was named only" "$(sql "select count(*) from jobs j join requests r on r.id = j.request
	join machines m on m.id = j.only_machine where r.kind = 'noise' and m.name = 'm2'")" 36
is "what iterations scatter by" "$(field '0.065 < s["sd_iteration"] < 0.095')" True
is "what boots scatter by" "$(field '0.015 < s["sd_boot"] < 0.07')" True
is "what layouts scatter by" "$(field '0.06 < s["sd_layout"] < 0.14')" True
is "how many iterations a boot should have" "$(field '1 < s["best_iterations"] < 40')" True
is "more boots see less, and never less than layouts hide" \
	"$(field 's["detectable_2"] > s["detectable_4"] > s["detectable_8"] > s["detectable_same_build_8"] > 0')" True
is "it is stored" "$(sql "select count(*) from noise n join series s on s.id = n.series join metrics m on m.id = s.metric
	where m.name = 'fault_ns' and n.boots = 36 and n.df = 33")" 1
mmperf noise m2 --last >"$dir/table" 2>"$dir/err"
like "--last shows it again" "$? $(tr '\n' ' ' <"$dir/table")" '^0 m2: 36 boots of 3 layouts.*BEST.*fault +fault_ns'

# Decisions can be repeated: what they knew is what was measured before their boots.
snapshot "$base" "$(commit 'a 6')"
serve 0.3 "select count(*) filter (where commit = $(commit 'a 6')) > 0 from jobs where kind = 'boot'" 60
snapshot "$base" "$(commit 'a 9')"
serve 0.3 "select count(*) > 0 from candidates" 60
is "from then on two boots are enough for a large change" "$(sql "select count(*) > 0 from candidates c
	join series s on s.id = c.series join metrics m on m.id = s.metric where m.name = 'fault_ns' and c.detect_effect > 0.2")" t

# What a bisection would cost here: the stored boots are the noise of simulated ones.
mmperf simulate bisect --from-db fault_ns --change 20 --suspects 32 --trials 10 --json >"$dir/out" 2>"$dir/err"
is "simulate replays stored boots" "$? $(/usr/bin/python3 -c 'import json, math, sys; s = json.load(sys.stdin); r = s["recorded"]
print(r["boots"] >= 36, 0.02 < r["sd"] < 0.12, abs(s["shift"] * r["sd"] - math.log(1.2)) < 1e-9,
	abs(r["min_effect"] * r["sd"] - math.log(1.02)) < 1e-9, s["right"] >= 0.8, 4 < s["boots"] < 200)' <"$dir/out")" \
	"0 True True True True True True"
mmperf simulate detect --from-db fault_ns --class fake --commits 40 --trials 5 >"$dir/out" 2>"$dir/err"
like "... for the detector, too" "$? $(tr '\n' ' ' <"$dir/out")" '^0 40 commits of 2 boots, recorded noise, 5 series noise of [0-9]+ boots of fault fault_ns in class fake'
mmperf simulate bisect --from-db none_ns >"$dir/out" 2>"$dir/err"
like "... and says when there are none" "$? $(cat "$dir/err")" '^2 .*no good boot of none_ns is stored'
mmperf simulate bisect --change 5 >"$dir/out" 2>"$dir/err"
like "... or no unit to count in" "$? $(cat "$dir/err")" '^2 .*want --from-db'

# What a person gets wrong.
refused() {
	what=$1 pattern=$2
	shift 2
	mmperf noise "$@" >"$dir/out" 2>"$dir/err"
	is "$what: status 2" "$?" 2
	like "... which says what is meant" "$(cat "$dir/err")" "$pattern"
}
refused "an unknown machine" 'no machine "?m3"?.*m1' m3
refused "no layouts" '--layouts wants a number from 1 to 16' m1 --layouts 0
refused "nothing stored" 'no pilot of m1 yet' m1 --last
test_end
