-- SPDX-License-Identifier: GPL-2.0-or-later
-- How much a series varies from iteration to iteration, boot to boot and layout to layout, as pilots measured it (mmperf noise).

alter table requests drop constraint requests_kind_check;
alter table requests add constraint requests_kind_check
	check (kind in ('run', 'compare', 'bisect', 'extend', 'resume', 'halt', 'noise'));

-- What an emulator cannot tell: waits for locks and tails are its host's scheduling, there is no TLB. Told by the agent; of
-- metrics that are there already, here.
alter table metrics add column real_cpus boolean not null default false;
update metrics set real_cpus = true where name like 'lock.%'
	or (benchmark = 'fault' and (name = 'latency_p999' or name like 'scalability-%'))
	or (benchmark = 'khugepaged' and name not in ('time_to_collapse', 'huge_pmds'));

-- Standard deviations of log(value + floor). A newer pilot does not replace an older one: decisions of then are
-- repeatable.
create table noise (
	request bigint not null references requests,
	series bigint not null references series,
	layouts integer not null,
	boots integer not null,              -- of all layouts
	iterations double precision not null,        -- numbers of a boot (harmonic mean)
	sd_iteration double precision,       -- null: one number a boot
	sd_boot double precision,            -- without what iterations add; null: one boot a layout
	sd_layout double precision,          -- null: one layout
	sd double precision not null,        -- of a boot's number about its layout's mean, iterations included
	df integer not null,                 -- its degrees of freedom
	boot_s double precision,             -- what a boot costs beside its runs
	iteration_s double precision,
	best_iterations integer,             -- null: not known
	last_boot bigint not null references boots,
	primary key (request, series)
);
create index on noise (series, last_boot);
grant select on noise to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on noise to mmperf_bisector;
