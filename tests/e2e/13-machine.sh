#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real machines without one: what `mmperf machine` says about a machine that cannot be used (a real sshd on this host
# answers), leases by hand, quarantine and its one mail. Nothing here runs as root on the other side.
. "$(dirname "$0")/../lib.sh"
test_begin

port=$(free_port)
login=$(id -un)
[ "$(id -u)" != 0 ] || login=postgres # who has a shell and no sudo
for key in id other host host2; do
	ssh-keygen -q -t ed25519 -N '' -f "$dir/$key"
done
cp "$dir/id.pub" "$dir/authorized_keys"
chmod 644 "$dir/authorized_keys"
cat >"$dir/sshd_config" <<-EOF
	ListenAddress 127.0.0.1
	Port $port
	HostKey $dir/host
	PidFile $dir/sshd.pid
	AuthorizedKeysFile $dir/authorized_keys
	StrictModes no
	UsePAM $([ "$(id -u)" = 0 ] && echo yes || echo no)
	PasswordAuthentication no
EOF
pin() { # key file
	echo "box $(cut -d' ' -f1,2 "$dir/$1.pub")" >"$dir/known_hosts"
}
use_key() {
	cat >"$dir/ssh_config" <<-EOF
		Host box
			HostName 127.0.0.1
			Port $port
			User $login
			HostKeyAlias box
			IdentityFile $dir/$1
			IdentitiesOnly yes
	EOF
}
check() {
	mmperf machine check box --no-jump >"$dir/out" 2>&1
	echo "$? $(cat "$dir/out")"
}

{
	settings_head
	cat <<-EOF
		[machine "dummy"]
			class = dummies
			driver = fake
			owner = Lab Owner <owner@lab.example>
	EOF
} >"$dir/config"

# --- add -------------------------------------------------------------------------------------------
use_key id
pin host
ok "a machine is added" mmperf machine add box --ssh box --class metal --known-hosts "$dir/known_hosts"
like "the settings hold it" "$(cat "$dir/config")" '^\[machine "box"\]$'
printf '\tssh-config = %s\n\ttarget-dir = %s\n' "$dir/ssh_config" "$dir/target" >>"$dir/config"
like "the same name again is refused" "$(mmperf machine add box 2>&1)" 'there is a \[machine "box"\] in .* already'
like "so is a name that would end its line" "$(mmperf machine add 'a"]b' 2>&1)" 'names are letters'
is "... with status 2" "$(mmperf machine add 'a b' >"$dir/out" 2>&1; echo $?)" 2
like "a verb that is none" "$(mmperf machine frob box 2>&1)" 'there is no verb "frob"; there are: '

# --- check: one clear line for each thing -------------------------------------------------------------
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
like "nobody is there" "$(check)" '^1 BAD +ssh +ssh to box: nothing listens on its ssh port'
"$(command -v sshd || echo /usr/sbin/sshd)" -f "$dir/sshd_config" -E "$dir/sshd.log"
trap 'kill "$(cat "$dir/sshd.pid" 2>/dev/null)" 2>/dev/null; _finish' EXIT
pin host2
like "another host key than the pinned one" "$(check)" '^1 BAD +ssh .*its host key is not the pinned one: .*known-hosts'
: >"$dir/known_hosts"
like "a host key that nobody pinned" "$(check)" '^1 BAD +ssh .*its host key is not known: .*ssh-keygen -l'
is "... was not learnt" "$(cat "$dir/known_hosts")" ''
pin host
use_key other
like "a key that it does not take" "$(check)" '^1 BAD +ssh .*it refuses our key: .*authorized_keys'
# A machine that comes up: what was sent to it first is lost, and ssh alone would give up after 5 s.
cat >"$dir/proxy" <<-'EOF'
	[ -e "$1" ] || { : >"$1"; exec sleep 60; }
	exec 3<>"/dev/tcp/$2/$3"
	cat <&3 &
	exec cat >&3
EOF
use_key id
printf '\tProxyCommand bash %s %s %%h %%p\n' "$dir/proxy" "$dir/lost" >>"$dir/ssh_config"
like "one whose first answer is lost is asked again meanwhile" "$(check)" 'ok +ssh +it answers'
ok "... it was lost" [ -e "$dir/lost" ]
use_key id
like "no sudo" "$(check)" '^BAD +root .*sudo'
like "... after ssh was well" "$(cat "$dir/out")" '^ok +ssh +it answers'
is "each trouble is one line" "$(grep -c BAD "$dir/out")" 1
sed -i 's/User .*/User nobody-of-that-name/' "$dir/ssh_config"
like "a user that is not there" "$(check)" '^1 BAD +ssh .*it refuses our key'
use_key id
echo 'Nonsense yes' >>"$dir/ssh_config"
like "an ssh_config that is wrong" "$(check)" '^1 BAD +ssh .*the file of ssh-config is wrong'
use_key id
like "another driver" "$(mmperf machine check dummy 2>&1)" 'only machines of driver kexec are checked'
# What stands there now may be another test's, of a command that has not ended.
all_go() {
	for _left in $(find /tmp -maxdepth 1 -name 'mmperf-machine-*' -newer "$dir/sshd_config"); do
		for _ in $(seq 300); do
			[ -d "$_left" ] || continue 2
			sleep 0.2
		done
		return 1
	done
}
ok "nothing is left in /tmp" all_go

# --- leases by hand --------------------------------------------------------------------------------
daemon runner
ok "the runner takes both machines in" wait_sql 60 "select count(*) = 2 from machines"
sql "insert into leases (machine, token, holder, expires_at) select id, nextval('lease_tokens'), 'somebody', now() + '1 h' from machines where name = 'box'"
like "a machine that somebody holds is not touched" "$(check)" '^1 .*machine box is in use by somebody'
like "show tells who" "$(mmperf machine show box)" '^used by +somebody$'
sql "update leases set expires_at = now() - interval '1 s'"
like "a lease that ran out is none" "$(check)" '^1 ok +ssh'
is "the check gives its own back" "$(sql 'select count(*) from leases')" 0

# --- quarantine, one mail, release ------------------------------------------------------------------
daemon reporter
ok "out of service by hand" mmperf machine quarantine dummy --note 'smells of smoke'
mmperf machine quarantine dummy --note 'still smells' >/dev/null
ok "its owner gets a mail" wait_sql 60 "select count(*) = 1 and bool_and(state = 'sent') from outbox"
sleep 1
is "... and no other one" "$(sql 'select count(*) from outbox')" 1
mail=$(cat "$dir"/state/spool/*.eml)
like "the mail is to the owner" "$mail" '^To: "?Lab Owner"? <owner@lab.example>'
like "... and says why" "$mail" 'smells of smoke'
like "... and what to do" "$mail" 'mmperf machine release dummy'
is "it is no mail about a regression" "$(printf '%s\n' "$mail" | grep -c X-Mmperf-Regression)" 0
sql "update machines set failures = 5 where name = 'dummy'"
ok "taken back" mmperf machine release dummy --note 'new fan'
is "its failures are forgotten" "$(sql "select state, failures from machines where name = 'dummy'")" 'up|0'
like "show tells the story" "$(mmperf machine show dummy)" 'released +new fan'
mmperf machine quarantine dummy --note 'smoke again' >/dev/null
ok "the next time is told again" wait_sql 60 "select count(*) = 2 from outbox where state = 'sent'"
is "a machine that is none" "$(mmperf machine release none >"$dir/out" 2>&1; echo $?)" 2
test_end
