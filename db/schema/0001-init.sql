-- SPDX-License-Identifier: GPL-2.0-or-later
-- The first schema. Numbered files are applied in order, once, each in a transaction, and never
-- edited after a release. Surrogate ids are bigint; the natural key of each table is unique.
-- Units: ns, bytes, count, count/s, cycles. Times of leases come from this server's clock.

-- Trees and what a fetch saw ---------------------------------------------------------------------

create table trees (
	id bigint generated always as identity primary key,
	name text not null unique,
	url text not null
);

create table branches (
	id bigint generated always as identity primary key,
	tree bigint not null references trees,
	name text not null,
	base_ref text,                       -- what the branch is stacked on; null = its root commit
	active boolean not null default true,
	unique (tree, name)
);

-- A commit's identity across rebases. lineage is the first patch that had the same Message-ID, or
-- else the same author and subject: a changed version of a patch keeps the lineage.
create table patches (
	id bigint generated always as identity primary key,
	patch_id text not null unique,
	lineage bigint references patches,   -- null = itself
	message_id text,
	author_email text not null,
	subject text not null
);
create index on patches (message_id) where message_id is not null;
create index on patches (author_email, subject);

create table commits (
	id bigint generated always as identity primary key,
	oid text not null unique check (oid ~ '^[0-9a-f]{40}$'),
	tree_oid text not null check (tree_oid ~ '^[0-9a-f]{40}$'),
	patch bigint references patches,     -- null: merge, root, or empty change
	author_name text not null,
	author_email text not null,
	authored_at timestamptz not null,
	subject text not null,
	body text not null,
	message_id text,
	link text
);
create index on commits (patch);
create index on commits (tree_oid);

create table commit_parents (
	commit bigint not null references commits,
	n integer not null,
	parent bigint not null references commits,
	primary key (commit, n)
);

create table snapshots (
	id bigint generated always as identity primary key,
	branch bigint not null references branches,
	seq integer not null check (seq > 0),
	head bigint not null references commits,
	base bigint not null references commits,
	fetched_at timestamptz not null default now(),
	unique (branch, seq)
);

-- Position 0 is the base, 1 the oldest commit above it; parents stand before children.
-- group_first is the position of the first patch of the series that the commit belongs to.
create table snapshot_commits (
	snapshot bigint not null references snapshots,
	pos integer not null check (pos >= 0),
	commit bigint not null references commits,
	group_first integer not null,
	primary key (snapshot, pos),
	unique (snapshot, commit)
);
create index on snapshot_commits (commit);

-- Builds -----------------------------------------------------------------------------------------

create table artifacts (
	id bigint generated always as identity primary key,
	sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
	size bigint not null check (size >= 0),
	kind text not null,                  -- kernel, system-map, config, build-log, console
	created_at timestamptz not null default now()
);

create table recipes (
	id bigint generated always as identity primary key,
	name text not null,
	version integer not null,
	content text not null,
	unique (name, version)
);

create table toolchains (
	id bigint generated always as identity primary key,
	hash text not null unique,
	description text not null
);

create table images (
	id bigint generated always as identity primary key,
	content_hash text not null unique,   -- allocated sections without notes and banner
	build_id text not null,              -- GNU build-id of the stored kernel, hex
	kernel bigint not null references artifacts,
	system_map bigint not null references artifacts,
	created_at timestamptz not null default now()
);

create table builds (
	id bigint generated always as identity primary key,
	tree_oid text not null,
	recipe bigint not null references recipes,
	toolchain bigint not null references toolchains,
	layout_seed bigint not null default 0,
	commit bigint not null references commits,  -- the commit whose tree it is (the first that asked)
	outcome text not null default 'pending' check (outcome in ('pending', 'built', 'failed')),
	image bigint references images,
	error text,                          -- first error line of the compiler
	log bigint references artifacts,
	config bigint references artifacts,
	incremental boolean,
	seconds double precision,
	clean_verified_at timestamptz,       -- a clean build gave the same image
	created_at timestamptz not null default now(),
	unique (tree_oid, recipe, toolchain, layout_seed),
	check ((outcome = 'built') = (image is not null))
);
create index on builds (image);

-- Machines ---------------------------------------------------------------------------------------

create table hosts (
	id bigint generated always as identity primary key,
	name text not null unique,
	toolchain bigint references toolchains,
	cpus integer not null default 1,
	last_seen timestamptz not null default now()
);

