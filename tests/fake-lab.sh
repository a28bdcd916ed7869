# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced behind lib.sh by tests of decisions: a lab of rows (fake-results.sql) with one tree, and settings for it.
#
#	lab_begin MACHINES [SETTINGS]   loads it; $dir/config has the lab and the given settings
#	serve SEED QUERY [SECONDS]      answers jobs until the query answers true while none waits; at most 240 s
#	line NAME BASE FROM TO [TRUTH]  commits "mm: patch FROM".."mm: patch TO" above commit row BASE (a text "NAME N" hashes
#	                                to each); TRUTH is an SQL expression over i: (image, level, builds, boots), see below
#	snapshot BASE HEAD              the next snapshot of the branch
#	commit NAME                     id of that commit

lab_begin() {
	settings_head >"$dir/config"
	echo 'CONFIG_64BIT=y' >"$dir/tiny.config"
	cat >>"$dir/config" <<-EOF
		[recipe "tiny"]
			config = tiny.config
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
	EOF
	[ $# -lt 2 ] || printf '%s\n' "$2" >>"$dir/config"
	psql -Xq -v ON_ERROR_STOP=1 -f "$root/tests/fake-results.sql" || exit 1
	sql "call fake_lab($1)"
	sql "select fake_commit('base', null, 'base', null, 'base');
		insert into fake_truth values (fake_oid('tree base'), 'img base', ln(800))" >/dev/null
}

serve() {
	psql -XqAt -v ON_ERROR_STOP=1 -c "select setseed($1)" -c "call fake_serve(\$q\$$2\$q\$, ${3:-240})" >/dev/null
}

commit() {
	sql "select id from commits where oid = fake_oid('commit $1')"
}

line() {
	sql "
	do \$\$
	declare c bigint := $2;
	begin
		for i in $3..$4 loop
			c := fake_commit('$1 ' || i, c, 'mm: patch ' || i, 'p' || i, '$1 ' || i);
			insert into fake_truth select fake_oid('tree $1 ' || i), x.* from
				(select ${5:-"'$1 ' || i, ln(800), true, true"}) x;
		end loop;
	end \$\$"
}

snapshot() {
	sql "select fake_snapshot($1, $2)" >/dev/null
}
