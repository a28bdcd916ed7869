#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What runs on a test machine, on the kernel that runs here: knobs that come back, lock waits that are told right. Alone: other
# tests run agents, too, and the knobs are the machine's.
. "$(dirname "$0")/../lib.sh"
if [ "$(id -u)" != 0 ]; then
	echo '1..0 # skip knobs and BPF need root'
	exit 0
fi
test_begin
bench=$build/bench

knobs() {
	for f in /proc/sys/kernel/randomize_va_space /proc/sys/vm/overcommit_memory /proc/sys/vm/compaction_proactiveness \
		/sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs; do
		[ ! -f $f ] || echo "$f $(cat $f)"
	done
}
lines() { # TYPE: of the agent's answer
	grep "\"type\":\"$1\"" "$dir/out"
}
changed() {
	[ "$(knobs)" != "$before" ]
}
await() {
	_end=$(($(date +%s) + 60))
	until "$@"; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 0.05
	done
}
restored() {
	[ "$(knobs)" = "$before" ]
}

# --- one job ----------------------------------------------------------------------------------------
cat >"$dir/job" <<-'EOF'
	{"v": 1, "nonce": "n1", "suites": [{"seq": 0, "suite": "f", "benchmark": "fault", "passes": ["clean", "instrumented"],
	 "params": {"threads": "2", "size": "1M", "rounds": "4"}}]}
EOF
before=$(knobs)
ok "pre-flight is told" "$bench/mmperf-agent" --preflight
is "... and changes nothing" "$(knobs)" "$before"
ok "a job is done" sh -c "'$bench/mmperf-agent' --job '$dir/job' >'$dir/out'"
is "... and every knob is as before" "$(knobs)" "$before"
like "the environment names what must be equal" "$(lines environment)" '"microcode":.*"mitigations":.*"options":.*"spinlocks":'
like "the state names what nobody controls" "$(lines state)" '"agent":.*"knobs":.*"uncontrolled":'
like "the instrumented run tells how much is not known" "$(lines lock_health)" '"unmatched_ns":[0-9]'

# --- kill -9 ----------------------------------------------------------------------------------------
sed 's/"rounds": "4"/"rounds": "1000000"/' "$dir/job" >"$dir/long"
"$bench/mmperf-agent" --job "$dir/long" >/dev/null 2>&1 &
agent=$!
ok "a job changes knobs" await changed
kill -9 $agent
wait $agent 2>/dev/null
ok "kill -9 of the agent: every knob comes back" await restored

# --- lock waits -------------------------------------------------------------------------------------
"$bench/lockwatch" -- sh -c 'exit 7' >"$dir/lw" 2>&1
is "lockwatch ends as the command does" $? 7
like "... and says what the numbers are worth" "$(cat "$dir/lw")" 'waits began'
"$bench/lockwatch" --json -- true >"$dir/lw"
like "... as JSON, too" "$(cat "$dir/lw")" '"type":"lock_health"'
like "where spinlocks are not seen that is said" "$(cat "$dir/lw")" '"measurable":(true|false,.*"reason":"[^"])'
"$bench/lockwatch" --json -- sh -c 'yes | head -c 100000000 | tail -c 1' >"$dir/lw"
is "locks of pipes have a name of their own" "$(grep -c '"class":"other:anon_pipe' "$dir/lw") $(grep -c '"class":"pipe"' "$dir/lw" |
	sed 's/[1-9].*/some/')" '0 some'
"$bench/lockwatch" --delay nolock=1us -- true >"$dir/lw" 2>&1
is "an impossible delay is a usage error" "$? $(grep -c 'only lruvec and zone' "$dir/lw")" '2 1'
# The machine may be busy: what is known is known by clocks of user space, and a wait may be cut by others' work.
self_test() {
	for _try in 1 2 3; do
		"$bench/lockwatch" --self-test accounting && return 0
	done
	return 1
}
ok "waits of known length are told within 5 %" self_test
test_end
