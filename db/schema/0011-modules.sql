-- SPDX-License-Identifier: GPL-2.0-or-later
-- A kernel's modules: an archive of lib/modules/RELEASE. Null: its configuration has none. They are part of content_hash.

alter table images add column modules bigint references artifacts;
