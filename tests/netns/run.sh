#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run: signals, --keep, and death at any moment, after which status, unload and load cope.
. "$(dirname "$0")/lib.sh"

run_now() { "$xdd" run "$in" --netns "$rx" --quiet "$@" >"$tmp/run" 2>&1 & pid=$!; }

# shellcheck disable=SC2317 # wait_until calls it
attached() { [ "$(program_id "$in")" != 0 ] && [ -d "$pins/$in" ]; }

for signal in INT TERM HUP; do
	run_now
	check "run attaches ($signal)" wait_until attached
	objects "$(program_id "$in")" >"$tmp/objects"
	check_command "status while it runs ($signal)" 0 "$in" '' "$xdd" status "$in"
	kill -$signal $pid
	wait $pid
	check_equal "$signal ends it well" 0 $?
	check_equal "... and detaches" 0 "$(program_id "$in")"
	check_equal "... and unpins" '' "$(pins_of_ours)"
	check "... and leaves no object" wait_until all_gone "$tmp/objects"
done

run_now --keep
wait_until attached
id=$(program_id "$in")
check_command "a second run is refused" 1 '' "xdp-dedup unload $in" \
	"$xdd" run "$in" --netns "$rx" --quiet
kill -TERM $pid
wait $pid
check_equal "--keep leaves the program" "$id" "$(program_id "$in")"
check "... until unload" "$xdd" unload "$in"

run_now
wait_until attached
"$xdd" unload "$in"
wait $pid
check_equal "run ends with an error when its instance is unloaded, which a service manager mends" 1 $?
check_command "... and says so, also with --quiet" 0 'unloaded by someone else' '' cat "$tmp/run"

run_now --window 2s
wait_until attached
kill -KILL $pid
wait $pid 2>/dev/null
"$frames" make "$tmp/in.pcap" --packets 500 --copies 1
transmit "$tmp/in.pcap"
sleep 0.2
check_equal "after kill -9 the filter goes on" "1000 500 500 0 500 500 0 0" "$(counters "$in")"
check_command "set after kill -9" 0 'window 1 s' '' "$xdd" set "$in" --window 1s
check_command "load after kill -9 says what to do" 1 '' "xdp-dedup unload $in" \
	"$xdd" load "$in" --netns "$rx" --quiet
check "load --force after kill -9" load "$in" --force
"$xdd" unload "$in"

# As systemd starts it again. The agent may have taken what was left meanwhile.
run_now
wait_until attached
id=$(program_id "$in")
check_command "a second run of the same is refused while the first lives" 1 '' "instance $in is loaded" \
	"$xdd" run "$in" --netns "$rx" --quiet
kill -KILL $pid
wait $pid 2>/dev/null
# shellcheck disable=SC2317 # wait_until calls them
other() { attached && [ "$(program_id "$in")" != "$id" ]; }
# shellcheck disable=SC2317
aged_by() { [ "$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["ager"]["pid"]')" = "$1" ]; }
check_command "another kind of run does not take over" 1 '' "instance $in is loaded" \
	"$xdd" run "$in" --netns "$rx" --quiet --keep
"$xdd" agent --quiet &
agent=$!
# shellcheck disable=SC2317 # at_exit calls it
end_agent() { [ -z "$agent" ] || kill "$agent"; }
at_exit end_agent
wait_until aged_by $agent
run_now
check "run after kill -9 takes over" wait_until other
check_command "... and says so" 0 "run: $in was left by a run that was killed: it is replaced" '' cat "$tmp/run"
check "... counts from 0" test "$(counters "$in")" = "0 0 0 0 0 0 0 0"
id=$(program_id "$in")
"$xdd" set "$in" --window 30s --restart --quiet
check "... set --restart" wait_until other
sleep 0.5
check_command "... after which it is still the owner" 1 '' "instance $in is loaded" \
	"$xdd" run "$in" --netns "$rx" --quiet
kill -TERM $pid
wait $pid
check_equal "... and ends well" "0 0" "$? $(program_id "$in")"
load "$in"
check_command "run does not take over what load made" 1 '' "instance $in is loaded" \
	"$xdd" run "$in" --netns "$rx" --quiet
"$xdd" unload "$in"
kill $agent
wait $agent
agent=

# Twenty moments from before the first pin until well after the last.
wrong=
for moment in $(seq 20); do
	run_now
	sleep "0.$(printf %03d $((RANDOM % (moment * 30))))"
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ ! -d "$pins/$in" ] || "$xdd" status "$in" >"$tmp/status" 2>&1 || wrong="$wrong status:$(cat "$tmp/status")"
	[ ! -d "$pins/$in" ] || "$xdd" unload "$in" >"$tmp/unload" 2>&1 ||
		wrong="$wrong unload:$(cat "$tmp/unload")"
	load "$in" >"$tmp/again" || wrong="$wrong load:$(cat "$tmp/again")"
	objects "$(program_id "$in")" >"$tmp/objects"
	"$xdd" unload "$in" || wrong="$wrong second unload"
	[ "$(program_id "$in")" = 0 ] || wrong="$wrong attached"
	[ -z "$(pins_of_ours)" ] || wrong="$wrong pins:$(pins_of_ours)"
done
check_equal "kill -9 at 20 moments: status, unload and load cope, and nothing is left" "" "$wrong"
check "... of the kernel's objects either" wait_until all_gone "$tmp/objects"
check_equal "... and no promiscuous mode" 0 \
	"$(in_rx ip -j -d link show "$in" | json /dev/stdin 'j[0]["promiscuity"]')"
finish
