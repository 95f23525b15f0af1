#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# learn on an interface: it finds the copies that were sent, takes nothing away, and leaves
# promiscuous mode as it was.
# shellcheck disable=SC2317 # wait_until calls the functions
. "$(dirname "$0")/lib.sh"

packets=1000
# shellcheck disable=SC2154 # frames is set by lib.sh
"$frames" make "$tmp/copies.pcap" --kind v4 --packets $packets --copies 2 --size 200

# promiscuity: how many users of promiscuous mode `in` has
promiscuity() {
	in_rx ip -d -j link show "$in" | json /dev/stdin 'j[0]["promiscuity"]'
}

is_promiscuous() { [ "$(promiscuity)" = 1 ]; }

# start ARGUMENT...: learn in the background, until it watches
start() {
	"$xdd" learn "$in" --netns "$rx" "$@" >"$tmp/learnt" 2>"$tmp/stderr" &
	learner=$!
	wait_until is_promiscuous
}

check_equal "not promiscuous before" 0 "$(promiscuity)"
start --json --packets $((3 * packets))
listen "$tmp/seen.pcap" "$in"
transmit "$tmp/copies.pcap"
wait $learner
check_equal "ends after as many packets as it was asked for" 0 $?
listen_end
check_equal "all frames, and two copies of each" "$((3 * packets)) $((2 * packets))" \
	"$(json "$tmp/learnt" '"{} {}".format(j["packets"], j["copies"])')"
check_equal "each packet came three times" $packets "$(json "$tmp/learnt" 'j["times"][2]')"
check_equal "what a window of 100 ms would drop" $((2 * packets)) "$(json "$tmp/learnt" \
	'[w["would_drop"] for w in j["windows"] if w["window_ns"] == 100000000][0]')"
check_equal "none was missed" 0 "$(json "$tmp/learnt" 'j["missed"]')"
check_equal "the advice is a window" --window "$(json "$tmp/learnt" 'j["advice"]["options"][0]')"
check_equal "others still get everything" $((3 * packets)) \
	"$("$frames" read "$tmp/seen.pcap" | json /dev/stdin 'j["frames"]')"
check_equal "not promiscuous afterwards" 0 "$(promiscuity)"

# Interrupted, it says what it has learnt.
start --json --seconds 60
transmit "$tmp/copies.pcap"
sleep 0.3
kill -INT $learner
wait $learner
check_equal "ends by SIGINT" 0 $?
check_equal "with what it saw until then" $((3 * packets)) "$(json "$tmp/learnt" 'j["packets"]')"

# Killed, it leaves no trace either.
start --seconds 60
kill -KILL $learner
wait $learner 2>/dev/null
check_equal "not promiscuous after SIGKILL" 0 "$(promiscuity)"

# An expression limits what is compared, and a silent wire is no failure.
start --json --seconds 1 --filter 'udp port 99'
transmit "$tmp/copies.pcap"
wait $learner
check_equal "ends after its seconds" 0 $?
check_equal "nothing matched, everything was counted" "$((3 * packets)) 0" \
	"$(json "$tmp/learnt" '"{} {}".format(j["bypassed"]["filtered"], j["compared"])')"
check_command "nothing came: no advice" 0 'advice +none: no frame could be compared' '' \
	"$xdd" learn "$in" --netns "$rx" --seconds 1

in_rx ip link set "$in" down
check_command "down" 1 '' "$in: is down: ip link set $in up" "$xdd" learn "$in" --netns "$rx"
check_command "no such interface" 1 '' 'nowhere: neither a file nor an interface' \
	"$xdd" learn nowhere --netns "$rx"
check_command "no such namespace" 1 '' 'no-such' "$xdd" learn "$in" --netns no-such
finish
