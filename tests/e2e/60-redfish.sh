#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Power by Redfish of a real machine (a QEMU guest behind tests/metal/redfish), with a BMC that refuses, lies, forgets and
# is busy in each way that BMCs do.
. "$(dirname "$0")/../lib.sh"
test_begin

"$root/tests/metal/boot-sector" "$dir/disk" '[    0.000000] Linux version 0.0 (boot sector)'
echo 'correct horse battery' >"$dir/password"
chmod 600 "$dir/password"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key" -out "$dir/cert" -days 2 -subj /CN=bmc1 >/dev/null 2>&1
cat "$dir/key" "$dir/cert" >"$dir/pem"
pin=sha256//$(openssl x509 -in "$dir/cert" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64)
"$root/tests/metal/redfish" "$dir" "$dir/disk" "$dir/pem" >"$dir/bmc.log" 2>&1 &
bmc=$!
trap 'kill $bmc; _finish' EXIT
for _ in $(seq 200); do [ -f "$dir/port" ] && break; sleep 0.05; done
url=https://127.0.0.1:$(cat "$dir/port")

write_config() { # lines for the machine
	settings_head >"$dir/config"
	{
		printf '[machine "m1"]\n\tclass = metal\n\tdriver = fake\n\tpower = redfish\n\tpower-delay = 0\n\tbmc-user = op\n'
		printf '\tbmc-url = %s\n\tbmc-password-file = %s\n' "$url" "$dir/password"
		printf '\t%s\n' "$@"
	} >>"$dir/config"
}
faults() { # line...
	printf '%s\n' "$@" >"$dir/faults"
	: >"$dir/log"
	: >"$dir/events"
}
power() {
	mmperf machine power m1 "$@" 2>&1
}
happened() {
	paste -s -d ' ' "$dir/events"
}
posts() {
	grep -c '^POST .*Reset.odd' "$dir/log"
}
# what is real, not what the BMC says
state() {
	pgrep -f "unix:$dir/qmp" >/dev/null && echo on || echo off
}

# A BMC as it should be -------------------------------------------------------------------------------------
write_config "bmc-pin = $pin" 'power-timeout = 20s'
faults ''
is 'state' "$(power)" 'machine m1: power is off'
is 'on' "$(power on)" 'machine m1: power on is done'
is '... really' "$(state) $(happened)" 'on on'
is '... and told' "$(power --json)" '{
  "machine": "m1",
  "power": "on"
}'
faults ''
is 'reset' "$(power reset) $(happened)" 'machine m1: power reset is done reset'
faults ''
is 'cycle: off, then on' "$(power cycle) $(happened) $(state)" 'machine m1: power cycle is done off on on'
faults ''
is 'nmi' "$(power nmi) $(happened)" 'machine m1: power nmi is done nmi'
sleep 1.5 # the system must be up to obey
faults ''
soft=$(power soft)
[ "$soft" = 'machine m1: power soft is done' ] || soft=$(power soft) # what is not up yet does not hear it
is 'soft: the system goes down by itself' "$soft $(happened) $(state)" 'machine m1: power soft is done off on on'
faults ''
is 'off' "$(power off) $(happened) $(state)" 'machine m1: power off is done off off'
faults ''
is 'reset of a machine that is off turns it on' "$(power reset) $(happened)" 'machine m1: power reset is done on'
is 'off again' "$(power off)" 'machine m1: power off is done'

# Finding the way ---------------------------------------------------------------------------------------------
faults 'info' 'only On ForceOff'
is 'ActionInfo is read' "$(power on)" 'machine m1: power on is done'
is '... and without a reset on offer it is a cycle' "$(power reset) $(tail -2 "$dir/events" | xargs)" \
	'machine m1: power reset is done off on'
faults 'mute'
is 'nothing advertised: tried anyway' "$(power reset) $(happened)" 'machine m1: power reset is done reset'
faults 'systems 3'
like 'several systems: none is guessed' "$(power)" 'the BMC has 3 systems: /redfish/v1/Systems/S1, .*: set bmc-system'
write_config "bmc-pin = $pin" 'power-timeout = 20s' 'bmc-system = /redfish/v1/Systems/S1'
is '... one is set' "$(power)" 'machine m1: power is on'
faults 'foreign'
like 'the password follows no foreign address' "$(power reset)" 'names an address that is not its own: https://elsewhere'

# A BMC that refuses and lies ---------------------------------------------------------------------------------
write_config "bmc-pin = $pin" 'power-timeout = 60s'
faults 'deny ForceRestart'
is 'advertised but refused: the next type' "$(power reset) $(posts)" 'machine m1: power reset is done 2'
faults 'deny ForceRestart PowerCycle'
is '... then off and on' "$(power reset) $(happened)" 'machine m1: power reset is done off on'
faults 'only On ForceOff ForceRestart'
like 'a soft restart is never done the hard way' "$(power soft)" 'power soft: redfish: .*does not offer GracefulShutdown'
is '... nothing happened' "$(happened)$(posts)" 0
faults 'conflict'
like '409' "$(power reset)" 'ForceRestart: the BMC answers HTTP 409: the resource is in use'
faults 'task 3'
is '202: the task is followed' "$(power cycle) $(happened) $(grep -c 'GET .*Monitor' "$dir/log")" \
	'machine m1: power cycle is done off on 6'
faults 'task-fails'
like '... to its failure' "$(power reset)" "the BMC's task ended as Exception"
faults 'task-lost'
is '202 without a place to look: PowerState tells' "$(power cycle) $(happened)" 'machine m1: power cycle is done off on'
faults 'busy 1'
is '503 is asked again' "$(power)" 'machine m1: power is on'

