#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The reporter: one mail and one page for a proved regression, by spool and by a real mail server, whatever breaks.
. "$(dirname "$0")/../lib.sh"
test_begin
python=/usr/bin/python3
spool=$dir/state/spool
pages=$dir/state/pages

fixture() { # EMULATED PRIMARY
	psql -Xq -v ON_ERROR_STOP=1 -v emulated="$1" -v "primary=$2" -f "$root/tests/data/report-fixture.sql"
}
settings() { # lines of [mail]
	settings_head >"$dir/config"
	printf '[report]\n\turl = https://mmperf.example.org/pages\n[mail]\n\tfrom = mmperf <mmperf@example.org>\n' >>"$dir/config"
	for line; do
		printf '\t%s\n' "$line" >>"$dir/config"
	done
}
reporter() {
	timeout 60 "$build/mmperf-reporter" --config "$dir/config" --once >>"$dir/reporter.log" 2>&1
}
again() { # as if nothing had been reported yet
	sql "delete from outbox; update regressions set state = 'proved'"
	rm -rf "$spool"
}
states() {
	sql "select o.state || ' ' || r.state from outbox o join regressions r on r.id = o.regression"
}
count() { # files in a directory, without the port
	find "$1" -name '*.eml' 2>/dev/null | wc -l
}
server() { # MODE
	rm -rf "$dir/smtp"
	mkdir "$dir/smtp"
	$python "$root/tests/smtp-server.py" "$dir/smtp" "$1" &
	smtp_pid=$!
	for _ in $(seq 100); do
		[ -f "$dir/smtp/port" ] && break
		sleep 0.1
	done
	port=$(cat "$dir/smtp/port")
}
server_end() {
	kill "$smtp_pid" 2>/dev/null
	wait "$smtp_pid" 2>/dev/null
}
fields() {
	$python "$root/tests/mail-fields.py" "$@"
}

# ---- the spool
fixture false latency
settings "to = mm list <linux-mm@example.org>"
ok 'the reporter does its work once' reporter
is 'the mail is sent, the regression reported' "$(states)" 'sent reported'
is 'one file in the spool' "$(count "$spool")" 1
id=$(sql 'select message_id from outbox')
mail=$spool/$id.eml
ok 'it is called after its Message-ID' test -f "$mail"
is 'another parser finds no defect' "$(fields "$mail" defects)" ''
is 'and these headers only' "$(fields "$mail" names)" "Date From To Subject Message-ID In-Reply-To References User-Agent \
X-Mmperf-Regression Auto-Submitted MIME-Version Content-Type Content-Transfer-Encoding"
is 'the subject reads as it was meant' "$(fields "$mail" subject)" "$(sql 'select subject from outbox')"
like 'newlines in it are shown' "$(fields "$mail" subject)" '\\r\\nB\.\.\."\): fault.latency \+12.3 % regression$'
is 'threaded under the patch' "$(fields "$mail" in-reply-to)" '<20260301.ada@example.org>'
is 'from and to' "$(fields "$mail" from to)" "mmperf <mmperf@example.org>
mm list <linux-mm@example.org>"
fields "$mail" body >"$dir/body"
like 'the body names the author in his letters' "$(cat "$dir/body")" '^author: Ada Örn "A." <script> <ada@example.org>$'
like 'and the interval' "$(cat "$dir/body")" '^  fault.latency .*\+12\.3 % +\+10\.1 \.\. \+14\.6 % +5\+5  worse$'
like 'and where contention moved' "$(cat "$dir/body")" '^    folio_batch_move_lru .* ns .* ns '
ok 'its lines are short' test "$(awk '{ print length($0) }' "$mail" | sort -n | tail -1)" -le 998

page=$pages/regression-1.html
ok 'the page is there' test -f "$page"
ok 'and well-formed' xmllint --noout "$page" "$pages/index.html" "$pages/history.html"
like 'the index links it' "$(cat "$pages/index.html")" 'href="regression-1.html"'
is 'no script in it' "$(grep -c '<script' "$page")" 0
is 'nothing from elsewhere in it' "$(grep -Eic '(src|url)[ ]*[=(]' "$page")" 0
reporter
is 'a second start sends nothing' "$(count "$spool") $(states)" '1 sent reported'

