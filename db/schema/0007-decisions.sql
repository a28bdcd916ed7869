-- SPDX-License-Identifier: GPL-2.0-or-later
-- A search may end with two culprits. The second is proved and reported as a bisection of its own, which begins with the proof.

alter table bisections add column beside bigint unique references bisections;
alter table bisections drop constraint bisections_check;
alter table bisections add constraint bisections_asked_check
	check (num_nonnulls(candidate, request, beside) = 1);

-- Which part of the detector raised a candidate: the newest head as it came, or the nightly look over the whole history.
alter table candidates add column raised_by text not null default 'head' check (raised_by in ('head', 'history'));

-- What the numbers say has made a regression good again.
alter table regressions add column fixed_commit bigint references commits;   -- the first head that is good again
alter table regressions add column fixed_at timestamptz;

-- The history of a series over the heads of a branch, divided into levels; made anew each night. Logs, > 0 is worse.
create table histories (
	series bigint not null references series,
	branch bigint not null references branches,
	heads integer not null,              -- that were measured
	sd double precision not null,        -- of one head about its level
	rho double precision not null,       -- correlation of heads side by side
	down_to double precision,            -- log ratio of a lasting change that would have been seen 9 times in 10; null: none
	made_at timestamptz not null default now(),
	primary key (series, branch)
);
create table segments (
	series bigint not null,
	branch bigint not null,
	n integer not null,
	first_commit bigint not null references commits,
	last_commit bigint not null references commits,
	heads integer not null,
	level double precision not null,
	step double precision,               -- from the level before; null for the first
	primary key (series, branch, n),
	foreign key (series, branch) references histories on delete cascade
);
grant select on histories, segments to mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert, update on histories to mmperf_bisector;
grant insert, delete on segments to mmperf_bisector;
