-- SPDX-License-Identifier: GPL-2.0-or-later
-- Twins, the standing A/A: a head's tree built again with another layout and fed in as if it were the next commit. What is suspected
-- or confirmed there is a false alarm. One row per twin and class, once its routine boots were judged.

alter table candidates add column twin boolean not null default false;  -- of a twin: never bisected, never reported

create table twins (
	image bigint not null references images,
	class bigint not null references classes,
	snapshot bigint not null references snapshots,     -- its head; the layout seed is its id
	build bigint not null references builds,
	series integer not null check (series > 0),        -- that were judged
	suspected integer not null,                        -- of them, in either direction
	judged_at timestamptz not null default now(),
	primary key (image, class)
);
grant select on twins to mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on twins to mmperf_bisector;
