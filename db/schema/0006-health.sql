-- SPDX-License-Identifier: GPL-2.0-or-later
-- Canaries: boots of one known-good image, over and over, on each machine. They judge the machine and nothing else.

alter table jobs add column only_machine bigint references machines; -- boot only: this one and no other of its class
alter table jobs drop constraint jobs_purpose_check;
alter table jobs add constraint jobs_purpose_check
	check (purpose in ('detect', 'confirm', 'bisect', 'prove', 'request', 'canary'));
alter table jobs add check (only_machine is null or kind = 'boot');
create index on jobs (only_machine, id) where purpose = 'canary';

alter table classes add column canary bigint references images;  -- the known-good image; never changed by itself
alter table machines add column probed boolean not null default false; -- quarantined by itself: a canary brings it back

create table canaries (
	job bigint primary key references jobs,
	machine bigint not null references machines,
	verdict text not null check (verdict in ('passed', 'drifted', 'failed')),
	text text not null,
	at timestamptz not null default now()
);
create index on canaries (machine, job);

grant select on canaries to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on canaries to mmperf_bisector;
grant update (canary) on classes to mmperf_bisector;
grant update (state, note, failures, probed) on machines to mmperf_bisector;
grant update (probed) on machines to mmperf_cli;

-- Bisections of kernels that do not boot: failed boots are a metric like any other, 0 or 1 for each boot of the bisection.

create function boot_series(of_class bigint, of_recipe bigint, of_toolchain bigint) returns bigint
	language plpgsql security definer as $$
declare
	m bigint; e bigint; p bigint; s bigint;
begin
	insert into metrics (benchmark, version, name, unit, direction, floor)
		values ('boot', 1, 'boots_failed', 'count', 'lower', 1) on conflict do nothing;
	select id into m from metrics where benchmark = 'boot' and version = 1 and name = 'boots_failed';
	insert into environments (hash, facts) values ('boot', '{}') on conflict do nothing;
	select id into e from environments where hash = 'boot';
	insert into setups (class, method, recipe, toolchain, environment)
		values (of_class, 'any', of_recipe, of_toolchain, e) on conflict do nothing;
	select id into p from setups where class = of_class and method = 'any' and recipe = of_recipe
		and toolchain = of_toolchain and environment = e;
	insert into series (setup, benchmark, version, params_hash, pass, metric)
		values (p, 'boot', 1, 'none', 'clean', m) on conflict do nothing;
	select id into s from series where setup = p and benchmark = 'boot' and metric = m;
	return s;
end $$;
revoke execute on function boot_series from public;
grant execute on function boot_series to mmperf_bisector;

create or replace view boot_estimates as
select s.series, s.estimate, b.id as boot, b.image, b.machine, b.boot_uuid, b.started_at,
	j.id as job, j.purpose, j.role, j.commit, j.candidate, j.bisection, j.request
from samples s
join runs r on r.id = s.run and r.outcome = 'ok'
join series se on se.id = s.series
join metrics m on m.id = se.metric and (r.pass = 'clean' or m.name like 'lock.%')
join boots b on b.id = r.boot and b.outcome = 'ok'
join attempts a on a.id = b.attempt and a.outcome = 'ok'
join jobs j on j.id = a.job
union all
select bi.series, (b.outcome <> 'ok')::int::float8, b.id, b.image, b.machine, b.boot_uuid, b.started_at,
	j.id, j.purpose, j.role, j.commit, j.candidate, j.bisection, j.request
from bisections bi
join series se on se.id = bi.series and se.benchmark = 'boot'
join jobs j on j.bisection = bi.id and j.kind = 'boot'
	and j.state in ('done', 'failed')
join lateral (select id from attempts where job = j.id order by n desc limit 1) a on true
join boots b on b.attempt = a.id and b.outcome in ('ok', 'panic', 'oops', 'hang', 'no_boot');
