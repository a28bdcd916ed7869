#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The units: how exposed each is, and that systemd starts them, as installed, in their sandboxes, and work gets done there.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/systemd-box.sh"
test_begin

# --- exposure ---------------------------------------------------------------------------------------------
command -v systemd-analyze >/dev/null || { echo '1..0 # SKIP no systemd-analyze here'; exit 0; }
for unit in "$root"/deploy/systemd/*.service; do
	systemd-analyze security --offline=true --no-pager "$unit" >"$dir/exposure" 2>&1
	points=$(sed -n 's/.*Overall exposure level for .*: \([0-9.]*\) .*/\1/p' "$dir/exposure")
	ok "$(basename "$unit"): exposure $points <= 2.0" awk -v p="${points:-99}" 'BEGIN { exit p > 2.0 }'
done

# --- started by systemd -------------------------------------------------------------------------------------
trap '_was=$?; box_gone; (exit $_was); _finish' EXIT
if ! box_possible; then
	echo "# units are not started: a systemd of our own needs root, namespaces, overlayfs and cgroup2"
	test_end
	exit
fi
box_make
ok 'make install' make -C "$root" -o all O="$build" DESTDIR="$box_new" install
chmod -R go-w "$box_new"
mkdir -p "$box_new/srv" "$box_new/etc/mmperf" "$box_new/etc/systemd/system/mmperf-runner.service.d"
sh "$root/tests/make-fake-tree" "$box_new/srv/tree" 8 shift=5:0.4 doc=2 break=7 metric=fault_ns:ns:lower:1000:0.003 || exit 1
culprit=$(git -C "$box_new/srv/tree" rev-parse main~3)
echo '# nothing' >"$box_new/etc/mmperf/tiny.config"
cat >"$box_new/etc/mmperf/config" <<-EOF
	[database]
		conninfo = host=/run/pg dbname=$PGDATABASE
	[host]
		name = box
	[build]
		min-free = 1M
	[detect]
		gaps = false
	[bisect]
		prove-boots = 4
	[mail]
		from = MM performance <mmperf@lab.example.org>
		to = lab@lab.example.org
	[recipe "tiny"]
		config = /etc/mmperf/tiny.config
	[tree "test"]
		url = /srv/tree
		branch = main
		base = base
		recipe = tiny
		poll = 1h
	[machine "m1"]
		class = fake
		driver = fake
	[suite "fault"]
		benchmark = fault
		pass = clean
EOF
# A guest in the runner's sandbox: a boot sector that says 16 to QEMU's exit device, which makes 33.
printf '\260\020\346\364\364' >"$box_new/srv/boot.img"
truncate -s 510 "$box_new/srv/boot.img"
printf '\125\252' >>"$box_new/srv/boot.img"
cat >"$box_new/etc/systemd/system/mmperf-runner.service.d/guest.conf" <<-'EOF'
	[Service]
	ExecStartPre=sh -c 'timeout 60 qemu-system-x86_64 -accel tcg,thread=multi -display none -nodefaults -device isa-debug-exit,iobase=0xf4 -drive format=raw,snapshot=on,file=/srv/boot.img; [ $? = 33 ]'
EOF
# With a sanitizer: a search for leaks at the end wants ptrace(), which the units refuse.
mkdir -p "$box_new/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultEnvironment=ASAN_OPTIONS=detect_leaks=0\n' >"$box_new/etc/systemd/system.conf.d/leaks.conf"
ok 'systemd starts' box_start
ok 'the users' box systemd-sysusers /usr/local/lib/sysusers.d/mmperf.conf
ok 'the directories' box systemd-tmpfiles --create /usr/local/lib/tmpfiles.d/mmperf.conf
ok 'the daemons are started' box systemctl start mmperf-runner mmperf-bisector mmperf-reporter
is 'no unit file has a word that systemd does not know' \
	"$(box journalctl -q --no-pager _PID=1 | grep -E 'mmperf.*(Unknown|Failed to parse|ignoring)')" ''
is 'they are active' "$(box systemctl is-active mmperf-runner mmperf-bisector mmperf-reporter | xargs)" 'active active active'
# A process that systemd has just made is root's until it has become the daemon.
user_of() {
	for _ in $(seq 50); do
		_user=$(box ps -o user:20= -p "$(box systemctl show -P MainPID "mmperf-$1")" | tr -d ' ')
		[ "$_user" = root ] || break
		sleep 0.2
	done
	echo "$_user"
}
is 'none is root' "$(user_of runner) $(user_of bisector) $(user_of reporter)" 'mmperf-runner mmperf mmperf'
ok 'builds and boots are done' wait_sql 180 "select count(*) filter (where kind = 'build') > 1 and count(*) filter (where kind = 'boot') > 3 from jobs where state = 'done'"
is 'builds run as their own user' "$(box stat -c %U /var/cache/mmperf/worktrees/tiny/tree/vmlinux)" mmperf-build
ok 'a culprit is found' wait_sql 400 "select exists (select from bisections b join commits c on c.id = b.culprit where b.state = 'done' and c.oid = '$culprit')"
ok 'and reported' wait_sql 120 "select exists (select from outbox where state = 'sent')"
ok 'the mail lies in the spool' box sh -c 'grep -rl "^Subject:" /var/lib/mmperf/spool'
is 'no attempt was in vain' "$(sql "select distinct outcome from attempts where outcome <> 'ok'")" ''
is 'nobody was started twice' "$(for d in runner bisector reporter; do box systemctl show -P NRestarts mmperf-$d; done | xargs)" '0 0 0'
ok 'they end when told' box systemctl stop mmperf-runner mmperf-bisector mmperf-reporter
is '... in good order' "$(for d in runner bisector reporter; do box systemctl show -P Result mmperf-$d; done | xargs)" 'success success success'

# --- all in one, with a database of its own -----------------------------------------------------------------
sed '/^\[database\]/,/conninfo/d' "$box_new/etc/mmperf/config" >"$dir/config.up"
box sh -c 'cat >/etc/mmperf/config' <"$dir/config.up"
box sh -c 'rm -rf /var/lib/mmperf/* /var/cache/mmperf'
ok 'fresh directories' box systemd-tmpfiles --create /usr/local/lib/tmpfiles.d/mmperf.conf
ok 'mmperf.service' box systemctl start mmperf
up_works() {
	box mmperf --config /etc/mmperf/config status --brief | grep -Eq ' [1-9][0-9]* good boots'
}
_end=$(($(date +%s) + 180))
until up_works >/dev/null 2>&1 || [ "$(date +%s)" -gt "$_end" ]; do sleep 0.5; done
ok 'measures, with a PostgreSQL of its own' up_works
is 'it is active, and was started once' "$(box systemctl is-active mmperf) $(box systemctl show -P NRestarts mmperf)" 'active 0'
is 'nothing of it is root' "$(box ps -eo user:20=,args= | awk '$1 == "root" && /mmperf/ && !/awk/' | wc -l)" 0
ok 'it ends when told' box systemctl stop mmperf
is '... in good order' "$(box systemctl show -P Result mmperf)" success
test_end