create table classes (
	id bigint generated always as identity primary key,
	name text not null unique,
	driver text not null,
	emulated boolean not null            -- works, but nothing about it is mailed outside the lab
);

create table machines (
	id bigint generated always as identity primary key,
	name text not null unique,
	class bigint not null references classes,
	host bigint not null references hosts,
	state text not null default 'up' check (state in ('up', 'offline', 'quarantined')),
	note text,
	failures integer not null default 0, -- machine failures in a row
	last_seen timestamptz not null default now()
);

create sequence lease_tokens;

create table leases (
	machine bigint primary key references machines,
	token bigint not null unique,
	attempt bigint not null,
	expires_at timestamptz not null
);

create table environments (
	id bigint generated always as identity primary key,
	hash text not null unique,
	facts jsonb not null
);

create table setups (
	id bigint generated always as identity primary key,
	class bigint not null references classes,
	method text not null,                -- direct, kexec, none
	recipe bigint references recipes,    -- null: a kernel that we did not build
	toolchain bigint references toolchains,
	environment bigint not null references environments
);
create unique index setups_key on setups
	(class, method, coalesce(recipe, 0), coalesce(toolchain, 0), environment);

-- Work -------------------------------------------------------------------------------------------

-- definition: {"benchmark", "params": {}, "passes": [], "judge": ["metric", ...], "min_effect": {}}
create table suites (
	id bigint generated always as identity primary key,
	name text not null,
	version integer not null,
	definition jsonb not null,
	unique (name, version)
);

create table requests (
	id bigint generated always as identity primary key,
	kind text not null check (kind in ('run', 'compare', 'bisect')),
	args jsonb not null,
	state text not null default 'queued'
		check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
	error text,
	result jsonb,
	asked_by text not null,
	created_at timestamptz not null default now(),
	ended_at timestamptz
);

create table candidates (
	id bigint generated always as identity primary key,
	series bigint not null,              -- references series, below
	before_image bigint not null references images,
	after_image bigint not null references images,
	before_commit bigint not null references commits,
	after_commit bigint not null references commits,
	branch bigint references branches,
	leader bigint references candidates, -- series that share boots share one bisection; null = leads
	state text not null default 'confirming'
		check (state in ('confirming', 'confirmed', 'refuted', 'abandoned', 'better')),
	reason text,                         -- why it ended as it did, for a person
	seed bigint not null,                -- of the boot order
	detect_effect double precision not null,     -- log ratio after/before, > 0 is worse
	detect_z double precision not null,
	confirm_effect double precision,
	confirm_lo double precision,
	confirm_hi double precision,
	created_at timestamptz not null default now(),
	decided_at timestamptz,
	unique (series, before_image, after_image)
);

create table bisections (
	id bigint generated always as identity primary key,
	candidate bigint unique references candidates,
	request bigint unique references requests,
	tree bigint not null references trees,
	series bigint not null,
	suite bigint not null references suites,
	class bigint not null references classes,
	recipe bigint not null references recipes,
	toolchain bigint not null references toolchains,
	good bigint not null references commits,
	bad bigint not null references commits,
	merge_base bigint not null references commits,   -- equals good when good is an ancestor of bad
	state text not null default 'searching'
		check (state in ('searching', 'proving', 'done', 'cancelled')),
	outcome text check (outcome in ('culprit', 'narrowed', 'none', 'unfinished', 'unproved')),
	reason text,
	culprit bigint references commits,
	posterior double precision,
	seed bigint not null,
	min_effect double precision not null,    -- log ratio
	budget_boots integer not null,
	created_at timestamptz not null default now(),
	ended_at timestamptz,
	check ((candidate is null) <> (request is null)),
	check ((state in ('done', 'cancelled')) = (ended_at is not null))
);

-- The frozen list that is searched; a rebase of the branch does not disturb it.
create table hypotheses (
	bisection bigint not null references bisections,
	n integer not null,
	kind text not null check (kind in ('none', 'commit', 'dropped')),
	commit bigint references commits,    -- null for 'none'
	prior double precision not null,
	mass double precision not null,
	primary key (bisection, n),
	check ((kind = 'none') = (commit is null))
);

