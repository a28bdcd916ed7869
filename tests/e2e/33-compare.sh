#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What stands behind the table of mmperf compare: counters that differ, call trees, environments that are not the same.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../fake-line.sh"
test_begin

plant 2 shift=2:0.2 shift=2:0.2:folio_fallback shift=2:0.2:latency_p999 metric=fault_ns:ns:lower:1000:0.01 metric=lock.lruvec.wait_per_op:ns:lower:50:0.05 \
	metric=folio_fallback:ratio:lower:0.2:0.001 metric=latency_p999:ns:lower:9000:0.001
line_settings
start_all
wait_sql 60 "select exists (select from snapshots)"
compare() {
	mmperf compare "$(number 1)" "$(number 2)" -n 3 "$@" >"$dir/out" 2>"$dir/err"
}
compare
is "two commits are compared; the second is slower" "$?" 3
stop_all

like "no counter was told, none differs" "$(grep -c 'Counters that differ' "$dir/out")" '^0$'
compare --profile
like "without profiles it says where they come from" "$(cat "$dir/out")" 'pass = profiled'

# --- what agents of real machines tell -------------------------------------------------------------
before="b.image = (select i.image from builds i join commits c on c.tree_oid = i.tree_oid where c.oid = '$(number 1)')"
ok "rows as an agent makes them" sql "
	insert into counters (run, name, value)
	select r.id, x.name, case when $before then x.a else x.b end + b.id % 3
	from runs r join boots b on b.id = r.boot and r.pass = 'clean',
	 (values ('pgfault', 100000, 100000), ('compact_stall', 1000, 1500)) x(name, a, b);
	with made as (insert into runs (boot, seq, benchmark, version, params, params_hash, pass, outcome)
	 select r.boot, 90, r.benchmark, r.version, r.params, r.params_hash, 'profiled', 'ok'
	 from runs r where r.pass = 'clean' returning id, boot)
	insert into profiles (run, source, samples, lost, stacks)
	select m.id, 'cycles', 1000, 0, case when $before
	 then '{\"entry;compact_zone;lru_add_drain\": 70, \"entry;compact_zone\": 100, \"[user]\": 830}'
	 else '{\"entry;compact_zone\": 100, \"[user]\": 900}' end::jsonb
	from made m join boots b on b.id = m.boot"
compare --profile
like "a counter that differs is told" "$(cat "$dir/out")" 'compact_stall +fault .*\+(49|50)\.[0-9] %'
is "... one that does not is not" "$(grep -c pgfault "$dir/out")" 0
like "the call tree tells what went away" "$(cat "$dir/out")" '7\.00 %  +0\.00 %  +-7\.00 +lru_add_drain'
compare --profile --json
like "both are in the JSON" "$(tr -d '\n' <"$dir/out")" '"counters": *\[ *\{.*"profiles": *\[ *\{'

# --- what boots counted ------------------------------------------------------------------------------
row_of() { # METRIC: "test significant" of its row
	/usr/bin/python3 -c 'import json, sys
print(*[(r["test"], r["significant"]) for r in json.load(open(sys.argv[1]))["rows"] if r["metric"] == sys.argv[2]][0])' "$dir/out" "$1"
}
compare --json
is "a share without counts is compared as a number" "$(row_of folio_fallback)" "welch True"
is "and so is a tail without histograms" "$(row_of latency_p999)" "welch True"
ok "agents that tell what they counted: 20 and 24 of 100 faults, one in 500 slow" sql "
	insert into counters (run, name, value)
	select r.id, 'mthp.16k.anon_fault_' || x.name, case when $before then x.a else x.b end
	from runs r join boots b on b.id = r.boot and r.pass = 'clean',
	 (values ('alloc', 80, 76), ('fallback', 20, 24), ('fallback_charge', 7, 7)) x(name, a, b);
	insert into histograms (run, metric, unit, buckets)
	select r.id, 'latency_mean', 'ns', '{0,0,0,0,0,0,0,0,0,400,98,1,1}' from runs r where r.pass = 'clean'"
compare --json
is "the share is that of all faults, and so few are not certain" "$(row_of folio_fallback)" "share False"
is "no more is the tail of so few" "$(row_of latency_p999)" "tail False"
compare
like "the table says which rows those are" "$(tr '\n' ' ' <"$dir/out")" \
	'shares of all events: folio_fallback.*histograms allow: latency_p999'
sql "delete from histograms where run = (select max(r.id) from runs r join boots b on b.id = r.boot join attempts a on a.id = b.attempt
	join jobs j on j.id = a.job where j.request is not null and r.pass = 'clean')"
compare --json
is "a boot that did not tell leaves it with the numbers" "$(row_of latency_p999)" "welch True"

# --- another environment -----------------------------------------------------------------------------
ok "the second side had other firmware" sql "
	insert into environments (hash, facts) select 'other', facts || '{\"microcode\": \"0x2\"}' from environments limit 1;
	insert into setups (class, method, recipe, toolchain, environment)
	select s.class, s.method, s.recipe, s.toolchain, e.id from setups s, environments e where e.hash = 'other' limit 1;
	update boots b set setup = (select max(id) from setups) where not ($before) and outcome = 'ok'"
compare
like "the difference is named" "$(cat "$dir/out")" 'different environments.*microcode: .* -> 0x2|microcode: .* -> 0x2'
test_end
