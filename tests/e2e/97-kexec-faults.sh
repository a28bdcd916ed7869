#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine of driver kexec, played by a namespace (tests/fake-metal.sh): kill -9 of the runner at each state of a boot, and
# machines and settings that cannot be used.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-metal.sh"
metal_begin

ok "a machine is played" metal_make
metal_tree good silent better
commit() { # kind
	sed -n "$(printf 'good\nsilent\nbetter\n' | grep -nx "$1" | cut -d: -f1)p" "$dir/tree.commits"
}
{
	settings_head
	metal_settings 12 8
	printf '\tpower-timeout = 5s\n'
	kernel_lab played 1 8M
	printf '[health]\n\tfirmware-every = 0\n'
} >"$dir/config"
metal_power on
lab_starts
ok "its routine boots go well" wait_sql 900 "select count(*) = 2 from jobs where purpose = 'detect' and kind = 'boot' and state = 'done'"

# --- kill -9 of the runner ----------------------------------------------------------------------------------
# Whatever was being done: after the restart the machine is found as it is, and one result comes of it.
loaded() { read -r _word <"$box/kernel/kexec_loaded" && [ "$_word" = 1 ]; }
jumped() {
	read -r _line <"$box/cmdline"
	case "$_line " in *" mmperf.token=$token "*) ;; *) return 1 ;; esac
}
pushed() { [ -e "$box/target/kernel" ]; }
said() { grep -q "\"type\":\"$1\"" "$dir/state/attempts/$token/lines" 2>/dev/null; }
greeted() { said hello; }
measuring() { said run; }
ended() { said end; }
recovering() { [ -s "$box/done" ]; }
running() {
	token=$(sql "select token from attempts a join jobs j on j.id = a.job where j.request = $id and a.outcome = 'running' limit 1")
	[ -n "$token" ]
}
reach() { # state
	for _try in $(seq 900); do
		# an attempt can end, and another one begin
		if [ $((_try % 40)) = 1 ] || [ -z "$token" ]; then running || { sleep 0.1; continue; }; fi
		! "$1" || return 0
		sleep 0.05
	done
	echo "state $1 was never reached"
	return 1
}
killed_while() { # state, kind, job's end
	# a canary follows each recovery
	wait_sql 120 "select not exists (select from jobs where state in ('queued', 'running')) and not exists (select from leases)"
	: >"$box/done"
	mmperf run "$(commit "$2")" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	token=''
	ok "kill -9 while $1" reach "$1"
	kill9 runner
	# a kernel is tried twice (11-runner-faults), which takes long for a silent one
	[ "$3" = 'done' ] || sql "update jobs set max_attempts = 1 where request = $id"
	daemon runner
	ok "... the job ends as it should" wait_sql 240 "select count(*) = 1 and bool_and(state = '$3') from jobs where request = $id and kind = 'boot' and ended_at is not null"
	is "... once" "$(sql "select count(*) from boots b join attempts a on a.id = b.attempt join jobs j on j.id = a.job where j.request = $id and b.outcome = 'ok'")" "$([ "$3" = done ] && echo 1 || echo 0)"
	ok "... and nobody holds the machine, which is in service" wait_sql 120 "select bool_and(state = 'up' and failures = 0) and not exists (select from leases) from machines"
}
for at in pushed loaded jumped greeted measuring ended; do
	killed_while $at good 'done'
done
killed_while recovering silent failed
like "the next boot starts from its own kernel or a healthy one" "$(mmperf run "$(commit better)" -n 1 2>&1)" 'fault +clean +fault_time'
is "no agent is left" "$(pgrep -fc 'agent --job job.json')" 0

