#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Canaries: each day and after recoveries; drift, quarantine, probes and the return; and a request that would wait for ever says so.
. "$(dirname "$0")/../lib.sh"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 2 metric=fault_ns:ns:lower:1000:0.01 metric=other_ns:ns:lower:50:0.01 || exit 1
echo '# nothing' >"$dir/tiny.config"
: >"$dir/script"
{
	settings_head
	settings_tiny
	cat <<-EOF
		[build]
			min-free = 1M
		[detect]
			gaps = false
			z = 1000
		[machine "m1"]
			class = fake
			driver = fake
			script = $dir/script
			owner = owner@lab.example.org
		[mail]
			from = MM performance <mmperf@lab.example.org>
			to = lab@lab.example.org
		[suite "long"]
			benchmark = fault
			pass = clean
			param = iterations=50
		[suite "short"]
			benchmark = fault
			pass = clean
		[health]
			suite = short
	EOF
} >"$dir/config"
once() {
	"$build/mmperf-$1" --config "$dir/config" --once >>"$dir/$1.log" 2>&1
}
# Plans, boots, judges, so many times.
settle() { # [rounds]
	for _i in $(seq "${1:-1}"); do
		once bisector && once runner || return 1
	done
	once bisector
}
later() { # hours
	sql "update jobs set created_at = created_at - interval '$1 h' where purpose = 'canary';
		update boots set started_at = started_at - interval '$1 h';
		update jobs set not_before = now() where state = 'queued'"
}
verdicts() {
	sql "select string_agg(verdict, ' ' order by job) from canaries"
}
state() {
	sql "select state from machines where name = 'm1'"
}
ok 'the routine boots' settle 5
is 'the first day has none' "$(sql "select count(*) from jobs where purpose = 'canary'")" 0
later 25
ok 'a day later' settle
is 'one canary' "$(verdicts)" passed
is 'of the known-good image, with the short suite' \
	"$(sql "select distinct j.image = c.canary, s.name from jobs j join classes c on c.id = j.class join suites s on s.id = j.suites[1] where purpose = 'canary'")" 't|short'
like 'which has no history yet' "$(sql 'select text from canaries')" '^no history yet \(5 canaries'
ok 'nothing new on the same day' settle
is '... no second one' "$(verdicts)" passed
for day in 2 3 4 5 6; do
	later 25
	settle || break
done
is 'five days more' "$(verdicts)" 'passed passed passed passed passed passed'
like 'they are held against each other' "$(sql 'select text from canaries order by job desc limit 1')" '^2 series are as they were$'
is 'no decision of the detector has a canary in it' "$(sql "select count(*) from candidates")" 0

# --- drift --------------------------------------------------------------------------------------------------
echo 'shift 0.3' >"$dir/script"
later 25
ok 'the machine becomes slow' settle 4
is 'two canaries say so, at once' "$(verdicts | cut -d' ' -f7-)" 'drifted drifted'
is 'it is quarantined' "$(state)" quarantined
like 'and says why' "$(mmperf machine show m1)" 'drifted from its own history: (fault|other)_ns is \+3[0-9]\.[0-9] % off 6 earlier canaries'
once reporter
is 'its owner has one mail' "$(grep -l '^To: .*owner@lab.example.org' "$dir"/state/spool/* | wc -l)" 1
like 'machine show --json has the verdicts' "$(mmperf --json machine show m1 | tr -d ' \n')" '"verdict":"drifted"'

# --- the probe -----------------------------------------------------------------------------------------------
later 7
ok 'a probe' settle
is 'of a machine that is still slow' "$(verdicts | cut -d' ' -f9-) $(state)" 'drifted quarantined'
: >"$dir/script"
ok 'not before its time' settle
is '... there is none' "$(verdicts | cut -d' ' -f9-)" drifted
later 7
ok 'another, of a mended one' settle
is 'brings it back' "$(verdicts | cut -d' ' -f9-) $(state)" 'drifted passed up'
is 'its owner was told once' "$(sql "select count(*) from machine_events where kind = 'quarantined'")" 1

# --- recovery ------------------------------------------------------------------------------------------------
sql "insert into machine_events (machine, kind, text, told_at) select id, 'recovered', 'power cycle', now() from machines"
ok 'after a recovery' settle
is 'a canary follows at once, once' "$(verdicts | cut -d' ' -f11-)" passed

# --- failures ------------------------------------------------------------------------------------------------
echo 'fail-every 1' >"$dir/script"
mmperf run main~1 -n 1 --no-wait >"$dir/out" 2>&1
for try in 1 2 3; do
	later 0
	settle 2
done
is 'three failures' "$(state) $(sql 'select probed from machines')" 'quarantined t'
later 7
settle
later 0
settle
is 'a probe that fails changes nothing' "$(verdicts | sed 's/.* //') $(state)" 'failed quarantined'
: >"$dir/script"
later 7
settle
is 'one that passes does' "$(verdicts | sed 's/.* //') $(state)" 'passed up'

# --- who waits for it is told --------------------------------------------------------------------------------
mmperf run main -n 1 >"$dir/run.out" 2>"$dir/run.err" &
run=$!
wait_sql 30 "select exists (select from requests where kind = 'run' and state = 'queued')" && once bisector
ok 'quarantined by a person' mmperf machine quarantine m1 --note 'its fan is loud'
said() {
	_end=$(($(date +%s) + 30))
	until grep -Fq 'waits: no machine of its class is in service (m1 is quarantined: its fan is loud)' "$dir/run.err"; do
		[ "$(date +%s)" -lt "$_end" ] || { cat "$dir/run.err"; return 1; }
		sleep 0.3
	done
}
ok 'a request says what it waits for' said
like 'a new one is refused' "$(mmperf run main -n 1 2>&1)" 'no machine of class fake is up: m1 is quarantined \(its fan is loud\)'

# --- by hand -------------------------------------------------------------------------------------------------
n=$(sql 'select count(*) from canaries')
later 100
settle
is '... it is left alone' "$(sql 'select count(*) from canaries') $(state)" "$n quarantined"
ok '... until released' mmperf machine release m1
once bisector && once runner && once bisector && once runner && once bisector
wait $run
is '... and the request is done' "$?" 0
later 25
settle
is '... and watched again' "$(sql "select count(*) > $n from canaries")" t
sed -i 's/suite = short/suite = shrt/' "$dir/config"
later 25
once bisector
like 'a suite that is not there' "$(tail -1 "$dir/bisector.log")" 'canary of machine m1: no suite of the settings fits'
test_end
