-- SPDX-License-Identifier: GPL-2.0-or-later
-- One bisected and proved regression with everything a report shows: a branch of 24 commits (the
-- culprit is the 15th), boots of search and proof with noise, lock waits, hostile texts.
begin;

insert into trees (name, url) values ('mm', 'https://git.kernel.org/pub/scm/linux/kernel/git/akpm/mm');
insert into branches (tree, name) select id, 'mm-unstable' from trees;

create function pg_temp.oid(n integer) returns text language sql as
	$$ select substr(encode(sha256(('commit ' || n)::bytea), 'hex'), 1, 40) $$;
-- A normal deviate that is the same in every run.
create function pg_temp.noise(key text) returns double precision language sql as
$$ select sum(('x' || substr(h, i * 4 + 1, 4))::bit(16)::integer / 65536.0) * 1.0 - 6.0
	from (select encode(sha256(key::bytea), 'hex') h) s, generate_series(0, 11) i $$;

insert into commits (oid, tree_oid, author_name, author_email, authored_at, subject, body)
select pg_temp.oid(n), substr(encode(sha256(('tree ' || n)::bytea), 'hex'), 1, 40),
	'Author ' || n, 'author' || n || '@example.org',
	timestamptz '2026-03-01 12:00:00+00' + n * interval '1 hour',
	(array['mm: tidy the folio helpers', 'mm/page_alloc: fewer branches on the fast path',
		'mm/vmscan: name the scan states', 'mm/compaction: drop a stale comment',
		'mm/khugepaged: read the limit once'])[1 + n % 5] || ' (' || n || ')', 'Body ' || n || E'\n'
from generate_series(0, 24) n;

update commits set author_name = E'Ada \u00d6rn "A." <script>', author_email = 'ada@example.org',
	subject = E'mm/swap: drop & retake the "lruvec" lock <b>per folio</b>\r\nBcc: victim@example.org',
	link = 'https://lore.kernel.org/r/20260301.ada@example.org',
	message_id = '20260301.ada@example.org'
where oid = pg_temp.oid(15);
update commits set subject = E'<script>alert(1)</script> mm: \u202e reversed' where oid = pg_temp.oid(9);

insert into commit_parents (commit, n, parent)
select c.id, 0, p.id from generate_series(1, 24) n
join commits c on c.oid = pg_temp.oid(n) join commits p on p.oid = pg_temp.oid(n - 1);
insert into patches (patch_id, message_id, author_email, subject)
select substr(encode(sha256(('patch ' || oid)::bytea), 'hex'), 1, 40), message_id, author_email, subject
from commits where oid <> pg_temp.oid(0);
update commits c set patch = p.id from patches p
where p.patch_id = substr(encode(sha256(('patch ' || c.oid)::bytea), 'hex'), 1, 40);
insert into snapshots (branch, seq, head, base)
select b.id, 1, h.id, z.id from branches b, commits h, commits z
where h.oid = pg_temp.oid(24) and z.oid = pg_temp.oid(0);
insert into snapshot_commits (snapshot, pos, commit, group_first)
select s.id, n, c.id, n from snapshots s, generate_series(0, 24) n
join commits c on c.oid = pg_temp.oid(n);

insert into recipes (name, version, content)
values ('timing', 1, E'CONFIG_64BIT=y\nCONFIG_SMP=y\nCONFIG_TRANSPARENT_HUGEPAGE=y\nCONFIG_CMDLINE="<quiet>"\n');
insert into toolchains (hash, description) values ('t1', 'gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40');
insert into classes (name, driver, emulated) values ('ci', 'qemu', :emulated);
insert into hosts (name, cpus) values ('lab1', 4);
insert into machines (name, class, host) select 'ci1', c.id, h.id from classes c, hosts h;
insert into environments (hash, facts) values ('e1', '{"cpu": "Test CPU 3000 <x>", "cpus": 4,
	"nodes": 1, "memory_mb": 1024, "clocksource": "tsc", "hypervisor": "none",
	"knobs": {"thp": "always", "governor": "performance"}}');
insert into setups (class, method, recipe, toolchain, environment)
select c.id, 'kexec', r.id, t.id, e.id from classes c, recipes r, toolchains t, environments e;
insert into suites (name, version, definition) values ('fault', 1,
	'{"benchmark": "fault", "params": {"threads": "4", "size": "16M"}, "passes": ["clean", "instrumented"],
	  "judge": ["latency"], "min_effect": {}}');

insert into artifacts (sha256, size, kind)
select encode(sha256(('kernel ' || n)::bytea), 'hex'), 9000000, 'kernel' from generate_series(0, 25) n;
insert into images (content_hash, build_id, kernel, system_map)
select 'image ' || n, encode(sha256(('id ' || n)::bytea), 'hex'), a.id, a.id
from generate_series(0, 25) n join artifacts a
	on a.sha256 = encode(sha256(('kernel ' || n)::bytea), 'hex');
