#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Interfaces that are deleted, moved, renamed or detached while the program is on them: status and
# unload cope, and nothing is left.
. "$(dirname "$0")/lib.sh"

pair "k$$" "l$$"

# begin INTERFACE...: load, and note what must be gone at the end
begin() {
	load "$@" || return
	objects "$(program_id "$1")" >"$tmp/objects"
}

# end NAME WHAT STATE INSTANCE [STDERR]: status says STATE in its JSON, and unload leaves nothing
end() {
	check_command "$1: status" 0 "$3" '' "$xdd" status "$4" --json
	check_command "$1: status for people" 0 "$4" '' "$xdd" status "$4"
	check_command "$1: unload" 0 '' "${5:-}" "$xdd" unload "$2"
	check "$1: no object is left" wait_until all_gone "$tmp/objects"
	check_equal "$1: no pin is left" '' "$(pins_of_ours)"
}

begin "$in"
in_rx ip link set "$in" name "n$$"
end "renamed" "n$$" "\"name\": \"n$$\"" "$in"
check_equal "renamed: not promiscuous any more" 0 \
	"$(in_rx ip -j -d link show "n$$" | json /dev/stdin 'j[0]["promiscuity"]')"
in_rx ip link set "n$$" name "$in"

begin "$in"
in_rx ip link set "$in" netns "$tx"
end "moved away" "$in" '"state": "[a-z]+"' "$in" "$in has left .*promisc off"
check_equal "moved away: no program is left at it" 0 \
	"$(in_tx ip -j -d link show "$in" | json /dev/stdin 'j[0].get("xdp", {}).get("mode", 0)')"
in_tx ip link set "$in" netns "$rx"
in_rx ip link set "$in" up

begin "$in"
bpftool link detach pinned "$pins/$in"/link_*
end "detached by bpftool" "$in" '"state": "detached"' "$in"

begin "l$$" "$in"
in_tx ip link del "k$$"
check_command "one of two deleted: status" 0 '"state": "attached"' '' "$xdd" status "l$$" --json
"$frames" make "$tmp/in.pcap" --packets 500 --copies 1
transmit "$tmp/in.pcap"
sleep 0.2
check_equal "one of two deleted: the other goes on" "1000 500 500 0 500 500 0 0" \
	"$(counters "l$$")"
check_command "one of two deleted: set" 0 'window 10 ms' '' "$xdd" set "l$$" --window 10ms
check_command "one of two deleted: set --restart" 0 'window 5 s' '' \
	"$xdd" set "l$$" --window 5s --restart
objects "$(program_id "$in")" >"$tmp/objects"
end "one of two deleted" "l$$" '"state": "gone"' "l$$"
check_equal "one of two deleted: unload detached the other" 0 "$(program_id "$in")"

begin "$in"
in_tx ip link del "$out"
end "deleted" "$in" '"state": "gone"' "$in"

pair "$out" "$in"
begin "$in"
ip netns del "$rx"
wait_until test ! -e "/run/netns/$rx"
end "the namespace deleted" "$in" '"state": "[a-z]+"' "$in"
ip netns add "$rx"
finish