create table jobs (
	id bigint generated always as identity primary key,
	key text not null unique,            -- says what it is for; makes doubles impossible
	kind text not null check (kind in ('build', 'rebuild', 'boot')),
	state text not null default 'queued'
		check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
	priority integer not null,           -- lower first
	purpose text not null check (purpose in
		('detect', 'confirm', 'bisect', 'prove', 'request')),
	build bigint references builds,      -- build, rebuild: what to make; boot: the build it came from
	image bigint references images,      -- boot only; null = the machine's running kernel
	commit bigint references commits,    -- boot only: the commit whose image it is
	class bigint references classes,     -- boot only
	suites bigint[] not null default '{}',
	role text,                           -- before, after, revert, node
	candidate bigint references candidates,
	bisection bigint references bisections,
	request bigint references requests,
	max_attempts integer not null default 3,
	not_before timestamptz not null default now(),
	error text,
	created_at timestamptz not null default now(),
	ended_at timestamptz,
	check ((kind = 'boot') = (class is not null)),
	check (kind <> 'boot' or build is null or image is not null),
	check ((state in ('done', 'failed', 'cancelled')) = (ended_at is not null))
);
create index jobs_claim on jobs (priority, id) where state = 'queued';
create index on jobs (candidate) where candidate is not null;
create index on jobs (bisection) where bisection is not null;
create index on jobs (request) where request is not null;
create index on jobs (image);
create index on jobs (build);

create table attempts (
	id bigint generated always as identity primary key,
	job bigint not null references jobs,
	n integer not null,
	host bigint not null references hosts,
	token bigint not null unique,        -- of its lease
	expires_at timestamptz not null,
	pid integer,
	outcome text not null default 'running' check (outcome in
		('running', 'ok', 'kernel', 'machine', 'infra', 'lost')),
	error text,
	started_at timestamptz not null default now(),
	ended_at timestamptz,
	unique (job, n),
	check ((outcome = 'running') = (ended_at is null))
);
create unique index attempts_one_running on attempts (job) where outcome = 'running';

alter table leases add foreign key (attempt) references attempts;

create table steps (
	bisection bigint not null references bisections,
	n integer not null,
	commit bigint not null references commits,
	job bigint references jobs,
	reason text not null,                -- why this boot: for a person
	created_at timestamptz not null default now(),
	primary key (bisection, n)
);

-- Results ----------------------------------------------------------------------------------------

create table boots (
	id bigint generated always as identity primary key,
	attempt bigint not null unique references attempts,
	machine bigint not null references machines,
	image bigint references images,
	setup bigint references setups,      -- null until the agent has told its environment
	method text not null,
	outcome text not null default 'running' check (outcome in
		('running', 'ok', 'panic', 'oops', 'hang', 'no_boot', 'wrong_kernel', 'agent', 'machine',
		 'infra', 'lost')),
	reason text,
	boot_uuid text unique,               -- /proc/sys/kernel/random/boot_id
	build_id text,
	console bigint references artifacts,
	facts jsonb,                         -- state of memory and knobs at the start
	guest_s double precision,            -- the machine was ours and on
	started_at timestamptz not null default now(),
	ended_at timestamptz
);
create index on boots (image);

create table runs (
	id bigint generated always as identity primary key,
	boot bigint not null references boots,
	seq integer not null,
	benchmark text not null,
	version integer not null,
	params jsonb not null,
	params_hash text not null,
	pass text not null check (pass in ('clean', 'instrumented')),
	outcome text not null check (outcome in ('ok', 'failed')),
	reason text,
	operations bigint,
	threads integer,
	seconds double precision,
	unique (boot, seq)
);

create table metrics (
	id bigint generated always as identity primary key,
	benchmark text not null,
	version integer not null,
	name text not null,
	unit text not null check (unit in ('ns', 'bytes', 'count', 'count/s', 'cycles', 'ratio')),
	direction text not null check (direction in ('lower', 'higher', 'none')),
	floor double precision not null default 0,   -- c of log(x + c)
	unique (benchmark, version, name)
);

create table series (
	id bigint generated always as identity primary key,
	setup bigint not null references setups,
	benchmark text not null,
	version integer not null,
	params_hash text not null,
	pass text not null,
	metric bigint not null references metrics,
	unique (setup, benchmark, version, params_hash, pass, metric)
);
alter table candidates add foreign key (series) references series;
alter table bisections add foreign key (series) references series;

-- values: one number per iteration; estimate: their median, the boot's number.
create table samples (
	run bigint not null references runs,
	series bigint not null references series,
	estimate double precision not null,
	values double precision[] not null,
	primary key (series, run)
) partition by hash (series);
create table samples_0 partition of samples for values with (modulus 4, remainder 0);
create table samples_1 partition of samples for values with (modulus 4, remainder 1);
create table samples_2 partition of samples for values with (modulus 4, remainder 2);
create table samples_3 partition of samples for values with (modulus 4, remainder 3);
create index on samples (run);

