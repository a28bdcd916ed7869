-- SPDX-License-Identifier: GPL-2.0-or-later
-- Stands where the runner and the machines would: writes what they write, with numbers by commit. Loaded by
-- tests that look only at decisions (`psql -f tests/fake-results.sql`).
--
--   call fake_lab(machines)                 a host with a toolchain, a class 'fake', its machines, a tree and branch
--   select fake_commit(oid_word, parent, subject, patch_word, tree_word)   -> id; words are hashed to 40 digits
--   select fake_snapshot(base, head)        first-parent line base..head as the next snapshot of the branch
--   insert into fake_truth ...              what the tree of a commit does when built and booted
--   call fake_serve(query, seconds)         answers jobs, in the order a runner would, until the query says true while
--                                           nothing waits; fails after that many seconds
--
-- Numbers: exp(level + sd * N(0,1)), of searches one boot in 1/outlier at + 8 sd more. setseed() makes them repeatable.

create table fake_truth (
	tree_oid text primary key,
	image text not null,                  -- equal text: one image
	level double precision not null,      -- log of fault_ns
	builds boolean not null default true,
	boots boolean not null default true,
	tells boolean not null default true   -- its boots give fault_ns
);
create table fake_noise (sd double precision not null, outlier double precision not null,
	iterations integer not null default 1, sd_iteration double precision not null default 0,
	sd_layout double precision not null default 0,    -- layouts 0, 1, 2 lie at -1, 0 and 1 of it, others within sqrt(3)
	boot_s double precision not null default 0, run_s double precision,
	drift double precision not null default 0);       -- of each search, per boot of it
insert into fake_noise values (0.05, 0);

create function fake_oid(word text) returns text language sql immutable as $$
	select left(encode(sha256(convert_to(word, 'UTF8')), 'hex'), 40)
$$;

create procedure fake_lab(machines integer) language plpgsql as $$
declare h bigint; c bigint; t bigint;
begin
	insert into toolchains (hash, description) values ('fake', 'fake') returning id into t;
	insert into hosts (name, toolchain) values ('fakehost', t) returning id into h;
	insert into classes (name, driver, emulated) values ('fake', 'fake', false) returning id into c;
	for i in 1..machines loop
		insert into machines (name, class, host) values ('m' || i, c, h);
	end loop;
	insert into trees (name, url) values ('mm', 'none') returning id into t;
	insert into branches (tree, name) values (t, 'mm-test');
	insert into environments (hash, facts) values ('fake', '{"cpu": "fake"}');
	insert into artifacts (sha256, size, kind) values (repeat('0', 64), 1, 'kernel');
	insert into metrics (benchmark, version, name, unit, direction, floor) values
		('fault', 1, 'fault_ns', 'ns', 'lower', 1), ('fault', 1, 'faults_per_s', 'count/s', 'higher', 1),
		('fault', 1, 'lock.lruvec.wait_per_op', 'ns', 'lower', 1);
end $$;

create function fake_commit(word text, parent bigint, subject text, patch_word text, tree_word text)
returns bigint language plpgsql as $$
declare p bigint; first bigint; c bigint;
begin
	if patch_word is not null then
		select id into p from patches where patch_id = fake_oid('patch ' || patch_word);
		if p is null then
			select coalesce(x.lineage, x.id) into first from patches x
				where x.subject = fake_commit.subject order by id limit 1;
			insert into patches (patch_id, lineage, author_email, subject)
				values (fake_oid('patch ' || patch_word), first, 'a@b', subject) returning id into p;
		end if;
	end if;
	insert into commits (oid, tree_oid, patch, author_name, author_email, authored_at, subject, body)
		values (fake_oid('commit ' || word), fake_oid('tree ' || tree_word), p, 'A', 'a@b', now(), subject, '')
		returning id into c;
	if parent is not null then
		insert into commit_parents values (c, 0, parent);
	end if;
	return c;
end $$;

create function fake_snapshot(base bigint, head bigint) returns bigint language plpgsql as $$
declare s bigint; b bigint;
begin
	select id into b from branches;
	insert into snapshots (branch, seq, head, base)
		select b, coalesce(max(seq), 0) + 1, fake_snapshot.head, fake_snapshot.base from snapshots returning id into s;
	insert into snapshot_commits (snapshot, pos, commit, group_first)
		with recursive line(id, back) as (select fake_snapshot.head, 0
			union all select p.parent, back + 1 from line join commit_parents p on p.commit = line.id and p.n = 0
			where line.id <> fake_snapshot.base)
		select s, max(back) over () - back, id, max(back) over () - back from line;
	return s;
end $$;

-- Standard normal by Box and Muller.
create function fake_normal() returns double precision language sql volatile as $$
	select sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())
$$;

create function fake_attempt(job bigint, outcome text, error text) returns bigint language plpgsql as $$
declare a bigint;
begin
	insert into attempts (job, n, host, token, expires_at, outcome, error, ended_at)
		select job, coalesce((select max(n) from attempts x where x.job = fake_attempt.job), 0) + 1, h.id,
			nextval('lease_tokens'), now(), outcome, error, clock_timestamp() from hosts h limit 1
		returning id into a;
	update attempts x set started_at = x.ended_at - f.boot_s * interval '1 s' from fake_noise f where x.id = a and f.boot_s > 0;
	return a;
end $$;

