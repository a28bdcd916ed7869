#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Searches, proofs and confirmations draw a fresh layout for each boot of a commit where the pilot says that layouts matter, over rows.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-lab.sh"
test_begin
lab_begin 1 "[detect]
	gaps = false
	z = 7
	twin-every = 0
	history-every = 0s
[bisect]
	revert = false
	clean-rebuild = false
	prove-boots = 6
[suite \"fault\"]
	judge = fault_ns"
sql "update fake_noise set sd = 0.05, sd_layout = 0.06"

base=$(commit base)
line a "$base" 1 12 "'a ' || i, ln(800) + case when i >= 7 then 0.2 else 0 end, true, true"
snapshot "$base" "$(commit 'a 12')"
daemon bisector
serve 0.1 "select count(*) >= 6 from boot_estimates e join series s on s.id = e.series join metrics m on m.id = s.metric where m.name = 'fault_ns'"

# pilot BOOT LAYOUT: what a pilot would have stored.
pilot() {
	sql "with q as (insert into requests (kind, args, state, asked_by, ended_at) values ('noise', '{}', 'done', 'test', now()) returning id)
		insert into noise (request, series, layouts, boots, iterations, sd_boot, sd_layout, sd, df, last_boot)
		select q.id, s.id, 3, 36, 1, $1, $2, $1, 33, (select max(id) from boots) from q, series s join metrics m on m.id = s.metric
		where m.name = 'fault_ns'"
}
# search: bisects base..a 12 by hand to its end
search() {
	sql "insert into requests (kind, args, asked_by) select 'bisect', jsonb_build_object('good', g.oid, 'bad', b.oid, 'tree', 'mm',
		'class', 'fake', 'suite', 'fault', 'metric', 'fault_ns'), 'test'
		from commits g, commits b where g.id = $base and b.id = $(commit 'a 12')"
	serve "0.$1" "select count(*) = $2 from requests where kind = 'bisect' and ended_at is not null"
}
booted() {
	sql "select $1 from (select j.bisection, j.commit, b.layout_seed, count(*) as n, count(distinct j.image) as images from jobs j
		join builds b on b.id = j.build where j.purpose = 'bisect' and j.kind = 'boot'
		and j.bisection = (select max(id) from bisections) group by 1, 2, 3) x"
}

pilot 0.05 0.06
search 2 1
is "where layouts matter the culprit is found" "$(sql "select b.outcome, c.subject from bisections b left join commits c on c.id = b.culprit")" \
	"culprit|mm: patch 7"
is "no layout of a commit is booted twice" "$(booted "max(n)")" 1
is "some commit was booted in several" "$(booted "max(layout_seed) >= 1")" t
is "... plain first, then one after the other" "$(sql "select bool_and(x.top + 1 = x.n) from (select max(b.layout_seed) as top,
	count(distinct b.layout_seed) as n from jobs j join builds b on b.id = j.build where j.purpose = 'bisect' and j.kind = 'boot'
	group by j.commit) x")" t
like "and the step's reason says so" "$(sql "select reason from steps")" 'layout [1-9]+ of it'
# sets PURPOSE: roles, whether each boot of one has a layout of its own, and whether the first is plain
sets() {
	sql "select string_agg(role, ',' order by role), bool_and(own), bool_and(least = 0) from (select j.role, count(*) > 1
		and count(*) = count(distinct b.layout_seed) and count(*) = count(distinct j.image) as own, min(b.layout_seed) as least
		from jobs j join builds b on b.id = j.build where j.purpose = '$1' and j.kind = 'boot'
		and coalesce(j.bisection, j.candidate) = (select max(coalesce(bisection, candidate)) from jobs where purpose = '$1')
		group by 1) x"
}
is "each boot of a side of the proof has another" "$(sets prove)" 'after,before|t|t'

pilot 0.05 0.02
search 3 2
is "where they do not, each commit has one image" "$(booted "max(layout_seed), max(images)")" "0|1"
is "... however often it is booted" "$(booted "max(n) > 1")" t
is "... and the proof has one of each side" "$(sql "select max(n) from (select count(distinct image) as n from jobs where purpose = 'prove'
	and kind = 'boot' and bisection = (select max(id) from bisections) group by role) x")" 1

pilot 0.05 0.06
sql "insert into candidates (series, before_image, after_image, before_commit, after_commit, branch, state, seed, detect_effect, detect_z)
	select s.id, g.image, b.image, g.commit, b.commit, r.id, 'confirming', 7, 0.2, 8 from series s join metrics m on m.id = s.metric,
	builds g, builds b, branches r where m.name = 'fault_ns' and g.commit = $base and b.commit = $(commit 'a 12')
	and g.layout_seed = 0 and b.layout_seed = 0"
serve 0.4 "select bool_and(state = 'confirmed') from candidates" 60
is "so has each boot of a confirmation" "$(sets confirm)" 'after,before|t|t'
test_end