# ---- what a crash leaves
sql "update outbox set state = 'sending'; update regressions set state = 'proved'"
reporter
is 'found in sending, file in the spool: sent' "$(count "$spool") $(states)" '1 sent reported'
rm -rf "$spool"
sql "update outbox set state = 'sending'; update regressions set state = 'proved'"
reporter
is 'found in sending, meant for the spool, no file: written' "$(count "$spool") $(states)" '1 sent reported'

# ---- a mail server
again
server take
settings "to = mm list <linux-mm@example.org>" "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
ok 'with a server' reporter
is 'the server has it once' "$(count "$dir/smtp") $(states)" '1 sent reported'
is 'the spool has not' "$(count "$spool")" 0
is 'the envelope' "$(grep -a '^X-' "$dir/smtp/1.eml" | head -3 | tr -d '\r')" "X-From: mmperf@example.org
X-To: linux-mm@example.org
X-To: two@example.org"
is 'what came is what was stored' "$(sed '/^X-From:/d; /^X-To:/d' "$dir/smtp/1.eml" | tr -d '\r')" \
	"$(sql 'select body from outbox' | tr -d '\r')"
reporter
is 'a second start sends nothing' "$(count "$dir/smtp") $(states)" '1 sent reported'
sql "update outbox set state = 'sending'; update regressions set state = 'proved'"
reporter
is 'found in sending: unsure, not sent again' "$(count "$dir/smtp") $(states)" '1 unsure proved'
reporter
is 'and it stays so' "$(count "$dir/smtp") $(states)" '1 unsure proved'
ok 'a person says that it went out' "$build/mmperf-reporter" --config "$dir/config" --mark-sent "$(sql 'select message_id from outbox')"
is 'then it is reported' "$(states)" 'sent reported'
like 'a word about an unknown mail is refused' \
	"$("$build/mmperf-reporter" --config "$dir/config" --send-again nosuch@example.org 2>&1; echo "status $?")" 'status 2'
server_end

# ---- the server dies after the text
again
server die
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
reporter
is 'the server took the text and died: unsure' "$(count "$dir/smtp") $(states)" '1 unsure proved'
server_end
server take
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
reporter
is 'never sent again by itself' "$(count "$dir/smtp") $(states)" '0 unsure proved'
ok 'a person has it sent again' "$build/mmperf-reporter" --config "$dir/config" --send-again "$(sql 'select message_id from outbox')"
reporter
is 'then it is' "$(count "$dir/smtp") $(states)" '1 sent reported'
server_end

# ---- refusals
again
server later
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
reporter
is 'refused for now: queued again, for later' "$(states) $(sql "select tries || ' ' || (not_before > now() + interval '50 s') from outbox")" \
	'queued proved 1 true'
like 'with the answer of the server' "$(sql 'select error from outbox')" '451 4.3.0 try again later'
reporter
is 'not before its time' "$(count "$dir/smtp")" 1
server_end
sql "update outbox set not_before = now()"
reporter
is 'no server there: queued again' "$(states) $(sql 'select tries from outbox')" 'queued proved 2'
server never
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
sql "update outbox set not_before = now(), tries = 4"
reporter
is 'refused for good, tried often enough: for a person' "$(states)" 'refused proved'
server_end

# ---- emulated machines
again
sql "update classes set emulated = true"
server take
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
reporter
is 'emulated, no lab address: the spool' "$(count "$dir/smtp") $(count "$spool") $(states)" '0 1 sent reported'
again
settings "to = two@example.org" "lab = lab@example.org" "server = smtp://127.0.0.1:$port" "starttls = false"
reporter
is 'emulated: the lab only' "$(grep -a '^X-To' "$dir/smtp/1.eml" | tr -d '\r')" 'X-To: lab@example.org'
server_end
sql "update classes set emulated = false"