# --- what cannot be used, in one line -----------------------------------------------------------------------
in_box() {
	nsenter --mount="/proc/$(cat "$box/holder")/ns/mnt" -- "$@"
}
refused() { # what, pattern, command that makes it so
	$3
	mmperf run "$(commit good)" -n 1 --no-wait >"$dir/out" 2>&1
	id=$(sql 'select max(id) from requests')
	wait_sql 120 "select exists (select from attempts a join jobs j on j.id = a.job where j.request = $id and j.kind = 'boot' and a.outcome <> 'running')" >/dev/null
	like "$1: the run says" "$(sql "select a.error from attempts a join jobs j on j.id = a.job where j.request = $id and j.kind = 'boot' and a.outcome <> 'running' order by a.id limit 1")" "$2"
	sql "update requests set state = 'cancelled', ended_at = now() where id = $id; update jobs set state = 'cancelled', ended_at = now() where request = $id and state in ('queued', 'running')"
	wait_sql 60 "select not exists (select from leases)" >/dev/null
	mmperf machine quarantine box --note test >/dev/null
	$3
	mmperf machine check box --no-jump >"$dir/out" 2>&1
	like "$1: so does the check" "$(cat "$dir/out")" "BAD.*$2"
	mmperf machine release box >/dev/null
}
metal_power cycle
cp "$box/known_hosts" "$box/id.pub" "$dir"
echo "box $(cut -d' ' -f1,2 "$box/id.pub")" >"$box/known_hosts"
refused 'another host key' 'its host key is not the pinned one' true
cp "$dir/known_hosts" "$box/known_hosts"
cp "$box/host.pub" "$box/id.pub"
refused 'a key that it does not take' 'it refuses our key' true
cp "$dir/id.pub" "$box/id.pub"
refused 'a kernel without kexec' 'has no kexec: boot one with CONFIG_KEXEC' "rm -f $box/kernel/kexec_loaded"
echo 0 >"$box/kernel/kexec_loaded"
mkdir -p "$box/kernel/security"
echo 'none [integrity] confidentiality' >"$box/kernel/security/lockdown"
refused 'a locked-down kernel' 'is locked down \(integrity\).*Secure Boot' true
rm "$box/kernel/security/lockdown"
in_box mount -t tmpfs -o size=8M tmpfs "$box/target"
refused 'a full target-dir' 'has [0-9]+ MiB free: no space left on device' true
in_box umount "$box/target"

# a login that is not root's
printf '#!/bin/sh\necho 1000\n' >"$box/who"
printf '#!/bin/sh\necho "sudo: a password is required" >&2\nexit 1\n' >"$box/sudo"
chmod 755 "$box/who" "$box/sudo"
in_box mount --bind "$box/who" "$(command -v id)"
[ ! -e /usr/bin/sudo ] || in_box mount --bind "$box/sudo" /usr/bin/sudo
refused 'no sudo' '(it has no sudo: install it|sudo asks for a password: allow)' true
in_box umount "$(command -v id)"
[ ! -e /usr/bin/sudo ] || in_box umount /usr/bin/sudo

# --- a BMC that refuses its password, which nobody else sees ------------------------------------------------------------
cat >"$dir/bmc.py" <<-'EOF'
	import http.server, sys
	class Bmc(http.server.BaseHTTPRequestHandler):
	    def refuse(self):
	        self.send_response(401)
	        self.send_header("Content-Length", "0")
	        self.end_headers()
	    do_GET = do_POST = do_PATCH = refuse
	    def log_message(self, *words): pass
	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bmc)
	print(server.server_port, file=open(sys.argv[1], "w"), flush=True)
	server.serve_forever()
EOF
python3 "$dir/bmc.py" "$dir/bmc.port" &
bmc=$!
for _ in $(seq 100); do
	[ ! -s "$dir/bmc.port" ] || break
	sleep 0.1
done
secret=Vq8-bmc-secret-Lw
(umask 077 && echo $secret >"$dir/bmc.password")
cat >"$dir/spy" <<-'EOF'
	while sleep 0.05; do
		grep -alE "$1" /proc/[0-9]*/cmdline 2>/dev/null
	done
EOF
sh "$dir/spy" '[V]q8-bmc-secret' >"$dir/seen" &
spy=$!
trap '_was=$?; kill $bmc $spy; metal_gone; (exit $_was); _finish' EXIT
stop_daemon runner
sed -i "s|^power = exec|power = redfish\\nbmc-url = http://127.0.0.1:$(cat "$dir/bmc.port")\\nbmc-cleartext = true\\nbmc-user = op\\nbmc-password-file = $dir/bmc.password|" "$dir/config"
daemon runner
wait_sql 60 "select bool_and(state = 'up') from machines" >/dev/null
mmperf machine quarantine box --note test >/dev/null
mmperf machine check box --no-jump >"$dir/out" 2>&1
like 'a BMC that refuses: the check says' "$(cat "$dir/out")" 'BAD +power .*user op is refused: correct bmc-user or bmc-password-file'
mmperf machine release box >/dev/null
metal_power off
mmperf run "$(commit good)" -n 1 --no-wait >"$dir/out" 2>&1
ok '... so does a run that needs it' wait_sql 120 "select exists (select from attempts where error ~ 'the machine did not come back .*user op is refused: correct bmc-user or bmc-password-file')"
sql "update jobs set state = 'cancelled', ended_at = now() where state in ('queued', 'running')"
mmperf machine quarantine box --note "its BMC" >/dev/null
daemon reporter
wait_sql 60 "select count(*) > 0 and bool_and(state = 'sent') from outbox" >/dev/null
mmperf machine show box >"$dir/out.show" 2>&1
is 'its password is in no process list' "$(cat "$dir/seen")" ''
is '... and in no log, page, mail, artifact or answer' "$(grep -rlF "$secret" "$dir" | grep -v '/bmc.password$')" ''
is '... nor in the database' "$(pg_dump -a 2>/dev/null | grep -cF "$secret")" 0
test_end
