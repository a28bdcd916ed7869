#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Power and serial console by ipmitool of a real machine (a QEMU guest behind OpenIPMI's ipmi_sim), power at the socket by
# HTTP, and by a lab's own program. Nobody sees the password: not in a log, a console, or a process list.
. "$(dirname "$0")/../lib.sh"
test_begin

password=Xq7-secret-Zk
"$root/tests/metal/boot-sector" "$dir/disk" '[    0.000000] Linux version 0.0 (boot sector)'
(umask 077 && echo "$password" >"$dir/password")
setsid "$root/tests/metal/ipmi" "$dir" "$dir/disk" >"$dir/bmc.log" 2>&1 </dev/null &
finish() {
	_was=$?
	[ -z "${spy:-}" ] || kill "$spy"
	[ -z "${listener:-}" ] || kill "$listener" 2>/dev/null
	[ -z "${qemu:-}" ] || kill "$qemu"
	[ -z "${pdu:-}" ] || kill "$pdu"
	kill "$(cat "$dir/pid")" 2>/dev/null
	pkill -f -- "-name $port\$"
	(exit $_was)
	_finish
}
trap finish EXIT
for _ in $(seq 200); do [ -s "$dir/port" ] && break; sleep 0.05; done
port=$(cat "$dir/port")

# Whoever may look at process lists and logs: what they see of the password.
cat >"$dir/spy" <<-'END'
	import glob, sys, time
	def read(name):
	    try:
	        with open(name, "rb") as f:
	            return f.read()
	    except OSError:
	        return b""
	while True:
	    for name in glob.glob("/proc/[0-9]*/cmdline"):
	        words = read(name)
	        if sys.argv[1][::-1].encode() in words:
	            print(words, flush=True)
	        if words.split(b"\0")[0].endswith(b"ipmitool"):
	            print(name, file=sys.stderr, flush=True)
	    time.sleep(0.2)
END
/usr/bin/python3 "$dir/spy" "$(echo "$password" | rev)" >"$dir/seen" 2>"$dir/spied" &
spy=$!

write_config() { # lines for the machine
	settings_head >"$dir/config"
	{
		printf '[machine "m1"]\n\tclass = metal\n\tdriver = fake\n\tpower-delay = 0\n\tbmc-host = 127.0.0.1\n\tbmc-user = op\n'
		printf '\tipmi-options = -C 3 -p %s\n\tbmc-password-file = %s\n' "$port" "$dir/password"
		printf '\t%s\n' "$@"
	} >>"$dir/config"
}
power() {
	mmperf machine power m1 "$@" 2>&1 | tee -a "$dir/said"
}
guest() { # its process, "none" when the machine is off
	pgrep -f -- "-name $port\$" || echo none
}
wait_for() { # FILE PATTERN COUNT
	for _ in $(seq 300); do
		[ "$(grep -c -- "$2" "$1" 2>/dev/null)" -ge "$3" ] && return 0
		sleep 0.1
	done
	echo "# no $3 times '$2' in $1:"
	tail -20 "$1"
	return 1
}

# Power ---------------------------------------------------------------------------------------------------------
write_config 'power = ipmi' 'power-timeout = 60s' 'console = ipmi'
is 'state' "$(power) $(guest)" 'machine m1: power is off none'
is 'on' "$(power on)" 'machine m1: power on is done'
first=$(guest)
like '... really' "$first" '^[0-9]+$'
is 'off' "$(power off) $(guest)" 'machine m1: power off is done none'
is 'off again is no error' "$(power off)" 'machine m1: power off is done'
is 'reset of a machine that is off turns it on' "$(power reset) $(power)" 'machine m1: power reset is done machine m1: power is on'
second=$(guest)

