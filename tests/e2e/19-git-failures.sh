#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Remotes that are away or broken, and locks that a killed process left: one tree's trouble stays its own.
. "$(dirname "$0")/../lib.sh"
test_begin

tree=$dir/tree
sh "$root/tests/make-fake-tree" "$tree" 2 || exit 1
echo '# nothing' >"$dir/tiny.config"
{
	settings_head
	cat <<-EOF
		[tree "away"]
			url = $dir/away
			branch = main
			recipe = tiny
			poll = 1h
	EOF
	settings_tiny
} >"$dir/config"
once() {
	"$build/mmperf-runner" --config "$dir/config" --once >>"$dir/runner.log" 2>&1
}
newest() { # tree
	sql "select coalesce(max(s.seq), 0) from snapshots s join branches b on b.id = s.branch join trees t on t.id = b.tree where t.name = '$1'"
}
push() { # number
	sh "$root/tests/make-fake-tree" --more "$tree" "$1" 1
}
mkdir -p "$dir/state/repo.git"
: >"$dir/state/repo.git/config.lock"
once
is "a remote that is not there" "$(newest away)" 0
like "... is said" "$(cat "$dir/runner.log")" 'error: tree away: branch main: .*away'
is "... and the other tree is followed" "$(newest test)" 1
sh "$root/tests/make-fake-tree" "$dir/away" 2 metric=other_ns:ns:lower:50:0.01
head=$(git -C "$dir/away" rev-parse main^{tree})
object=$(echo "$head" | sed "s|..|&/|; s|^|$dir/away/.git/objects/|")
cp "$object" "$dir/object"
chmod 600 "$object"
echo garbage >"$object"
once
is "a remote with a broken object" "$(newest away)" 0
ok "... is asked again" cp "$dir/object" "$object"
once
is "... and followed when it is whole" "$(newest away)" 1

ref=$dir/state/repo.git/refs/mmperf/snapshots/test/main
push 3
: >"$ref/2.lock"
once
is "a lock that somebody holds" "$(newest test)" 1
like "... is said" "$(tail -n 2 "$dir/runner.log")" 'tree test: .*2\.lock'
touch -d '1 hour ago' "$ref/2.lock"
once
is "a lock that a killed process left" "$(newest test)" 2
ok "... is gone" test ! -e "$ref/2.lock"
push 4
once
is "and on it goes" "$(newest test)" 3
test_end
