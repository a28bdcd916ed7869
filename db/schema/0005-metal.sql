-- SPDX-License-Identifier: GPL-2.0-or-later
-- Real machines: a person or a check may lease one without a job, and what happened to each is kept.

alter table leases alter column attempt drop not null;
alter table leases add column holder text;           -- who, when it is no attempt
alter table leases add check (attempt is not null or holder is not null);

create table machine_events (
	id bigint generated always as identity primary key,
	machine bigint not null references machines,
	kind text not null check (kind in ('quarantined', 'released', 'recovered', 'checked')),
	text text not null,
	told_at timestamptz,                 -- its owner has a mail about it, or it needs none
	at timestamptz not null default now()
);
create index on machine_events (machine, id);
create index on machine_events (id) where told_at is null;

alter table machines add column owner text;          -- whom to tell; null: nobody

-- Whatever takes a machine out of service, the event is there; and only once for each time.
create function machine_state_event() returns trigger language plpgsql security definer as $$
begin
	if new.state = 'quarantined' and old.state <> 'quarantined' then
		insert into machine_events (machine, kind, text)
			values (new.id, 'quarantined', coalesce(new.note, 'by hand'));
		perform pg_notify('mmperf', 'machine_events');
	elsif new.state = 'up' and old.state = 'quarantined' then
		insert into machine_events (machine, kind, text, told_at)
			values (new.id, 'released', coalesce(new.note, 'by hand'), now());
	end if;
	return new;
end $$;
create trigger machine_state after update of state on machines
	for each row execute function machine_state_event();

grant select on machine_events to mmperf_runner, mmperf_bisector, mmperf_reporter, mmperf_cli;
grant insert on machine_events to mmperf_runner, mmperf_cli;
grant update (told_at) on machine_events to mmperf_reporter;
grant insert, update, delete on leases to mmperf_cli;
grant update (failures) on machines to mmperf_cli;
grant usage on sequence lease_tokens to mmperf_cli;