# Console -------------------------------------------------------------------------------------------------------
setsid "$build/mmperf" --config "$dir/config" machine console m1 >"$dir/console" 2>"$dir/console.err" &
listener=$!
ok 'serial over LAN is opened' wait_for "$dir/console" 'SOL Session operational' 1
is 'cycle' "$(power cycle)" 'machine m1: power cycle is done'
third=$(guest)
ok '... is another start' [ "$second" != "$third" ]
ok '... and its console is heard' wait_for "$dir/console" 'Linux version 0.0' 1
is 'reset' "$(power reset)" 'machine m1: power reset is done'
is '... of the same machine' "$(guest)" "$third"
ok '... is heard' wait_for "$dir/console" 'Linux version 0.0' 2
is 'soft: the system obeys' "$(power soft)" 'machine m1: power soft is done'
ok '... is another start' [ "$(guest)" != "$third" ]
ok '... and heard through the same session' wait_for "$dir/console" 'Linux version 0.0' 3
# the client dies; the BMC does not know, and has only one line
pkill -9 -f "^ipmitool.* -p $port sol activate"
ok 'a lost console is said' wait_for "$dir/console" '--- mmperf .*: console lost' 1
ok '... and opened again' wait_for "$dir/console" '--- mmperf .*: console connected again after' 1
ok '... really' wait_for "$dir/console" 'SOL Session operational' 2
kill $listener
wait $listener
listener=
like 'a break by serial over LAN' "$(mmperf machine console m1 --sysrq b 2>&1)" '\[send break\]'
is 'off' "$(power off) $(guest)" 'machine m1: power off is done none'

# ... and by telnet, as terminal servers offer it (ipmi_sim keeps breaks to itself)
line=$(free_port)
nice -n 5 qemu-system-x86_64 -nodefaults -no-user-config -display none -m 32 -machine pc -drive "file=$dir/disk,format=raw,if=ide,snapshot=on" \
	-chardev "socket,id=com1,host=127.0.0.1,port=$line,server=on,wait=off,telnet=on" -serial chardev:com1 2>"$dir/qemu.log" &
qemu=$!
write_config "console = telnet://127.0.0.1:$line"
restarts() { # the BIOS hears no break: again, until the system does
	for _ in $(seq 20); do
		mmperf machine console m1 --sysrq b >"$dir/sysrq" 2>&1
		grep -q '^.    0.000000. Linux version 0.0' "$dir/sysrq" && return 0
	done
	cat "$dir/sysrq"
	return 1
}
ok 'a break by telnet restarts the machine' restarts
like '... which is told' "$(cat "$dir/sysrq")" '--- mmperf .*: sysrq b sent ---'
kill $qemu
qemu=

# Who is refused --------------------------------------------------------------------------------------------------
write_config 'power = ipmi' 'power-timeout = 40s'
sed -i 's/bmc-user = op/bmc-user = nobody/' "$dir/config"
like 'a wrong user' "$(power)" "no session with the BMC: it does not answer, or refuses bmc-user or its password"
write_config 'power = ipmi' 'power-timeout = 40s'
sed -i "s/-p $port/-N 1 -R 1 -p 1/" "$dir/config"
like 'no BMC there' "$(power)" 'power state by ipmi: .*(no session with the BMC|did not end within)'
sed -i 's/-p 1$/-P x/' "$dir/config"
like 'no password among the options' "$(power)" 'ipmi-options: -P may not be given; .*bmc-password-file'