-- The 7th does not compile.
insert into builds (tree_oid, recipe, toolchain, commit, outcome, image, error)
select c.tree_oid, r.id, t.id, c.id, case when n = 7 then 'failed' else 'built' end,
	case when n <> 7 then i.id end, case when n = 7 then 'mm/vmscan.c:1: error' end
from generate_series(0, 24) n join commits c on c.oid = pg_temp.oid(n)
join images i on i.content_hash = 'image ' || n, recipes r, toolchains t;

insert into metrics (benchmark, version, name, unit, direction, floor) values
	('fault', 1, 'latency', 'ns', 'lower', 0), ('fault', 1, 'throughput', 'count/s', 'higher', 0),
	('fault', 1, 'latency.p99', 'ns', 'lower', 0), ('fault', 1, 'rss', 'bytes', 'none', 0),
	('fault', 1, 'lock.lruvec.wait_per_op', 'ns', 'lower', 1),
	('fault', 1, 'lock.zone.wait_per_op', 'ns', 'lower', 1);
insert into series (setup, benchmark, version, params_hash, pass, metric)
select s.id, 'fault', 1, 'p1', case when m.name like 'lock.%' then 'instrumented' else 'clean' end, m.id
from setups s, metrics m;

insert into candidates (series, before_image, after_image, before_commit, after_commit, branch, state,
	seed, detect_effect, detect_z, confirm_effect, confirm_lo, confirm_hi, decided_at)
select s.id, b.id, a.id, cb.id, ca.id, br.id, 'confirmed', 7, 0.12, 4.1, 0.118, 0.09, 0.15, now()
from series s join metrics m on m.id = s.metric and m.name = :'primary', images b, images a, commits cb, commits ca,
	branches br
where b.content_hash = 'image 0' and a.content_hash = 'image 24'
	and cb.oid = pg_temp.oid(0) and ca.oid = pg_temp.oid(24);
insert into bisections (candidate, tree, series, suite, class, recipe, toolchain, good, bad, merge_base,
	state, outcome, culprit, posterior, seed, min_effect, budget_boots, ended_at)
select ca.id, t.id, ca.series, su.id, cl.id, r.id, tc.id, ca.before_commit, ca.after_commit, ca.before_commit,
	'done', 'culprit', c.id, 0.9971, 11, 0.02, 80, now()
from candidates ca, trees t, suites su, classes cl, recipes r, toolchains tc, commits c
where c.oid = pg_temp.oid(15);
insert into hypotheses (bisection, n, kind, commit, prior, mass)
select b.id, 0, 'none', null, 0.05, 0.0002 from bisections b union all
select b.id, n, 'commit', c.id, 0.95 / 24, case n when 15 then 0.9971 when 16 then 0.0019 when 14 then 0.0007
	else 0.0001 / 21 end
from bisections b, generate_series(1, 24) n join commits c on c.oid = pg_temp.oid(n);

-- Search: 31 boots where a search would look; proof: 5 + 5; the tip with the culprit reverted: 3.
create temp table plan as
select row_number() over () as k, n, purpose, role from (
	select unnest(array[0,24,12,0,24,18,12,15,13,18,15,14,16,14,15,13,16,14,15,12,17,14,15,14,16,15,14,13,15,14,16]) n,
		'bisect' purpose, 'node' role
	union all select 14, 'prove', 'before' from generate_series(1, 5)
	union all select 15, 'prove', 'after' from generate_series(1, 5)
	union all select 25, 'prove', 'revert' from generate_series(1, 3)
	union all select 0, 'confirm', 'before' from generate_series(1, 4)
	union all select 24, 'confirm', 'after' from generate_series(1, 4)) p;
insert into jobs (key, kind, state, priority, purpose, image, commit, class, suites, role, candidate, bisection, ended_at)
select 'boot:' || p.k, 'boot', 'done', 30, p.purpose, i.id, c.id, cl.id, array[su.id], p.role,
	case when p.purpose = 'confirm' then ca.id end, case when p.purpose <> 'confirm' then b.id end, now()
from plan p join images i on i.content_hash = 'image ' || p.n
join commits c on c.oid = pg_temp.oid(least(p.n, 24)), classes cl, suites su, candidates ca, bisections b;
insert into attempts (job, n, host, token, expires_at, outcome, ended_at)
select j.id, 1, h.id, nextval('lease_tokens'), now(), 'ok', now() from jobs j, hosts h;
insert into boots (attempt, machine, image, setup, method, outcome, boot_uuid, ended_at)
select a.id, m.id, j.image, s.id, 'kexec', 'ok', 'boot-' || a.id, now()
from attempts a join jobs j on j.id = a.job, machines m, setups s;