# ... and never ends -------------------------------------------------------------------------------------------
write_config "bmc-pin = $pin" 'power-timeout = 3s'
faults 'silent ForceOff'
like '204 and nothing happens: seen, in bounded time' "$(power off)" \
	'power off: redfish: the order was taken, but after 3 s power is still on'
faults 'silent GracefulShutdown'
like '... also for a system that hangs' "$(power soft)" 'shutdown: the order was taken, but after 3 s power is still on'
faults 'silent ForceOff'
like '... and within a cycle' "$(power cycle)" 'power cycle: redfish: off: the order was taken, but after'
faults 'task 100000'
like 'a task without end is left' "$(power reset)" "the BMC's task: not done within power-timeout .3 s"
faults 'busy 100000'
like 'busy for ever' "$(power)" 'busy for all of power-timeout .*HTTP 503: the service is starting'
faults 'slow 30'
like 'a BMC that hangs' "$(power)" 'no complete answer in time'

# One-shot overrides that somebody left ----------------------------------------------------------------------
write_config "bmc-pin = $pin" 'power-timeout = 60s'
faults 'override' 'stale 1'
like 'an override is cleared before the reset' "$(power reset)" 'power reset is done'
is '... past a stale ETag' "$(happened)" 'override Disabled reset'
is '... fetched anew' "$(grep -c '^PATCH .* 412' "$dir/log") $(grep -c '^PATCH .* 200' "$dir/log")" '1 1'

# Sessions -----------------------------------------------------------------------------------------------------
write_config "bmc-pin = $pin" 'power-timeout = 60s' 'bmc-auth = session'
faults 'sessions 1'
for _ in 1 2 3; do power reset >/dev/null; done
is 'each session is ended' "$(grep -c login "$dir/events") $(grep -c logout "$dir/events")" '3 3'
faults 'sessions 1' 'conflict'
power reset >/dev/null
is '... when the order fails' "$(happened)" 'login logout'
write_config "bmc-pin = $pin" 'power-timeout = 3s' 'bmc-auth = session'
faults 'sessions 1' 'silent all'
power off >/dev/null
is '... when time is over' "$(happened)" 'login logout'
faults 'sessions 0'
like 'no session left' "$(power)" 'sessions may be exhausted: bmc-auth = basic needs none.*HTTP 503: RAC0218'
faults 'no-location'
like 'a session that could not be ended' "$(power)" 'opened a session without Location: set bmc-auth = basic'

# Whom to trust ------------------------------------------------------------------------------------------------
faults ''
write_config 'power-timeout = 3s'
like 'an unknown certificate' "$(power)" 'the server is not the one that is trusted: .*self.signed'
write_config 'power-timeout = 3s' "bmc-pin = sha256//$(printf x | base64)"
like 'another key than the pinned one' "$(power)" 'the server is not the one that is trusted: .*pinned'
write_config "bmc-ca-file = $dir/cert"
like 'a certificate of our CA, but for another name' "$(power)" 'is not the one that is trusted'
write_config "bmc-pin = $pin"
echo wrong >"$dir/other"
chmod 600 "$dir/other"
sed -i "s|bmc-password-file = .*|bmc-password-file = $dir/other|" "$dir/config"
like 'a wrong password' "$(power)" 'user op is refused: correct bmc-user or bmc-password-file'
chmod 644 "$dir/other"
like 'a password for all to read' "$(power)" 'other can be read by others \(mode 0644\): run chmod 600'
rm "$dir/other"
like 'no password file' "$(power)" 'm1: power = redfish: cannot open the password file'
sed -i 's|bmc-url = .*|bmc-url = http://bmc.example|' "$dir/config"
echo x >"$dir/other"
chmod 600 "$dir/other"
like 'no password in the clear' "$(power)" 'a password would cross the network in the clear: use https'
sed -i 's|bmc-url = .*|bmc-url = https://op:secret@bmc.example|' "$dir/config"
like 'no password in the settings' "$(power)" 'bmc-url holds a user name'
like '... which is not repeated' "$(power | grep -c secret)" 0
mkdir "$dir/creds"
echo 'correct horse battery' >"$dir/creds/bmc1"
chmod 640 "$dir/creds/bmc1"
write_config "bmc-pin = $pin"
sed -i 's|bmc-password-file = .*|bmc-password-file = bmc1|' "$dir/config"
is 'a systemd credential' "$(CREDENTIALS_DIRECTORY=$dir/creds power)" 'machine m1: power is on'

# Fencing ------------------------------------------------------------------------------------------------------
sql "insert into hosts (name) values ('testhost');
	insert into classes (name, driver, emulated) values ('metal', 'fake', false);
	insert into machines (name, class, host) select 'm1', c.id, h.id from classes c, hosts h"
write_config "bmc-pin = $pin" 'power-timeout = 10s'
faults ''
like 'a machine in service is not touched' "$(power reset)" 'm1 is in service: first run `mmperf machines offline m1`'
is '... really not' "$(happened)$(posts)" 0
is '... but asked' "$(power)" 'machine m1: power is on'
ok 'out of service' mmperf machines offline m1
sql "insert into jobs (key, kind, purpose, priority, class) select 'j', 'boot', 'detect', 50, id from classes;
	insert into attempts (job, n, host, token, expires_at) select j.id, 1, h.id, 77, now() + interval '1 min' from jobs j, hosts h;
	insert into leases (machine, token, attempt, expires_at) select m.id, 77, a.id, a.expires_at from machines m, attempts a"
like 'nor one whose boot has not ended' "$(power reset)" 'm1 still has a boot that is finished first'
is '... really not' "$(happened)$(posts)" 0
sql 'delete from leases'
is 'then it is' "$(power reset) $(happened)" 'machine m1: power reset is done reset'
test_end