# The socket, by HTTP ---------------------------------------------------------------------------------------------
cat >"$dir/pdu.py" <<'END'
import base64, http.server, sys
home, password = sys.argv[1], sys.argv[2]
state = "on"
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        global state
        right = "Basic " + base64.b64encode(("lab:" + password).encode()).decode()
        word = self.path.rsplit("/", 1)[1].split("?")[0]
        status = 200 if self.headers.get("Authorization") == right else 401
        if status == 200 and word in ("on", "off"):
            state = word
            with open(home + "/pdu.events", "a") as f:
                f.write(word + "\n")
        if word == "full":
            status = 503
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"relay is " + state.encode() if status == 200 else b"no")
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(home + "/pdu.port", "w").write("%d\n" % server.server_address[1])
server.serve_forever()
END
python3 "$dir/pdu.py" "$dir" pdu-secret &
pdu=$!
for _ in $(seq 200); do [ -s "$dir/pdu.port" ] && break; sleep 0.05; done
(umask 077 && echo pdu-secret >"$dir/pdu.password")
relay=http://127.0.0.1:$(cat "$dir/pdu.port")/power
set -- "pdu-on = $relay/on?hostname=a&port=4" "pdu-off = $relay/off" 'pdu-user = lab' "pdu-password-file = $dir/pdu.password" 'power-timeout = 20s'
write_config 'power = pdu' "$@"
is 'PDU: cycle' "$(power cycle) $(paste -s -d ' ' "$dir/pdu.events")" 'machine m1: power cycle is done off on'
is 'PDU: it cannot be asked' "$(power)" 'machine m1: power is unknown'
write_config 'power = pdu' "$@" "pdu-state = $relay/state" 'pdu-state-on = relay is on'
like 'PDU: what it cannot' "$(power soft)" 'a PDU only switches'
is 'PDU: it can be asked' "$(power) $(power off) $(power)" \
	'machine m1: power is on machine m1: power off is done machine m1: power is off'
write_config 'power = pdu' "$@"
sed -i 's|/off$|/full|' "$dir/config"
like 'PDU: refused' "$(power off)" 'power off: pdu: the PDU answers HTTP 503: no'
(umask 077 && echo wrong >"$dir/pdu.password")
like 'PDU: wrong password' "$(power on)" 'the PDU answers HTTP 401: correct pdu-user or pdu-password-file'

# Drivers in turn, the last of them the lab's own program --------------------------------------------------------------
cat >"$dir/lab" <<-'END'
	#!/bin/sh
	echo "$MMPERF_MACHINE $*" >>"$0.log"
	case $2 in
	state) cat "$0.state" ;;
	on | off) echo "$2" >"$0.state" ;;
	nmi) echo 'no such wire'; exit 1 ;;
	*) exit 2 ;;
	esac
END
chmod 755 "$dir/lab"
echo on >"$dir/lab.state"
write_config 'power = pdu' 'power = exec' "power-command = $dir/lab place7" "$@"
is 'exec: when the one before fails' "$(power off)" 'machine m1: power off is done'
is '... with verb and machine' "$(grep -v state "$dir/lab.log")" 'm1 place7 off'
is '... asked for its state' "$(power)" 'machine m1: power is off'
: >"$dir/lab.log"
is '... a verb that it has not is made of others' "$(power cycle --by exec) $(grep -v state "$dir/lab.log" | xargs)" \
	'machine m1: power cycle is done m1 place7 cycle m1 place7 on'
like '... all that failed is told' "$(power nmi)" 'power nmi: pdu: a PDU only switches; exec: .*lab nmi ended with status 1: no such wire'
like '... an unknown driver' "$(power on --by smoke)" 'no power driver "smoke"; it has: pdu, exec'
write_config 'power = smoke'
like 'an unknown driver in the settings' "$(power)" 'there is no power driver "smoke"; there are: redfish, ipmi, pdu, exec'
write_config 'power = exec' 'power-command = no-such-tool x'
like 'a program that is missing' "$(power)" 'power-command: no-such-tool is not installed'
write_config 'power-timeout = 5s'
like 'no power control at all' "$(power on)" 'm1 has no power control: set power'

# Secrets ---------------------------------------------------------------------------------------------------------
kill $spy
spy=
ok 'the process list was looked at while ipmitool ran' test -s "$dir/spied"
is 'the password is in no process list' "$(cat "$dir/seen")" ''
is '... and in no log, console or answer' \
	"$(grep -rlF -e "$password" -e pdu-secret "$dir" | grep -v '/password$\|/pdu.password$\|/ipmi/\|/spy$')" ''
test_end