-- One boot of the 11th commit panicked.
insert into jobs (key, kind, state, priority, purpose, image, commit, class, role, bisection, ended_at)
select 'boot:panic', 'boot', 'failed', 30, 'bisect', i.id, c.id, cl.id, 'node', b.id, now()
from images i, commits c, classes cl, bisections b
where i.content_hash = 'image 11' and c.oid = pg_temp.oid(11);
insert into attempts (job, n, host, token, expires_at, outcome, error, ended_at)
select j.id, 1, h.id, nextval('lease_tokens'), now(), 'kernel', 'panic', now() from jobs j, hosts h
where j.key = 'boot:panic';
insert into boots (attempt, machine, image, method, outcome, reason, ended_at)
select a.id, m.id, j.image, 'kexec', 'panic', 'Kernel panic - not syncing', now()
from attempts a join jobs j on j.id = a.job and j.key = 'boot:panic', machines m;

insert into runs (boot, seq, benchmark, version, params, params_hash, pass, outcome, operations, threads, seconds)
select b.id, s, 'fault', 1, '{"threads": "4", "size": "16M"}', 'p1',
	(array['clean', 'instrumented'])[s + 1], 'ok', 1000000, 4, 0.5
from boots b, generate_series(0, 1) s where b.outcome = 'ok';
insert into samples (run, series, estimate, values)
select r.id, s.id, v.x, array[v.x * 0.99, v.x, v.x * 1.02]
from runs r join boots b on b.id = r.boot join attempts a on a.id = b.attempt join jobs j on j.id = a.job
join plan p on j.key = 'boot:' || p.k
join series s on s.pass = r.pass join metrics m on m.id = s.metric,
lateral (select p.n between 15 and 24 as slow) w,
lateral (select case m.name
	when 'latency' then case when slow then 463.1 else 412.3 end
	when 'throughput' then case when slow then 2.159e6 else 2.425e6 end
	when 'latency.p99' then 3920 when 'rss' then 16777216
	when 'lock.lruvec.wait_per_op' then case when slow then 214 else 36 end
	else case when slow then 17 else 21 end end as level) l,
lateral (select l.level * exp(pg_temp.noise(r.id || m.name) * case when m.name like 'lock.%' then 0.2
	when m.name = 'latency.p99' then 0.06 when m.name = 'rss' then 0.0001 else 0.018 end) as x) v;

insert into lock_health (run, measurable, begins, ends, lost, stack_failures, map_full, recursion_misses)
select r.id, true, 1500, 1500, 0, 0, 0, 0 from runs r where r.pass = 'instrumented';
insert into lock_waits (run, class, site, count, wait_ns, max_ns, hist)
select r.id, w.class, w.site, greatest(1, w.count * case when p.n between 15 and 24 then w.grow else 1 end),
	w.wait_ns * case when p.n between 15 and 24 then w.grow else 1 end * exp(pg_temp.noise(r.id || w.site) * 0.2),
	90000, '{0,0,4,9,1}'
from runs r join boots b on b.id = r.boot join attempts a on a.id = b.attempt join jobs j on j.id = a.job
join plan p on j.key = 'boot:' || p.k,
(values ('lruvec', 'folio_batch_move_lru', 250, 3.0e7, 6.5), ('lruvec', 'folios_put_refs', 40, 6e6, 1.4),
	('zone', 'rmqueue_bulk', 120, 1.4e7, 0.8), ('zone', 'free_pcppages_bulk', 60, 7e6, 0.75),
	('mmap_lock', 'do_user_addr_fault', 15, 2e6, 1.1),
	('other:<unknown>', 'futex_wait_queue', 2, 1.5e5, 1.0)) w(class, site, count, wait_ns, grow)
where r.pass = 'instrumented';

insert into regressions (tree, patch, culprit, parent, bisection, state, posterior, revert_effect, created_at)
select t.id, c.patch, c.id, p.id, b.id, 'proved', 0.9971, 0.96, '2026-03-04 05:06:00+00'
from trees t, bisections b, commits c, commits p
where c.oid = pg_temp.oid(15) and p.oid = pg_temp.oid(14);
insert into regression_series (regression, series, is_primary, before_n, before_mean, after_n, after_mean,
	effect, lo, hi, significant)
select g.id, s.id, m.name = :'primary', 5, v.b, 5, v.a, v.e, v.e - v.w, v.e + v.w,
	v.e - v.w > 0 or v.e + v.w < 0
from regressions g, series s join metrics m on m.id = s.metric
join (values ('latency', 412.3, 463.1, 0.1162, 0.0204), ('throughput', 2.425e6, 2.159e6, 0.1162, 0.021),
	('latency.p99', 3920, 3995, 0.019, 0.071), ('rss', 16777216, 16777300, 0.000005, 0.0002),
	('lock.lruvec.wait_per_op', 36.4, 214.0, 1.7506, 0.31), ('lock.zone.wait_per_op', 21.2, 16.6, -0.2236, 0.2)
	) v(name, b, a, e, w) on v.name = m.name;
commit;
