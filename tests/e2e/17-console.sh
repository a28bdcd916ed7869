#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel whose console says that it is dead is not waited for. Deadlines here are far longer than the test may take.
. "$(dirname "$0")/../lib.sh"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 1 || exit 1
for fate in dead dies; do
	git -C "$tree" checkout -q main && echo "$fate" >>"$tree/image" &&
		git -C "$tree" -c user.name=T -c user.email=t@example.org commit -q -a -m "mm: one that is $fate" || exit 1
done
echo '# nothing' >"$dir/tiny.config"
{
	settings_head
	settings_tiny
	cat <<-EOF
		[build]
			min-free = 1M
			ccache = false
		[machine "m1"]
			class = fake
			driver = fake
			boot-timeout = 10m
			run-timeout = 10m
	EOF
} >"$dir/config"
once() {
	timeout 120 "$build/mmperf-runner" --config "$dir/config" --once >>"$dir/runner.log" 2>&1
}
ok 'following' once
sql "insert into recipes (name, version, content) values ('tiny', 1, E'# nothing\n');
	insert into builds (tree_oid, recipe, toolchain, commit) select c.tree_oid, r.id, h.toolchain, c.id from recipes r, hosts h, commits c;
	insert into suites (name, version, definition) values ('fault', 1, '{\"benchmark\": \"fault\", \"passes\": [\"clean\"]}');
	insert into jobs (key, kind, purpose, priority, build) select 'build:' || b.id, 'build', 'detect', 50, b.id from builds b"
ok 'building' once
boot() { # fate
	sql "insert into jobs (key, kind, purpose, priority, build, image, commit, class, suites, max_attempts)
		select '$1', 'boot', 'detect', 50, b.id, b.image, c.id, cl.id, array[s.id], 1
		from classes cl, suites s, commits c join builds b on b.commit = c.id where c.subject = 'mm: one that is $1'"
	once
}
verdict() { # fate
	sql "select b.outcome, b.reason from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.key = '$1'"
}
ok 'before its agent spoke' boot dead
is '... the panic is the reason' "$(verdict dead)" 'panic|[    0.1] Kernel panic - not syncing: VFS: no root'
ok 'in the middle of a measurement' boot dies
is '... too' "$(verdict dies)" 'panic|[    0.1] Kernel panic - not syncing: VFS: no root'
test_end
