#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What stands behind the table of mmperf compare: counters that differ, call trees, environments that are not the same.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../fake-line.sh"
test_begin

plant 2 shift=2:0.2 metric=fault_ns:ns:lower:1000:0.01 metric=lock.lruvec.wait_per_op:ns:lower:50:0.05
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

# --- another environment -----------------------------------------------------------------------------
ok "the second side had other firmware" sql "
	insert into environments (hash, facts) select 'other', facts || '{\"microcode\": \"0x2\"}' from environments limit 1;
	insert into setups (class, method, recipe, toolchain, environment)
	select s.class, s.method, s.recipe, s.toolchain, e.id from setups s, environments e where e.hash = 'other' limit 1;
	update boots b set setup = (select max(id) from setups) where not ($before) and outcome = 'ok'"
compare
like "the difference is named" "$(cat "$dir/out")" 'different environments.*microcode: .* -> 0x2|microcode: .* -> 0x2'
test_end
