#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The port of --forward under `run`: one that is deleted and comes back is sent to again, one that is renamed
# is known by its new name, and status and top say what happens meanwhile.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

tool=f$$ # in rx; its other end, e$$, is the tool's, in tx
end=e$$
make_tool() {
	pair "$end" "$tool"
	[ "$1" = off ] || in_tx ethtool -K "$end" gro on
}
make_tool on
"$frames" make "$tmp/in.pcap" --packets 100 --copies 1

"$xdd" run "$in" --netns "$rx" --window 1s --memory 1MiB --forward "$tool" >"$tmp/said" 2>&1 &
run=$!
end_run() { [ -z "$run" ] || kill "$run" 2>/dev/null; }
at_exit end_run
loaded() { test -e "$pins/$in"; }
said() { grep -q "$1" "$tmp/said"; }
warned() { "$xdd" status "$in" | grep -q "warning .*$1"; }
well() { ! warned ''; }
forwarded() { counters "$in" | cut -d' ' -f7; }
errors() { counters "$in" | cut -d' ' -f8; }
check "run forwards" wait_until loaded
sleep 1.2 # it has looked once
transmit "$tmp/in.pcap"
check_equal "to the port" "100 0" "$(forwarded) $(errors)"
check_command "status names it" 0 "action +drop, what is kept goes to $tool\$" '' "$xdd" status "$in"
check_command "... so does top" 0 "action drop, kept to $tool" '' "$xdd" top "$in" --once --interval 100ms

in_tx ip link del "$end"
check "deleted: said by run" wait_until said "$tool, which packets are redirected to, is gone"
check "... and by status, which says that they pass" warned "$tool: .* is gone: they pass"
check_equal "... and nowhere that they are lost" "" "$("$xdd" status "$in" | grep ' lost' | grep warning)"
sleep 1.1
transmit "$tmp/in.pcap"
check_equal "... they pass" "100 100" "$(forwarded) $(errors)"
make_tool off
check "made again, but so that it loses all: said" wait_until said "$tool is back, but not redirected to.*gro on"
in_tx ethtool -K "$end" gro on
check "... mended: it is sent to again" wait_until said "$tool is back, packets are redirected to it again"
sleep 1.1
transmit "$tmp/in.pcap"
check_equal "... and gets what is kept" "200 100" "$(forwarded) $(errors)"
check "... nothing is wrong now" well
check_command "... what was is since load" 0 'since load +100 packets could not be redirected' '' \
	"$xdd" status "$in"

in_rx ip link set dev "$tool" down
in_rx ip link set dev "$tool" name "n$tool"
in_rx ip link set dev "n$tool" up
check "renamed: said by run" wait_until said "$tool, which packets are redirected to, is called n$tool now"
check_equal "... status has the new name" "n$tool" \
	"$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["config"]["forward"]')"
check "... and no warning" well
sleep 1.1
transmit "$tmp/in.pcap"
check_equal "... it gets what is kept" "300 100" "$(forwarded) $(errors)"
kill "$run"
wait "$run"
check_equal "run ends with 0" 0 $?
run=
finish
