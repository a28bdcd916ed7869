-- SPDX-License-Identifier: GPL-2.0-or-later
-- Lock holds, the share of waits without a name, and what became different between two setups.

alter table lock_waits
	add hold_count bigint,               -- null: the kernel does not tell releases
	add hold_ns bigint,
	add hold_max_ns bigint;

alter table lock_health
	add wait_ns bigint,                  -- of all classes; null: an agent before 0.2
	add unmatched_ns bigint;             -- of it at call sites without a class

-- A machine class whose environment became another one: old and new numbers are different series.
create table setup_changes (
	setup bigint primary key references setups,
	previous bigint not null references setups,
	differences jsonb not null,          -- [{"what", "before", "after"}]
	at timestamptz not null default now()
);
grant select on setup_changes to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on setup_changes to mmperf_runner;

-- A third pass: sampling. Its timings are kept, and decide nothing.
alter table runs drop constraint runs_pass_check;
alter table runs add constraint runs_pass_check check (pass in ('clean', 'instrumented', 'profiled'));

create table profiles (
	run bigint primary key references runs,
	source text not null check (source in ('cycles', 'cpu-clock')),
	samples bigint not null,
	lost bigint not null,
	stacks jsonb not null                -- {"outermost;...;innermost": samples}
);
grant select on profiles to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on profiles to mmperf_runner;
