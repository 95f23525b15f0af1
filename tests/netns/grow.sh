#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A burst makes a chain of filters grow, and it shrinks when what came in the burst has run out;
# every copy is found all the while. At its cap, and without an ager, the chain stays as it is and
# says so. The ager looks many times a window: nothing here depends on how fast.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

agent=
start_agent() {
	"$xdd" agent --quiet >"$tmp/agent" 2>&1 &
	agent=$!
}
end_agent() {
	[ -z "$agent" ] || kill -9 "$agent" 2>/dev/null
}
at_exit end_agent

status() { "$xdd" status "$in" --json | json /dev/stdin "j[0]$1"; }
growth() { status '["growth"]["'"$1"'"]'; }
is() { test "$(growth "$1")" "$2" "$3"; }
warned() { "$xdd" status "$in" | grep -q "warning .*$1"; }
count() { counters "$in" | cut -d' ' -f"$1"; }
aged() { [ "$(status '["ager"]["pid"]')" = "$agent" ]; }

# found_all PACKETS: of so many packets, each with a copy at once, each copy is dropped; so are the
# false positives, with their copies
found_all() {
	[ "$(count 1)" = $((2 * $1)) ] && [ "$(count 6)" -ge "$1" ] &&
		[ "$(count 6)" -lt $(($1 + $1 / 2)) ]
}

grown="--engine timer --window 4s --fpr-target 0.05 --capacity 2000 --audit off"

# burst NAME OPTION...: five times what one filter holds, within a window
burst() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # words
	load "$in" $grown "$@" || { fail "$name: load"; return; }
	check "$name: begins with one filter" is filters_most = 1
	check "$name: is aged" wait_until aged
	transmit "$tmp/burst.pcap" 8000
	check "$name: no copy was missed" found_all 10000
	check "$name: it grew" wait_until is opened -ge 2
	check "$name: what has run out is retired" wait_until is filters_most = 1
	check "$name: by as many as were opened" is retired = "$(growth opened)"
	transmit "$tmp/few.pcap" 8000
	check "$name: the copies of few are found" found_all 10500
	opened=$(growth opened)
	"$xdd" set "$in" --window 3s --restart --quiet
	check "$name: set --restart: what was counted stays" is opened -ge "$opened"
	"$xdd" unload "$in"
}

"$frames" make "$tmp/burst.pcap" --packets 10000 --copies 1
"$frames" make "$tmp/few.pcap" --packets 500 --copies 1 --first 20000
start_agent
burst "by density" --grow density --max-filters 8 --placement shared
burst "by cardinality" --grow cardinality --max-filters 8 --placement shared
burst "one per CPU" --grow density --max-filters 6 --placement percpu
burst "slices" --grow density --max-filters 8 --slices 4

# shellcheck disable=SC2086 # words
load "$in" $grown --grow density --max-filters 2 --placement shared || fail "load"
check "at the cap: is aged" wait_until aged
transmit "$tmp/burst.pcap" 8000
# Until some of it runs out.
full_and_warned() {
	[ "$(status '["growth"]["full"] == 1 and any("no more may be opened" in w for w in j[0]["warnings"])')" = True ]
}
check "at the cap: all filters are full, and status warns" wait_until full_and_warned
check_equal "at the cap: two filters" 2 "$(growth filters_most)"
"$xdd" unload "$in"

end_agent
agent=
# shellcheck disable=SC2086 # words
load "$in" $grown --grow density --max-filters 4 --placement shared || fail "load"
transmit "$tmp/few.pcap" 8000
check "without an ager: copies are found" found_all 500
check_equal "without an ager: one filter" 1 "$(growth filters_most)"
check "without an ager: status warns" warned "no filter is opened or retired"
"$xdd" unload "$in"
finish
