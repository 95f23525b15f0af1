#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `check` names what would spoil the result, with the line that mends it, and after that line says
# no more of it. Nothing is changed by checking.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

# ask ARGUMENT...: the report of the last interface, in $tmp/report; returns the exit code
ask() {
	"$xdd" check --netns "$rx" --json "$@" >"$tmp/report" 2>"$tmp/stderr"
}

refuses() {
	! ask "$@"
}

# found ABOUT FIELD
found() {
	json "$tmp/report" '" / ".join(f.get("'"$2"'", "") for f in j[-1]["findings"]
		if f["about"] == "'"$1"'")'
}

# says NAME ABOUT SEVERITY TEXT-PATTERN CURE
says() {
	local problem=
	[ "$(found "$2" severity)" = "$3" ] || problem="severity: $(found "$2" severity)"
	grep -Eq -e "$4" <<<"$(found "$2" text)" || problem="$problem text: $(found "$2" text)"
	[ "$(found "$2" cure)" = "$5" ] || problem="$problem cure: $(found "$2" cure)"
	if [ -z "$problem" ]; then pass "$1"; else fail "$1" "$problem"; fi
}

before=$(in_rx ip -d link show "$in")
check "a veth can be loaded" ask "$in"
says "its driver is native" driver ok 'veth runs XDP natively' ''
says "rxvlan is named" rxvlan note 'VLAN tag' "ethtool -K $in rxvlan off"
check_equal "checking changed nothing" "$before" "$(in_rx ip -d link show "$in")"
in_rx ethtool -K "$in" rxvlan off
ask "$in"
says "rxvlan off is as good" rxvlan ok 'stay in the packet' ''

in_rx ip link set "$in" down
ask "$in"
says "down is a note" state note 'down' "ip link set dev $in up"
in_rx ip link set "$in" up
in_tx ip link set "$out" down
ask "$in"
says "so is a missing carrier" state note 'no carrier' ''
in_tx ip link set "$out" up

in_rx ethtool -K "$in" gro on
ask "$in"
says "gro does not matter natively" gro '' '' ''
check "generic with gro is a problem" refuses "$in" --mode generic
says "and the line that mends it" gro problem 'before generic XDP' "ethtool -K $in gro off"
in_rx ethtool -K "$in" gro off
check "generic without gro can be loaded" ask "$in" --mode generic

check_equal "one queue" 1 "$(json "$tmp/report" 'j[0]["rx_queues"]')"
pair "q$out" "q$in" 4
ask "q$in"
check_equal "four queues" 4 "$(json "$tmp/report" 'j[0]["rx_queues"]')"
says "which share a filter" queues ok '4 receive queues.*shared' ''

pair "j$out" "j$in" 1 9000
check "jumbo packets come in fragments" ask "j$in"
says "the report says so" mtu ok '9000.*fragments' ''

check "the loopback is refused" refuses lo
says "with a reason" device problem 'loopback' ''
check "so is a missing interface" refuses nix
says "with a hint" device problem 'no interface nix' 'ip link, or --netns NAME'
in_rx ip link add link "$in" name "m$$" type macvlan
check "a macvlan is refused" refuses "m$$"
says "for the device below it" device problem macvlan "xdp-dedup check $in"
in_rx ip link del "m$$"
if in_rx ip link add "d$$" type dummy 2>/dev/null; then
	check "a dummy device is refused" refuses "d$$"
	says "since nothing arrives" device problem 'dummy.*no packet' ''
else
	skip "a dummy device is refused" "this kernel has no dummy devices"
fi
in_rx ip link add "b$$" type bridge
in_rx ip link set "$in" master "b$$"
check "a port of a bridge can be loaded" ask "$in"
says "the master is named" master note "belongs to b$$ \(bridge\)" ''
check "a bridge does not run XDP natively" refuses "b$$"
says "but generically" driver problem 'does not run XDP natively' '--mode generic'
in_rx ip link del "b$$"
if in_rx ip link add "t$$" type bond 2>/dev/null; then
	in_rx ip link set "$in" down
	in_rx ip link set "$in" master "t$$"
	ask "$in"
	says "a leg of a bond is named" bond note "leg of t$$" "name all legs of t$$ in one load"
	in_rx ip link del "t$$"
	in_rx ip link set "$in" up
else
	skip "a leg of a bond is named" "this kernel has no bonds"
fi

# A program of someone else's, and a dispatcher by its name.
printf '%s\n' '#include <linux/bpf.h>' '#include <bpf/bpf_helpers.h>' \
	'SEC("xdp") int NAME(struct xdp_md *ctx) { (void)ctx; return XDP_PASS; }' \
	'char LICENSE[] SEC("license") = "GPL";' >"$tmp/other.c"
for name in someone xdp_dispatcher; do
	clang -O2 -g -target bpf "-DNAME=$name" "-I/usr/include/$(gcc -print-multiarch)" -c \
		-o "$tmp/$name.o" "$tmp/other.c"
	in_rx ip link set dev "$in" xdpdrv obj "$tmp/$name.o" sec xdp
	check "a program is a problem: $name" refuses "$in"
	id=$(program_id "$in")
	if [ $name = someone ]; then
		says "it is named" program problem "$id \(someone, native mode\)" \
			"ip link set dev $in xdp off"
	else
		says "it is named, and who takes it off" program problem \
			"$id \(xdp_dispatcher, native mode\).*never" "xdp-loader unload $in --all"
	fi
	in_rx ip link set dev "$in" xdpdrv off
done
load "$in"
check "what is loaded already is a problem" refuses "$in"
says "and how to unload it" program problem 'it is loaded' "xdp-dedup unload $in"
"$xdd" unload "$in"

check_command "the text has both" 1 'ok +driver +veth.*natively' '' \
	"$xdd" check --netns "$rx" "$in" lo
check_command "an unknown namespace" 1 '' 'netns nix.*ip netns list' "$xdd" check --netns nix "$in"
check_command "no interface" 2 '' 'too few arguments' "$xdd" check
finish
