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

-- "Nothing down to x" for every commit: the newest snapshot of a branch cut between its measured commits, made anew each night. All
-- commits of a span lie between two measured ones, the last is measured; what they did together would have shown from down_to on.
create table spans (
	series bigint not null,
	branch bigint not null,
	first_pos integer not null,
	last_pos integer not null,
	snapshot bigint not null references snapshots,
	down_to double precision not null,   -- log ratio seen 9 times in 10; 0: one image; infinity: nothing would have been
	primary key (series, branch, first_pos),
	foreign key (series, branch) references histories on delete cascade
);
grant select on spans to mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert, delete on spans to mmperf_bisector;
