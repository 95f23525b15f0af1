#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The agent ages what is loaded, takes up and drops instances while it runs, ages none that
# another one ages, and leaves no trouble when it is killed.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

agent=
start_agent() {
	"$xdd" agent "$@" >"$tmp/agent" 2>&1 &
	agent=$!
}
end_agent() {
	[ -z "$agent" ] || kill -9 "$agent" 2>/dev/null
}
at_exit end_agent

ager() {
	"$xdd" status "$1" --json 2>/dev/null | json /dev/stdin 'j[0]["ager"]["'"$2"'"]'
}
aged_by() {
	[ "$(ager "$1" pid)" = "$2" ]
}
# words of the filter that are not zero, besides the lines' ticks
words() {
	bpftool -j map dump pinned "$pins/$1/lines" | json /dev/stdin \
		'sum(b != "0x00" for e in j for b in e["value"][4:])'
}
words_are() {
	test "$(words "$1")" "$2" "$3"
}
live() {
	bpftool -j map dump pinned "$pins/$1/ager" |
		json /dev/stdin 'sum(e["formatted"]["value"]["fill"]["live"] for e in j)'
}
live_is() {
	[ "$(live "$1")" = "$2" ]
}
# said N: the agent runs, and has named `in` in N lines
said() {
	kill -0 "$agent" && [ "$(grep -c "$in" "$tmp/agent")" = "$1" ]
}
sweeps_more() {
	[ "$(ager "$1" sweeps)" -gt "$2" ]
}

"$frames" make "$tmp/frames.pcap" --packets 200 --copies 1
load "$in" --memory 64KiB --placement shared --window 1s || { fail "load"; finish; }
transmit "$tmp/frames.pcap"
check "entries are in memory" words_are "$in" -gt 700
start_agent
check "an instance that was loaded before" wait_until aged_by "$in" $agent
check "what ran out is zeroed in memory" wait_until words_are "$in" = 0
check "and no cell is live" wait_until live_is "$in" 0
# Each walk counts, once a second, and in a second they run out.
becomes_live() { live_is "$in" 200 || { transmit "$tmp/frames.pcap" && false; }; }
check "what is live is counted in the map" wait_until becomes_live
pair "x$out" "x$in"
load "x$in" --memory 64KiB --placement percpu
check "an instance that is loaded later" wait_until aged_by "x$in" $agent
"$xdd" unload "x$in"
sleep 1.2
check "one that is unloaded is dropped without a word" \
	said 2
load "x$in" --memory 64KiB --placement percpu
check "and taken up again under the same name" wait_until aged_by "x$in" $agent

"$xdd" agent >"$tmp/second" 2>&1 &
second=$!
sleep 1.2
check "a second agent leaves them alone" aged_by "$in" $agent
kill -TERM $second
wait $second
check_equal "and ends with 0 on SIGTERM" 0 $?

# Killed: the lock goes with it, the filter still answers, and another one takes over.
kill -9 $agent
wait $agent 2>/dev/null
check "killed, nobody ages it" aged_by "$in" 0
"$frames" make "$tmp/more.pcap" --packets 200 --copies 1 --first 5000
before=$(counters "$in" | cut -d' ' -f2,3)
transmit "$tmp/more.pcap"
check_equal "copies are still found" "$(awk '{ print $1 + 200, $2 + 200 }' <<<"$before")" \
	"$(counters "$in" | cut -d' ' -f2,3)"
sweeps=$(ager "$in" sweeps)
sleep 2.6 # status walks, too
start_agent --quiet
check "another one takes over" wait_until aged_by "$in" $agent
check "and goes on counting" wait_until sweeps_more "$in" "$sweeps"
check "periods without a walk were counted" test "$(ager "$in" missed)" -gt 0

for i in $(seq 10); do
	kill -9 $agent
	wait $agent 2>/dev/null
	start_agent --quiet
	sleep "0.0$i"
done
check "killed ten times, the last one ages it" wait_until aged_by "$in" $agent
"$xdd" unload "$in"
"$xdd" unload "x$in"
check_equal "nothing is left after unload" "" "$(find "$pins" -name "*$in*" 2>/dev/null)"
kill -INT $agent
wait $agent
check_equal "SIGINT ends it with 0" 0 $?
check_equal "which said nothing" "" "$(cat "$tmp/agent")"
agent=

# An instance takes some 25 file descriptors: the soft limit is raised, the hard one is told.
load "$in" --memory 64KiB --placement percpu
load "x$in" --memory 64KiB --placement percpu
prlimit --nofile=40:1024 "$xdd" agent >"$tmp/agent" 2>&1 &
agent=$!
check "a soft limit of 40 open files is raised" wait_until aged_by "$in" $agent
check "... for both instances" wait_until aged_by "x$in" $agent
"$xdd" unload "x$in"
prlimit --pid $agent --nofile=40:
load "x$in" --memory 64KiB --placement percpu
limited() { grep -q 'too many open files (limit 40).*LimitNOFILE.*: it is tried again' "$tmp/agent"; }
check "a limit of 40 is told, with what to do" wait_until limited
sleep 2.2
check_equal "... once" 1 "$(grep -c 'too many open files' "$tmp/agent")"
check "... and one instance is aged" aged_by "$in" $agent
prlimit --pid $agent --nofile=1024:
check "... the other, too, when it may" wait_until aged_by "x$in" $agent
end_agent
wait $agent 2>/dev/null
"$xdd" unload "$in"
"$xdd" unload "x$in"

load "$in" --memory 64KiB --engine timer --grow density
rm "$pins/$in/chains"
start_agent
not_aged() { [ "$(grep -c "agent: $in is not aged, verdicts stay right: .*chains" "$tmp/agent")" = 1 ]; }
check "one that cannot be aged: the agent says why" wait_until not_aged
sleep 1.2
check "... once" not_aged
end_agent
wait $agent 2>/dev/null
"$xdd" unload "$in"

"$xdd" run "$in" --netns "$rx" --memory 64KiB --quiet &
run=$!
wait_until aged_by "$in" $run
start_agent
check "one that run ages: the agent says who does" wait_until grep -q "agent: $in: process $run ages it" "$tmp/agent"
check "... not that nothing is there" test -z "$(grep 'nothing is there' "$tmp/agent")"
kill $run
wait $run
end_agent
wait $agent 2>/dev/null

# Without file descriptors for a while, which is told once.
port=$((20000 + $$ % 10000))
start_agent --metrics "127.0.0.1:$port"
check "it says what it serves" wait_until grep -q "agent: serving http://127.0.0.1:$port/metrics" "$tmp/agent"
check "... and what it ages, be it nothing" wait_until grep -Eq 'agent: (nothing is there to age|ageing)' "$tmp/agent"
prlimit --pid $agent --nofile=4:
load "$in" --memory 64KiB --placement percpu
short() { grep -q 'Too many open files: it is tried again' "$tmp/agent"; }
check "without file descriptors it says so" wait_until short
sleep 2.2
check_equal "... once" 1 "$(grep -c 'Too many' "$tmp/agent")"
prlimit --pid $agent --nofile=1024:
check "... and goes on when it has some again" wait_until aged_by "$in" $agent
ahead() { unshare --fork --time --monotonic=-60 "$xdd" status "$in" --json | json /dev/stdin 'j[0]["ager"]["last_sweep_ms"]'; }
check_equal "in a time namespace whose clock is behind, the sweep was just now" 0.0 "$(ahead)"
"$xdd" unload "$in"
kill -TERM $agent
wait $agent
agent=

check_command "it takes no argument" 2 '' 'one argument too many' "$xdd" agent "$in"
finish
