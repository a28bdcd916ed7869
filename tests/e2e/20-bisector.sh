#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The bisector alone, over rows that tests/fake-results.sql answers: 64 commits with noise across a rebase.
. "$(dirname "$0")/../lib.sh"
test_begin

settings_head >"$dir/config"
echo 'CONFIG_64BIT=y' >"$dir/tiny.config"
cat >>"$dir/config" <<-EOF
	[recipe "tiny"]
		config = $dir/tiny.config
	[tree "mm"]
		url = $dir/none
		branch = mm-test
		recipe = tiny
	[suite "fault"]
		benchmark = fault
		param = size=16M
	[machine "m1"]
		class = fake
		driver = fake
	[detect]
		gaps = false
	[bisect]
		budget = 200
EOF
psql -Xq -v ON_ERROR_STOP=1 -f "$root/tests/fake-results.sql" || exit 1
sql "call fake_lab(1)"

# Snapshot 1: base and 16 patches. Snapshot 2: rebased (other hashes), patch 5 changed, patch 9 dropped, 48 patches more;
# the planted one is the 37th, 40 is a comment, 41 does not compile, 30 panics at boot.
plant() {
	sql "
	do \$\$
	declare b bigint; c bigint; lvl float8 := ln(800);
	begin
		b := fake_commit('base', null, 'base', null, 'base');
		insert into fake_truth values (fake_oid('tree base'), 'img base', lvl);
		c := b;
		for i in 1..16 loop
			c := fake_commit('one ' || i, c, 'mm: patch ' || i, 'p' || i, 'one ' || i);
			insert into fake_truth values (fake_oid('tree one ' || i), 'img one ' || i, lvl);
		end loop;
		perform fake_snapshot(b, c);
	end \$\$"
}
rebase() {
	sql "
	do \$\$
	declare b bigint; c bigint; lvl float8 := ln(800);
	begin
		select base into b from snapshots;
		c := b;
		for i in 1..64 loop
			continue when i = 9;
			lvl := ln(800) + case when i >= 37 then $1 else 0 end;
			c := fake_commit('two ' || i, c, 'mm: patch ' || i, case i when 5 then 'p5 v2' else 'p' || i end, 'two ' || i);
			insert into fake_truth values (fake_oid('tree two ' || i), 'img two ' || case i when 40 then 39 else i end, lvl,
				i <> 41, i <> 30);
		end loop;
		perform fake_snapshot(b, c);
	end \$\$"
}
serve() {
	psql -XqAt -v ON_ERROR_STOP=1 -c "select setseed($1)" -c "call fake_serve($2)" >/dev/null
}

plant
daemon bisector
serve 0.1 2
is "the first snapshot costs two builds" "$(sql "select count(*) from jobs where kind = 'build'")" 2
is "and three boots of each" "$(sql "select count(*) from jobs where kind = 'boot' and state = 'done'")" 6
sql "update fake_noise set sd = 0.05, outlier = 0.01"
rebase 0.12
serve 0.2 4
is "the bisection ended" "$(sql "select state, outcome from bisections")" "done|culprit"
is "with the planted commit" "$(sql "select c.subject from bisections b join commits c on c.id = b.culprit")" \
	"mm: patch 37"
ok "posterior at least 0.99" test "$(sql "select posterior >= 0.99 from bisections")" = t
is "one regression" "$(sql "select count(*) from regressions")" 1
echo "# $(sql "select reason from bisections")"
echo "# $(sql "select count(*) || ' boots of the search' from jobs where purpose = 'bisect'")"
echo "# $(sql "select reason from candidates order by id limit 1")"
test_end
