#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# set: the same program goes on with the entries that it has; --restart is the exception.
. "$(dirname "$0")/lib.sh"

entry() { bpftool -j map dump pinned "$pins/$in/config" | json /dev/stdin \
	"(j[0].get('formatted') or j[0])['value']['$1']"; }

# copies: send the packets of $tmp/once.pcap once more
copies() { transmit "$tmp/once.pcap" && sleep 0.1; }

"$frames" make "$tmp/once.pcap" --packets 500 --copies 0
load "$in" --window 7200ms || { fail "load"; finish; }
id=$(program_id "$in")
link=$(bpftool -j link show pinned "$pins/$in"/link_* | json /dev/stdin 'j["id"]')
copies
check_command "set --window" 0 'window 36 s \(80 ticks of 450 ms\)' '' \
	"$xdd" set "$in" --window 36s
check_equal "the ticks are in the map" 80 "$(entry window_ticks)"
copies
check_equal "the entries were kept" "1000 500 500 0 500 500 0 0" "$(counters "$in")"
check_command "a window beyond the ticks is refused with the range" 2 '' \
	'450 ms to 53.55 s.*--restart' "$xdd" set "$in" --window 128s
check_command "a window below a tick, too" 2 '' '450 ms to 53.55 s' \
	"$xdd" set "$in" --window 100ms
check_equal "... and changes nothing" 80 "$(entry window_ticks)"
check_command "set by the interface's name, as JSON" 0 '"window_ns": 30000000000' '' \
	"$xdd" set "$in" --window 30s --json

check_command "set --action count" 0 'action count' '' "$xdd" set "$in" --action count
copies
check_equal "duplicates pass, and are counted" "1500 500 1000 0 1000 500 0 0" "$(counters "$in")"
"$xdd" set "$in" --action mark:dscp=10 --quiet
listen "$tmp/seen.pcap" "$in"
copies
listen_end
"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
check_equal "set --action mark:dscp=10" "{'10': 500}" "$(json "$tmp/seen" 'j["dscp"]')"
"$xdd" set "$in" --action drop --quiet
copies
check_equal "set --action drop" "2500 500 2000 0 1500 1000 0 0" "$(counters "$in")"
check_equal "all of that by the same program" "$id" "$(program_id "$in")"
check_command "set without anything to set" 2 '' '--window' "$xdd" set "$in"
check_command "set of what is not loaded" 1 '' "nope$$" "$xdd" set "nope$$" --window 1s
check_command "set to a missing target" 1 '' 'no such interface' \
	"$xdd" set "$in" --action "redirect:nope$$"

# Under traffic.
"$frames" make "$tmp/many.pcap" --packets 20000 --copies 1 --first 1000
listen "$tmp/seen.pcap" "$in"
transmit "$tmp/many.pcap" &
sender=$!
changes=0
while kill -0 $sender 2>/dev/null; do
	"$xdd" set "$in" --window $((RANDOM % 10 + 5))s --quiet && changes=$((changes + 1))
done
wait $sender
listen_end
"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
check_equal "changes under traffic: no copy passed" "20000 0" \
	"$(json "$tmp/seen" 'str(j["first"]) + " " + str(j["copies"])')"
check "there were some changes" test $changes -gt 10

# Another tick: another program.
before=$(counters "$in")
# What goes on counting, and what may have a reader, stays.
for map in counters ethertypes top events audit_counts distances; do
	bpftool -j map show pinned "$pins/$in/$map" | json /dev/stdin '"map %d" % j["id"]'
done >"$tmp/kept"
objects "$id" | grep -vxF -f "$tmp/kept" >"$tmp/objects"
check_command "set --window --restart" 0 'window 100 ms' '' \
	"$xdd" set "$in" --window 100ms --restart
check_equal "the counters go on" "$before" "$(counters "$in")"
check "... in the maps that were there" test -s "$tmp/kept" -a "$(cat "$tmp/kept")" = \
	"$(for map in counters ethertypes top events audit_counts distances; do
		bpftool -j map show pinned "$pins/$in/$map" | json /dev/stdin '"map %d" % j["id"]'
	done)"
check "it is another program" test "$id" != "$(program_id "$in")"
check_equal "which is the one that is pinned" "$(program_id "$in")" \
	"$(bpftool -j prog show pinned "$pins/$in/program" | json /dev/stdin 'j["id"]')"
check_equal "by the same link" "$link" \
	"$(bpftool -j link show pinned "$pins/$in"/link_* | json /dev/stdin 'j["id"]')"
check "the old objects are gone" wait_until all_gone "$tmp/objects"
check_equal "nothing is left beside it" "$pins/$in" "$(pins_of_ours)"
check_equal "still promiscuous" 1 \
	"$(in_rx ip -j -d link show "$in" | json /dev/stdin 'j[0]["promiscuity"]')"
"$frames" make "$tmp/new.pcap" --packets 500 --copies 1 --first 50000
transmit "$tmp/new.pcap"
sleep 0.2
check_equal "and it filters" "1000 500 500" "$(paste -d' ' <(counters "$in") <(echo "$before") |
	awk '{ print $1 - $9, $2 - $10, $3 - $11 }')"
# Killed while the new program takes over: one of the two filters, and all that is there is named.
wrong=
for moment in $(seq 12); do
	[ $((moment % 2)) = 0 ] && window=100ms || window=100s
	"$xdd" set "$in" --window "$window" --restart --quiet 2>"$tmp/restart" &
	pid=$!
	sleep "0.$(printf %03d $((RANDOM % 250)))"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$xdd" status "$in" >"$tmp/status" 2>&1 || wrong="$wrong status:$(cat "$tmp/status")"
	"$xdd" set "$in" --action drop --quiet || wrong="$wrong set"
	[ "$(pins_of_ours)" = "$pins/$in" ] || wrong="$wrong pins:$(pins_of_ours)"
	[ "$(program_id "$in")" != 0 ] || wrong="$wrong detached"
done
check_equal "kill -9 of set --restart at 12 moments: it stays attached, nothing is left over" \
	"" "$wrong"
check_command "... and can be restarted" 0 'window 100 ms' '' \
	"$xdd" set "$in" --window 100ms --restart
check_equal "... so that program and pin agree" "$(program_id "$in")" \
	"$(bpftool -j prog show pinned "$pins/$in/program" | json /dev/stdin 'j["id"]')"
objects "$(program_id "$in")" >"$tmp/objects"
check "unload after a restart" "$xdd" unload "$in"
check "... leaves nothing" wait_until all_gone "$tmp/objects"
finish
