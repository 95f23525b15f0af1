#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A packet and its copies on different receive queues: with the default options one passes.
. "$(dirname "$0")/lib.sh"

packets=2000
pair "q$$" "p$$" 4
if ! in_tx tc qdisc add dev "q$$" clsact || ! in_tx tc filter add dev "q$$" egress bpf \
	direct-action object-file "$BUILD/tests/netns/steer.bpf.o" section tc; then
	skip "copies on different queues" "tc does not take a BPF program"
	finish
fi

load "p$$" || { fail "load"; finish; }
"$frames" make "$tmp/in.pcap" --packets $packets --copies 3
listen "$tmp/seen.pcap" "p$$"
transmit "$tmp/in.pcap" 20000 "q$$"
listen_end
check_equal "each queue got the copies of one number" "$packets $packets $packets $packets" \
	"$(for queue in 0 1 2 3; do
		in_rx ethtool -S "p$$" | sed -n "s/.*rx_queue_${queue}_xdp_packets: //p"
	done | paste -sd' ')"
"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
check_equal "one of each four passed" "$packets 0 0" \
	"$(json "$tmp/seen" '" ".join(str(j[k]) for k in ("frames", "twice", "missing"))')"
check_equal "the counters say so" "$((4 * packets)) $packets $((3 * packets)) 0 $packets \
$((3 * packets)) 0 0" "$(counters "p$$")"
finish
