-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a commit touches, one path a line, which says how likely it is a culprit. Null: a merge, a root, more than 256
-- paths, or stored before this column; such a commit is suspected in full.

alter table commits add column paths text;