create table lock_waits (
	run bigint not null references runs,
	class text not null,
	site text not null,
	count bigint not null,
	wait_ns bigint not null,
	max_ns bigint not null,
	hist bigint[] not null,              -- log2 buckets of ns
	primary key (run, class, site)
);

create table lock_health (
	run bigint primary key references runs,
	measurable boolean not null,
	reason text,                         -- why not measurable, or what is doubtful
	begins bigint not null,
	ends bigint not null,
	lost bigint not null,
	stack_failures bigint not null,
	map_full bigint not null,
	recursion_misses bigint not null
);

create table histograms (
	run bigint not null references runs,
	metric text not null,
	unit text not null,
	buckets bigint[] not null,           -- log2: bucket i counts values in [2^i, 2^(i+1))
	primary key (run, metric)
);

create table counters (
	run bigint not null references runs,
	name text not null,
	value bigint,                        -- null: not available, for the reason
	reason text,
	primary key (run, name),
	check ((value is null) = (reason is not null))
);

-- Answers ----------------------------------------------------------------------------------------

create table regressions (
	id bigint generated always as identity primary key,
	tree bigint not null references trees,
	patch bigint not null references patches,    -- the lineage
	culprit bigint not null references commits,
	parent bigint not null references commits,
	bisection bigint not null unique references bisections,
	state text not null check (state in ('proved', 'reported', 'muted', 'fixed')),
	posterior double precision not null,
	revert_effect double precision,      -- share of the effect that reverting on the tip removes
	revert_lo double precision,          -- its 95 % interval; null: nothing is excluded
	revert_hi double precision,
	revert_reason text,                  -- or why that is not known
	created_at timestamptz not null default now(),
	unique (tree, patch)
);

-- Proof boots only. Effects are log ratios after/before, > 0 is worse, with a 95 % interval.
create table regression_series (
	regression bigint not null references regressions,
	series bigint not null references series,
	is_primary boolean not null,
	before_n integer not null,
	before_mean double precision not null,       -- geometric means, in the metric's unit
	after_n integer not null,
	after_mean double precision not null,
	effect double precision not null,
	lo double precision not null,
	hi double precision not null,
	significant boolean not null,
	primary key (regression, series)
);

-- A row found in 'sending' by a fresh reporter is made 'unsure': for a person, never sent again.
create table outbox (
	id bigint generated always as identity primary key,
	message_id text not null unique,
	regression bigint unique references regressions,
	recipients text[] not null,
	subject text not null,
	body text not null,
	state text not null default 'queued'
		check (state in ('queued', 'sending', 'sent', 'unsure', 'refused')),
	tries integer not null default 0,
	not_before timestamptz not null default now(),
	error text,
	created_at timestamptz not null default now(),
	sent_at timestamptz
);

-- Wake-ups: one channel, the payload says what changed. Per row, since a statement that changes nothing
-- must wake nobody; equal notifications of one transaction are sent once. ------------------------

create function notify_mmperf() returns trigger language plpgsql as $$
begin
	perform pg_notify('mmperf', tg_table_name);
	return null;
end $$;

create trigger wake after insert or update on jobs
	for each row execute function notify_mmperf();
create trigger wake after insert on snapshots
	for each row execute function notify_mmperf();
create trigger wake after insert or update on requests
	for each row execute function notify_mmperf();
create trigger wake after insert or update on candidates
	for each row execute function notify_mmperf();
create trigger wake after insert or update on bisections
	for each row execute function notify_mmperf();
create trigger wake after insert or update on regressions
	for each row execute function notify_mmperf();
create trigger wake after insert or update on outbox
	for each row execute function notify_mmperf();

-- What deciding looks at: one row per boot and series, good boots only. Timings taken under instruments
-- are kept, and decide nothing. -----------------------------------------------------------------

create view boot_estimates as
select s.series, s.estimate, b.id as boot, b.image, b.machine, b.boot_uuid, b.started_at,
	j.id as job, j.purpose, j.role, j.commit, j.candidate, j.bisection, j.request
from samples s
join runs r on r.id = s.run and r.outcome = 'ok'
join series se on se.id = s.series
join metrics m on m.id = se.metric and (r.pass = 'clean' or m.name like 'lock.%')
join boots b on b.id = r.boot and b.outcome = 'ok'
join attempts a on a.id = b.attempt and a.outcome = 'ok'
join jobs j on j.id = a.job;
