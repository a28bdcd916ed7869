-- SPDX-License-Identifier: GPL-2.0-or-later
-- One role per daemon, with no more than its work needs. The owner of the schema migrates it.

do $$
declare r text;
begin
	foreach r in array array['mmperf_runner', 'mmperf_bisector', 'mmperf_reporter', 'mmperf_cli'] loop
		if not exists (select from pg_roles where rolname = r) then
			execute format('create role %I login', r);
		end if;
	end loop;
end $$;

grant select on all tables in schema public
	to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;

-- The runner follows trees, does jobs and stores results; it decides nothing.
grant insert, update on trees, branches, artifacts, images, toolchains, hosts, classes, machines
	to mmperf_runner;
grant insert on patches, commits, commit_parents, snapshots, snapshot_commits, environments, setups,
	attempts, boots, runs, metrics, series, samples, lock_waits, lock_health, histograms, counters
	to mmperf_runner;
grant update on builds, jobs, attempts, boots to mmperf_runner;
grant insert, update, delete on leases to mmperf_runner;
grant usage on sequence lease_tokens to mmperf_runner;

-- The bisector writes what is to be built and measured, and what it concluded.
grant insert on recipes, suites, builds, jobs, candidates, bisections, hypotheses, steps,
	regressions, regression_series to mmperf_bisector;
grant update on jobs, candidates, bisections, hypotheses, requests, regressions to mmperf_bisector;

-- The reporter only says it.
grant insert, update on outbox to mmperf_reporter;
grant update (state) on regressions to mmperf_reporter;

-- A person may ask, cancel, and take a machine in or out.
grant insert on requests to mmperf_cli;
grant update on requests to mmperf_cli;
grant update (state, note) on machines to mmperf_cli;
grant update (state) on regressions to mmperf_cli;
