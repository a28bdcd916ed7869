-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a commit touches, one path a line, which says how likely it is a culprit. Null: a merge, a root, more than 256
-- paths, or stored before this column; such a commit is suspected in full.

alter table commits add column paths text;

-- Error of a cluster, kept by its leader: the chance that it is confirmed when nothing changed, a part of what the
-- week's budget of false mails had left when it began; and the evidence that its boots came to.
alter table candidates add column alpha double precision;    -- null: no boots yet
alter table candidates add column log_e double precision;    -- log e-value, of the best metric over how many there are
create index on candidates (created_at) where leader is null;

-- What the history of the branch knew of a search's good level when it began (logs, > 0 is worse). Null: nothing.
alter table bisections add column past_level double precision;
alter table bisections add column past_sd double precision;
alter table bisections add column past_heads integer;
alter table bisections add column notes text;        -- of the search, kept for the end of its proof: "; ..."

-- Each measured head of a history, oldest first, and the change that it alone would have shown 9 times in 10 (log ratio;
-- infinity: too little came before it).
alter table histories add column head_commits bigint[] not null default '{}';
alter table histories add column mode_apart double precision;  -- log ratio of two heaps of boots; null: one heap
alter table histories add column mode_upper double precision;  -- share of the boots in the worse one
alter table histories add column head_down_to double precision[] not null default '{}';