create function fake_image(t fake_truth, b builds) returns text language sql immutable as $$
	select t.image || case when b.layout_seed > 0 then ' layout ' || b.layout_seed else '' end
$$;

-- Mean 0, deviation 1: even for layouts that no pilot draws.
create function fake_layout(b builds) returns double precision language sql immutable as $$
	select case when b.layout_seed <= 2 then b.layout_seed - 1
		else sqrt(3) * (('x' || left(encode(sha256(convert_to(b.tree_oid || b.layout_seed, 'UTF8')), 'hex'), 7))::bit(28)::int
			/ 134217728.0 - 1) end
$$;

create procedure fake_build(j jobs) language plpgsql as $$
declare b builds; t fake_truth; i bigint;
begin
	select * into b from builds where id = j.build;
	select * into strict t from fake_truth where tree_oid = b.tree_oid;
	if not t.builds then
		update builds set outcome = 'failed', error = 'mm/fake.c:1: error: planted' where id = b.id;
	elsif b.outcome = 'pending' then
		insert into images (content_hash, build_id, kernel, system_map) select fake_image(t, b), 'aa', a.id, a.id from artifacts a
			on conflict do nothing;
		select id into i from images where content_hash = fake_image(t, b);
		update builds set outcome = 'built', image = i, seconds = 30, incremental = true where id = b.id;
	else
		update builds set clean_verified_at = now() where id = b.id;
	end if;
	perform fake_attempt(j.id, 'ok', null);
	update jobs set state = 'done', ended_at = now() where id = j.id;
end $$;

create procedure fake_samples(boot bigint, setup bigint, level double precision, search boolean, tells boolean) language plpgsql as $$
declare r bigint; s bigint; m metrics; noise double precision; f fake_noise;
begin
	select * into f from fake_noise;
	insert into runs (boot, seq, benchmark, version, params, params_hash, pass, outcome, seconds)
		values (boot, 0, 'fault', 1, '{"size": "16M", "threads": "4"}', 'x', 'clean', 'ok', f.run_s) returning id into r;
	noise := fake_normal() * f.sd + case when search and random() < f.outlier then 8 * f.sd else 0 end;
	for m in select * from metrics where tells or name <> 'fault_ns' loop
		insert into series (setup, benchmark, version, params_hash, pass, metric)
			values (setup, 'fault', 1, 'x', 'clean', m.id) on conflict do nothing;
		select id into s from series x where x.setup = fake_samples.setup and x.metric = m.id;
		insert into samples (run, series, estimate, "values")
			select r, s, e, case when f.iterations = 1 then array[e] else array(select e * exp(f.sd_iteration *
				fake_normal()) from generate_series(1, f.iterations)) end from (select case m.name
				when 'fault_ns' then exp(level + noise)
				when 'faults_per_s' then 1e9 / exp(level + fake_normal() * f.sd)
				else exp(3 + 3 * fake_normal() * f.sd) end as e) x;
		update samples x set estimate = (select percentile_cont(0.5) within group (order by v) from unnest(x."values") v)
			where x.run = r and x.series = s and f.iterations > 1;
	end loop;
end $$;

create procedure fake_boot(j jobs) language plpgsql as $$
declare t fake_truth; a bigint; b bigint; s bigint; bld builds; layout double precision;
begin
	select * into strict bld from builds where id = j.build;
	if bld.image is distinct from j.image then
		raise 'job %: its build has another image', j.key;
	end if;
	select * into strict t from fake_truth where tree_oid = bld.tree_oid;
	if not t.boots then
		a := fake_attempt(j.id, 'kernel', 'panic: planted');
		insert into boots (attempt, machine, image, method, outcome, reason) select a, m.id, j.image, 'fake', 'panic',
			'planted' from machines m order by random() limit 1;
		update jobs set state = 'failed', error = 'panic: planted', ended_at = now() where id = j.id;
		return;
	end if;
	a := fake_attempt(j.id, 'ok', null);
	insert into setups (class, method, recipe, toolchain, environment)
		select j.class, 'fake', bld.recipe, bld.toolchain, e.id from environments e on conflict do nothing;
	select id into s from setups where class = j.class;
	insert into boots (attempt, machine, image, setup, method, outcome, ended_at) select a, m.id, j.image, s, 'fake', 'ok',
		now() from machines m where m.class = j.class order by random() limit 1 returning id into b;
	select fake_layout(bld) * sd_layout into layout from fake_noise;
	if j.purpose = 'bisect' then
		select layout + drift * (select count(*) from jobs x where x.bisection = j.bisection and x.state = 'done')
			into layout from fake_noise;
	end if;
	call fake_samples(b, s, t.level + layout, j.purpose = 'bisect', t.tells);
	update jobs set state = 'done', ended_at = now() where id = j.id;
end $$;

create procedure fake_serve(query text, limit_s double precision) language plpgsql as $$
declare j jobs; until timestamptz := clock_timestamp() + limit_s * interval '1 s'; over boolean := false;
begin
	while not over loop
		select * into j from jobs where state = 'queued' order by priority, id limit 1 for update skip locked;
		if found then
			if j.kind = 'boot' then call fake_boot(j); else call fake_build(j); end if;
			commit;
			continue;
		end if;
		execute query into over;
		commit;
		perform pg_sleep(0.005);
		if clock_timestamp() > until then
			raise 'waited % s in vain for: %', limit_s, query;
		end if;
	end loop;
end $$;
