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
