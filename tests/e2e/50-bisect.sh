#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole line by itself: 64 commits under noise with a rebase in the middle; commits that do not compile, that panic, that
# change nothing. The three daemons find the planted one, prove it, and say so once.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-line.sh"
test_begin
line_settings
metrics='metric=fault_ns:ns:lower:1000:0.1 metric=lock.lruvec.wait_per_op:ns:lower:50:0.2'

# Push 1: 30 commits. shellcheck disable=SC2086
plant 30 $metrics doc=5 break=7 comment=9 doc=12 panic=15 series=17:2
start_all
ok 'the first push is measured' wait_sql 6000 "select count(*) = 6 from jobs where kind = 'boot' and purpose = 'detect' and state = 'done'"
is 'at its two ends' "$(sql "select count(distinct commit) from jobs where kind = 'boot' and purpose = 'detect'")" 2

# Push 2: the stack is rebased, 20 folded into 19, 23 dropped, 34 more; 47 is the planted one.
git -C "$dir/tree" checkout -q --detach main
plant --rebase drop=23 fold=20
plant --more 31 34 break=34 series=36:4 doc=40 shift=47:0.4 comment=48 panic=50 doc=55
culprit=$(number 47)
fetch
ok 'a bisection ends by itself' wait_sql 900 "select bool_or(state = 'done') from bisections"
ok 'its mail goes out' wait_sql 300 "select bool_or(state = 'sent') from outbox"

is 'all commits of both pushes are known' \
	"$(sql "select string_agg(n::text, ' ' order by seq) from (select seq, count(*) as n from snapshots s
		join snapshot_commits sc on sc.snapshot = s.id group by seq) x")" '31 63'
is 'the rebase kept no hash' "$(sql "select count(*) from snapshot_commits a join snapshot_commits b on b.commit = a.commit
	and b.snapshot > a.snapshot where a.pos > 0")" 0
is 'one candidate led, confirmed by fresh boots' \
	"$(sql "select count(*) from candidates where state = 'confirmed' and leader is null and confirm_lo > 0")" 1
is 'the culprit is the planted commit' "$(sql "select b.outcome, c.oid from bisections b join commits c on c.id = b.culprit")" \
	"culprit|$culprit"
is 'posterior at least 0.99' "$(sql "select posterior >= 0.99 from bisections")" t
is 'one regression, of that commit, reported' \
	"$(sql "select r.state, c.oid from regressions r join commits c on c.id = r.culprit")" "reported|$culprit"
is 'its interval excludes no change and holds the planted one' \
	"$(sql "select significant and lo > 0 and lo < 0.4 + 0.15 and hi > 0.4 - 0.15, before_n >= 5 and after_n >= 5
		from regression_series where is_primary")" 't|t'
is 'the proof used its own boots only' "$(sql "select count(*) from boot_estimates where purpose = 'prove'
	and (candidate is not null or bisection is null)")" 0
is 'both ends were rebuilt from clean trees' \
	"$(sql "select count(*) from jobs where kind = 'rebuild' and state = 'done'")" 2
is 'what did not compile is a failed build, its job done' \
	"$(sql "select count(*) from builds b join jobs j on j.build = b.id and j.kind = 'build' join commits c on c.id = b.commit
		where b.outcome = 'failed' and (j.state <> 'done' or c.subject not in ('mm: change number 7', 'mm: change number 34'))")" 0
is 'what panicked was never a measurement' \
	"$(sql "select count(*) from boot_estimates e join commits c on c.id = e.commit
		where c.subject in ('mm: change number 15', 'mm: change number 50')")" 0
is 'commits of documentation have the image of the commit before' \
	"$(sql "select count(*) from commits c join commit_parents p on p.commit = c.id join commits q on q.id = p.parent
		join builds b on b.tree_oid = c.tree_oid join builds bq on bq.tree_oid = q.tree_oid
		where c.subject ~ ' (5|12|40|55|9|48)\$' and b.image <> bq.image")" 0
is 'no job but those that were cancelled or panicked failed' \
	"$(sql "select count(*) from jobs j left join commits c on c.id = j.commit where j.state = 'failed'
		and c.subject not in ('mm: change number 15', 'mm: change number 50')")" 0
is 'one mail' "$(mails)" 1
is 'one row of it' "$(sql "select state, count(*) from outbox group by 1")" 'sent|1'
mail=$(find "$dir/state/spool" -name '*.eml')
/usr/bin/python3 "$root/tests/mail-fields.py" "$mail" subject body >"$dir/mail"
like 'it names the commit' "$(cat "$dir/mail")" "$(echo "$culprit" | cut -c1-12)"
like 'and what it is called' "$(cat "$dir/mail")" 'mm: change number 47'
like 'and that it changed no code' "$(tr -s ' \n' ' ' <"$dir/mail")" 'code: LAYOUT SUSPECT: .* No function of the kernel differs from the parent'
like 'and how to do it again' "$(cat "$dir/mail")" 'mmperf (compare|bisect) '
page=$dir/state/pages/regression-$(sql 'select id from regressions').html
ok 'the page is there, well-formed' xmllint --noout "$page"
like 'and names it' "$(cat "$page")" "$culprit"
mmperf regressions >"$dir/out"
like 'the command line lists it' "$(cat "$dir/out")" "$(echo "$culprit" | cut -c1-12)"
is 'every kernel has digests of its functions' "$(sql "select count(*) from builds where outcome = 'built' and functions is null")" 0
echo "# $(sql "select reason from bisections")"
echo "# $(sql "select count(*) || ' boots, ' || count(*) filter (where purpose = 'bisect') || ' of the search' from jobs where kind = 'boot'")"

# A push of documentation: no boot, no second mail.
boots=$(sql "select count(*) from jobs where kind = 'boot'")
plant --more 65 1 doc=65
fetch
ok 'a push of documentation is built' wait_sql 600 "select count(*) = 1 from builds b join commits c on c.tree_oid = b.tree_oid
	where c.subject = 'mm: change number 65' and b.outcome = 'built'"
stop_all
rounds 2
is '... and costs no boot' "$(sql "select count(*) from jobs where kind = 'boot'")" "$boots"
"$build/mmperf-reporter" --config "$dir/config" --once >>"$dir/reporter.log" 2>&1
is 'still one mail' "$(mails)" 1
test_end
