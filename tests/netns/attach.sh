#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Other programs on the interface, modes, MTU, and several interfaces in one instance.
. "$(dirname "$0")/lib.sh"

# An XDP program of someone else's, called $1.
foreign() {
	cat >"$tmp/$1.c" <<-END
		#include <linux/bpf.h>
		#define SEC(name) __attribute__((section(name), used))
		SEC("xdp") int $1(struct xdp_md *ctx) { return XDP_PASS; }
		char LICENSE[] SEC("license") = "GPL";
	END
	clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -c "$tmp/$1.c" \
		-o "$tmp/$1.o"
}

foreign someone
foreign xdp_dispatcher
in_rx ip link set "$in" xdpdrv obj "$tmp/someone.o" sec xdp
id=$(program_id "$in")
check_command "another program is named: id, name, mode" 1 '' \
	"$in: .*$id.*someone.*native" "$xdd" load "$in" --netns "$rx" --quiet
check_equal "... and stays" "$id" "$(program_id "$in")"
check "--force replaces it" load "$in" --force
check_equal "... by ours" "$(program_id "$in")" \
	"$(bpftool -j prog show pinned "$pins/$in/program" | json /dev/stdin 'j["id"]')"
"$xdd" unload "$in"
check_equal "unload leaves the interface free" 0 "$(program_id "$in")"

in_rx ip link set "$in" xdpgeneric obj "$tmp/someone.o" sec xdp
check_command "another program in generic mode" 1 '' 'someone.*generic' \
	"$xdd" load "$in" --netns "$rx" --quiet
in_rx ip link set "$in" xdpgeneric off

in_rx ip link set "$in" xdpdrv obj "$tmp/xdp_dispatcher.o" sec xdp
id=$(program_id "$in")
check_command "a dispatcher is not replaced" 1 '' 'dispatcher' \
	"$xdd" load "$in" --netns "$rx" --quiet
check_command "a dispatcher is not replaced by --force either" 1 '' 'dispatcher' \
	"$xdd" load "$in" --netns "$rx" --quiet --force
check_equal "... and stays" "$id" "$(program_id "$in")"
in_rx ip link set "$in" xdpdrv off

# Modes.
mode() { in_rx ip -j -d link show "$1" | json /dev/stdin 'j[0]["xdp"]["mode"]'; }
in_rx ethtool -K "$in" gro on
check_command "generic mode is refused while gro is on, with the cure" 1 '' \
	"ethtool -K $in .*gro off" "$xdd" load "$in" --netns "$rx" --mode generic --quiet
check_equal "... and leaves nothing" 0 "$(program_id "$in")"
in_rx ethtool -K "$in" gro off
check "generic mode with gro off" load "$in" --mode skb
check_equal "... is generic" 2 "$(mode "$in")"
check_command "unload finds it in generic mode" 0 '' '' "$xdd" unload "$in"
check_equal "... and detaches it" 0 "$(program_id "$in")"
check "native mode" load "$in" --mode drv
check_equal "... is native" 1 "$(mode "$in")"
"$xdd" unload "$in"
check "mode auto" load "$in" --mode auto
check_equal "... is native where the driver can" 1 "$(mode "$in")"
"$xdd" unload "$in"

# The driver's words, the MTU and its limit.
pair "j$out" "j$in" 1 9000
check_command "without fragments a large MTU is refused, with the cure" 1 '' \
	"j$in.*(MTU|mtu).*(--frags|mtu 3506)" \
	"$xdd" load "j$in" --netns "$rx" --quiet --frags off
check_command "the driver's own words are passed on" 1 '' 'Peer MTU is too large' \
	"$xdd" load "j$in" --netns "$rx" --quiet --frags off --force
check_equal "... and nothing is left" 0 "$(program_id "j$in")"
check "with fragments it is taken" load "j$in" --frags on
"$xdd" unload "j$in"

# Several interfaces: one filter.
load "$in" "j$in" --window 1s
check_equal "one program on both interfaces" "$(program_id "$in")" "$(program_id "j$in")"
"$frames" make "$tmp/one.pcap" --packets 500 --copies 0
listen "$tmp/a.pcap" "$in"
listen "$tmp/b.pcap" "j$in"
transmit "$tmp/one.pcap"
transmit "$tmp/one.pcap" 20000 "j$out"
listen_end
"$frames" read "$tmp/a.pcap" "$tmp/b.pcap" >"$tmp/seen"
check_equal "copies across two interfaces are found" "500 0" \
	"$(json "$tmp/seen" 'str(j["frames"]) + " " + str(j["twice"])')"
check_equal "counted on the first" "500 500 0 0 500 0 0 0" "$(counters "$in" 0)"
check_equal "counted on the second" "500 0 500 0 0 500 0 0" "$(counters "$in" 1)"
check_equal "no packet without an interface" "0 0 0 0 0 0 0 0" "$(counters "$in" 16)"
check_command "unload by the second interface" 0 '' '' "$xdd" unload "j$in"
check_equal "detaches both" "0 0" "$(program_id "$in") $(program_id "j$in")"
check_command "when the second interface fails, the first is let go" 1 '' "j$in" \
	"$xdd" load "$in" "j$in" --netns "$rx" --quiet --frags off --force
check_equal "... entirely" "0 0" "$(program_id "$in") $(program_id "j$in")"
check_equal "... with its pins" '' "$(pins_of_ours)"
finish
