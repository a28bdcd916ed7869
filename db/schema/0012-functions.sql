-- SPDX-License-Identifier: GPL-2.0-or-later
-- Digests of a build's functions, which tell whether two kernels differ in what a benchmark runs or only in where it lies.
-- A list of lines "NAME DIGEST"; null: not known, such as of a build made before this column.

alter table builds add column functions bigint references artifacts;

-- How the culprit's code differs from its parent's. Null: not known, for the reason.
alter table regressions add column layout_suspect boolean;         -- nothing differs that the benchmark spends its time in
alter table regressions add column functions_differ integer;       -- of the whole kernel
alter table regressions add column functions_hot integer;          -- that profiles and lock waits name; 0: no profile, all count
alter table regressions add column functions_hot_differ integer;
alter table regressions add column functions_names text;           -- of those that differ, one a line, the hot ones first
alter table regressions add column functions_reason text;

-- When a search began, or was last taken up by hand: its budget of time counts from here.
alter table bisections add column begun_at timestamptz not null default now();