# ---- a full disk
again
settings "to = two@example.org"
rm -rf "$pages"
mkdir -p "$spool"
cat >"$dir/full.sh" <<-END
	mount -t tmpfs -o size=16k none "$spool" || exit 9
	dd if=/dev/zero of="$spool/fill" bs=4k 2>/dev/null
	"$build/mmperf-reporter" --config "$dir/config" --once
	ls -A "$spool" >"$dir/full.ls"
END
unshare -rm sh "$dir/full.sh" >"$dir/full.log" 2>&1
like 'a full disk is said' "$(cat "$dir/full.log")" 'No space left on device'
is 'nothing half-written' "$(cat "$dir/full.ls")" 'fill'
is 'and it is tried again' "$(states)" 'queued proved'
sql "update outbox set not_before = now()"
reporter
is 'when there is room it is written' "$(count "$spool") $(states)" '1 sent reported'

# ---- the daemon
again
daemon reporter
ok 'the daemon reports by itself' wait_sql 20 "select count(*) = 1 from outbox where state = 'sent'"
like 'a second one does not meddle' "$(timeout 20 "$build/mmperf-reporter" --config "$dir/config" --once 2>&1; echo "status $?")" 'another reporter'
sql "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mmperf-reporter'" >/dev/null
again
ok 'it comes back after the database dropped it' wait_sql 30 "select count(*) = 1 from outbox where state = 'sent'"
kill -TERM "$pid_reporter"
wait "$pid_reporter"
is 'it ends when it is told' "$?" 0

# ---- bad settings
settings "to = nobody"
like 'a bad address is said' "$("$build/mmperf-reporter" --config "$dir/config" --once 2>&1; echo "status $?")" "mail.to: 'nobody' is not a mail address"
like 'with status 2' "$("$build/mmperf-reporter" --config "$dir/config" --once 2>&1; echo "status $?")" 'status 2'

# ---- contention alone
again
settings "to = two@example.org"
sql "update regression_series rs set is_primary = m.name = 'lock.lruvec.wait_per_op',
	effect = case when m.name in ('latency', 'throughput') then 0.004 else effect end,
	lo = case when m.name in ('latency', 'throughput') then -0.011 else lo end,
	hi = case when m.name in ('latency', 'throughput') then 0.019 else hi end,
	significant = case when m.name in ('latency', 'throughput') then false else significant end
	from series s join metrics m on m.id = s.metric where s.id = rs.series"
reporter
like 'contention only, with what it can cost' "$(fields "$spool"/*.eml body)" '^Contention only: lock waits grew'
like 'the subject names the lock' "$(fields "$spool"/*.eml subject)" 'fault.lock.lruvec.wait_per_op \+475.8 % regression'
# ---- a server that wants a password, which nobody else sees
word=Qv3-secret-Tn
(umask 077 && echo "$word" >"$dir/login")
again
server auth
settings "to = two@example.org" "server = smtp://127.0.0.1:$port" "starttls = false" "user = lab" "password-file = $dir/login"
cat >"$dir/spy" <<-'EOF'
	while [ -f "$2" ]; do
		cat /proc/[0-9]*/cmdline 2>/dev/null | grep -ac -- "$1"
		sleep 0.05
	done
EOF
sh "$dir/spy" "$(echo "$word" | sed 's/^Q/[Q]/')" "$dir/smtp/port" >"$dir/seen" 2>&1 &
spy=$!
ok 'it logs in' reporter
is 'and the mail is taken' "$(count "$dir/smtp") $(states)" '1 sent reported'
rm "$dir/smtp/port"
wait $spy
is 'the password is in no process list' "$(sort -u "$dir/seen")" 0
server_end
pg_dump "$PGDATABASE" >"$dir/dump"
is 'it is in no log, page, mail or row' "$(grep -rlF -e "$word" "$dir" | grep -v '/login$')" ''
test_end
