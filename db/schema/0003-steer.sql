-- SPDX-License-Identifier: GPL-2.0-or-later
-- A person may give a bisection more boots, take up one that was cancelled, and end any.

alter table requests drop constraint requests_kind_check;
alter table requests add constraint requests_kind_check
	check (kind in ('run', 'compare', 'bisect', 'extend', 'resume', 'halt'));
