#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# N packets with known copies into a veth: exactly the first copies come out, and everybody who
# counts agrees: the map, tcpdump behind it, and the driver.
. "$(dirname "$0")/lib.sh"

packets=2000
sent=0

# one KIND SIZE: send packets of a kind with two copies each
one() {
	local name="$1, $2 bytes"
	"$frames" make "$tmp/$1.pcap" --kind "$1" --packets $packets --copies 2 --size "$2" \
		--first $sent
	sent=$((sent + packets))
	listen "$tmp/seen.pcap" "$in"
	transmit "$tmp/$1.pcap"
	check_equal "$name: all frames were sent" $((3 * packets)) "$(cat "$tmp/sent")"
	wait_until received $((3 * sent))
	listen_end
	"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
	check_equal "$name: the first copies come out, once each" \
		"$packets $packets 0 0 0" \
		"$(json "$tmp/seen" '" ".join(str(j[k]) for k in
			("frames", "first", "copies", "twice", "missing"))')"
	check_equal "$name: the counters say so" \
		"$((3 * sent)) $sent $((2 * sent)) 0 $sent $((2 * sent)) 0 0" "$(counters "$in")"
}

# shellcheck disable=SC2317 # wait_until calls it
received() {
	[ "$(counters "$in" | cut -d' ' -f1)" = "$1" ]
}

load "$in" --window 200ms || { fail "load"; finish; }
one v4 100
one v6 300
one vlan 1500
packets_of_driver=$(in_rx ethtool -S "$in" | sed -n 's/.*rx_queue_[0-9]*_xdp_packets: //p' |
	awk '{ n += $1 } END { print n }')
check_equal "the driver counts as many as the map" "$packets_of_driver" \
	"$(counters "$in" | cut -d' ' -f1)"
drops_of_driver=$(in_rx ethtool -S "$in" | sed -n 's/.*rx_queue_[0-9]*_xdp_drops: //p' |
	awk '{ n += $1 } END { print n }')
check_equal "and as many dropped" "$drops_of_driver" "$(counters "$in" | cut -d' ' -f6)"
check "unload" "$xdd" unload "$in"

# Jumbo packets, which lie in fragments.
pair "j$out" "j$in" 1 9000
load "j$in" --window 200ms
"$frames" make "$tmp/jumbo.pcap" --packets 500 --copies 1 --size 8900
listen "$tmp/seen.pcap" "j$in"
transmit "$tmp/jumbo.pcap" 5000 "j$out"
wait_until test "$(counters "j$in" | cut -d' ' -f1)" = 1000
listen_end
"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
check_equal "jumbo packets: the first copies come out" "500 500 0" \
	"$(json "$tmp/seen" 'j["frames"], j["first"], j["copies"]' | tr -d '(),')"
check_equal "jumbo packets: the counters say so" "1000 500 500 0 500 500 0 0" \
	"$(counters "j$in")"
finish
