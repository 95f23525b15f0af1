#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Actions other than drop: duplicates redirected or marked, what is kept forwarded to a tool port.
. "$(dirname "$0")/lib.sh"

tool=f$$ # in rx; its other end, e$$, is the tool's, in tx
pair "e$$" "$tool"
packets=1000

# run KIND ARGUMENT...: load, send packets with one copy each, listen at both ends, unload; the
# counters are in $sums
run() {
	local kind=$1
	shift
	load "$in" --window 500ms "$@" || return
	"$frames" make "$tmp/in.pcap" --kind "$kind" --packets $packets --copies 1
	listen "$tmp/stack.pcap" "$in"
	listen "$tmp/tool.pcap" "e$$" "$tx"
	transmit "$tmp/in.pcap"
	wait_until test "$(counters "$in" | cut -d' ' -f1)" = $((2 * packets))
	listen_end
	sums=$(counters "$in")
	notes=$(bpftool -j map dump pinned "$pins/$in/counters" | json /dev/stdin \
		'sum(c["value"]["mark_failed"] for e in j
			for c in e.get("formatted", e)["values"])')
	"$frames" read "$tmp/stack.pcap" >"$tmp/stack"
	"$frames" read "$tmp/tool.pcap" >"$tmp/tool"
	"$xdd" unload "$in"
}

# seen FILE: "frames first copies"
seen() { json "$1" '" ".join(str(j[k]) for k in ("frames", "first", "copies"))'; }

in_tx ethtool -K "e$$" gro off
check_command "a veth whose other end drops redirected frames is refused, with the cure" 1 '' \
	"$tool.*ethtool -K .*gro on" \
	"$xdd" load "$in" --netns "$rx" --quiet --action "redirect:$tool"
check_command "the same for --forward" 1 '' "$tool.*ethtool -K .*gro on" \
	"$xdd" load "$in" --netns "$rx" --quiet --forward "$tool"
check_equal "... which leave nothing" "" "$(pins_of_ours)"
check_command "--force only warns" 0 'interfaces' "$tool.*gro on" \
	"$xdd" load "$in" --netns "$rx" --forward "$tool" --force --json
check "set" "$xdd" set "$in" --window 10ms --quiet
check_command "set refuses it, too" 1 '' "$tool.*gro on" \
	"$xdd" set "$in" --action "redirect:$tool"
"$xdd" unload "$in"
in_tx ethtool -K "e$$" gro on

run v4 --action "redirect:$tool"
check_equal "redirect: the first copies go up the stack" "$packets $packets 0" "$(seen "$tmp/stack")"
check_equal "redirect: the others to the tool" "$packets 0 $packets" "$(seen "$tmp/tool")"
check_equal "redirect: counted" "$((2 * packets)) $packets $packets 0 $packets 0 $packets 0" "$sums"

run v6 --forward "$tool"
check_equal "forward: nothing goes up the stack" "0 0 0" "$(seen "$tmp/stack")"
check_equal "forward: the first copies go to the tool" "$packets $packets 0" "$(seen "$tmp/tool")"
check_equal "forward: counted" "$((2 * packets)) $packets $packets 0 0 $packets $packets 0" "$sums"

run v4 --forward "$tool" --action count
check_equal "forward with count: all go to the tool" "$((2 * packets)) $packets $packets" \
	"$(seen "$tmp/tool")"
check_equal "forward with count: counted" \
	"$((2 * packets)) $packets $packets 0 0 0 $((2 * packets)) 0" "$sums"

for kind in v4 v6 vlan; do
	run $kind --action mark
	check_equal "mark, $kind: copies have DSCP 63, first ones what they had" \
		"{'0': $packets, '63': $packets}" "$(json "$tmp/stack" 'j["dscp"]')"
	check_equal "mark, $kind: header checksums are right" 0 \
		"$(json "$tmp/stack" 'j["bad_checksum"]')"
	check_equal "mark, $kind: counted" \
		"$((2 * packets)) $packets $packets 0 $((2 * packets)) 0 0 0 0" "$sums $notes"
done
run v4 --action mark:dscp=5
check_equal "mark:dscp=5" "{'0': $packets, '5': $packets}" "$(json "$tmp/stack" 'j["dscp"]')"
run v4 --action mark:meta
check_equal "mark:meta changes no byte" "{'0': $((2 * packets))}" "$(json "$tmp/stack" 'j["dscp"]')"
check_equal "mark:meta: counted" \
	"$((2 * packets)) $packets $packets 0 $((2 * packets)) 0 0 0 0" "$sums $notes"
run v4 --action count
check_equal "count passes all" "$((2 * packets)) $packets $packets" "$(seen "$tmp/stack")"

# Changed while it runs.
load "$in" --window 1s
"$xdd" set "$in" --forward "$tool" --action "redirect:$tool" --quiet
"$frames" make "$tmp/in.pcap" --packets $packets --copies 1
listen "$tmp/tool.pcap" "e$$" "$tx"
transmit "$tmp/in.pcap"
wait_until test "$(counters "$in" | cut -d' ' -f1)" = $((2 * packets))
listen_end
"$frames" read "$tmp/tool.pcap" >"$tmp/tool"
check_equal "set --forward and --action redirect" "$((2 * packets)) $packets $packets" \
	"$(seen "$tmp/tool")"
check_command "set says which action" 0 "action redirect:$tool, what is kept goes to $tool" '' \
	"$xdd" set "$in" --forward "$tool"
check_command "set --forward none" 0 'action count$' '' "$xdd" set "$in" --forward none --action count
check_equal "no target is left" "" "$("$xdd" status "$in" --json |
	json /dev/stdin 'j[0]["config"]["forward"]')"
listen "$tmp/stack.pcap" "$in"
transmit "$tmp/in.pcap"
wait_until test "$(counters "$in" | cut -d' ' -f1)" = $((4 * packets))
listen_end
"$frames" read "$tmp/stack.pcap" >"$tmp/stack"
check_equal "set --forward none: all goes up the stack again" "$((2 * packets)) $packets $packets" \
	"$(seen "$tmp/stack")"
"$xdd" unload "$in"

# Generic mode sends by every device.
in_tx ethtool -K "e$$" gro off
in_rx ethtool -K "$in" gro off
run v4 --mode generic --action "redirect:$tool"
check_equal "generic mode: redirected" "$packets 0 $packets" "$(seen "$tmp/tool")"
check_equal "generic mode: counted" \
	"$((2 * packets)) $packets $packets 0 $packets 0 $packets 0" "$sums"
finish
