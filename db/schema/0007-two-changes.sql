-- SPDX-License-Identifier: GPL-2.0-or-later
-- A search may end with two culprits. The second is proved and reported as a bisection of its own, which begins with the proof.

alter table bisections add column beside bigint unique references bisections;
alter table bisections drop constraint bisections_check;
alter table bisections add constraint bisections_asked_check
	check (num_nonnulls(candidate, request, beside) = 1);
