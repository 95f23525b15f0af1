#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# events and run --sample-dropped: what is shown is what happened, at most so much a second, by one
# reader at a time; what is not shown is counted; whoever reads may be killed.
# shellcheck disable=SC2317 # wait_until calls functions
. "$(dirname "$0")/lib.sh"

"$frames" make "$tmp/in.pcap" --packets 300 --copies 2 --size 200
"$frames" make "$tmp/large.pcap" --packets 1500 --copies 1 --size 1400

run_now() { "$xdd" run "$in" --netns "$rx" --window 10s "$@" >"$tmp/run" 2>&1 & pid=$!; }
events() { "$xdd" events "$in" "$@" >"$tmp/events" 2>"$tmp/summary" & pid=$!; }
attached() { [ "$(program_id "$in")" != 0 ] && [ -d "$pins/$in" ]; }
# kinds: what is wanted now, as the program reads it
kinds() {
	bpftool -j map dump pinned "$pins/$in/config" |
		json /dev/stdin 'j[0]["formatted"]["value"]["event_kinds"]'
}
reading() { attached && [ "$(kinds)" != 0 ]; }
# The bit of duplicates in it comes behind those of the reasons for bypassing, and of distinct.
duplicates=$("$xdd" events "$in" --verdict none 2>&1 |
	sed 's/.*bypassed, \(.*\);.*/\1/' | wc -w)
duplicates=$((duplicates + 1))
note_of() { # NAME: of the counters
	"$xdd" status "$in" --json | json /dev/stdin 'j[0]["counters"]["total"]["'"$1"'"]'
}
# shown_or_counted: sent + limited + lost
shown_or_counted() {
	"$xdd" status "$in" --json | json /dev/stdin 'sum(j[0]["counters"]["total"]["events_" + n]
		for n in ("sent", "limited", "lost"))'
}

# A sample of what is dropped.
run_now --sample-dropped "50:$tmp/sample.pcapng"
check "run samples" wait_until reading
check_command "another reader is told who reads" 1 '' "process $pid reads the events of $in" \
	"$xdd" events "$in" --count 1
check_equal "... and changes nothing" "$((1 << duplicates | 2 << duplicates))" "$(kinds)"
transmit "$tmp/in.pcap"
sleep 0.3
check_equal "every duplicate is shown or counted" 600 "$(shown_or_counted)"
sent=$(note_of events_sent)
check "fifty a second (or of two seconds)" test "$sent" = 50 -o "$sent" = 100
check "the file is not there yet" test ! -e "$tmp/sample.pcapng"
"$xdd" set "$in" --action count >/dev/null
sleep 1.1
transmit "$tmp/in.pcap" # all of them are copies now
sleep 0.3
sent=$(note_of events_sent)
kill -INT $pid
wait $pid
check_equal "run ends well" 0 $?
check_command "... and says what it kept" 0 "sample.pcapng: $sent duplicates kept, .* beyond 50 a second, 0 lost" \
	'' cat "$tmp/run"
tests/netns/sampled.py "$tmp/sample.pcapng" "$tmp/in.pcap" >"$tmp/sampled"
expect() { check_equal "$1" "$2" "$(json "$tmp/sampled" "$3")"; }
expect "the file has what was sent to it" "$sent" 'j["frames"]'
expect "each with the rule" True \
	'set(j["comments"]) == {f"duplicate: key packet, engine tagged, window 10s, interface '"$in"', action {a}"
	for a in ("drop", "count")}'
expect "... a comment a frame" "$sent" 'sum(j["comments"].values())'
expect "in order of time" True 'j["sorted"]'
expect "which is the time of day" True "abs(j['last_s'] - $(date +%s)) < 10"
expect "the interface has its name" "$in" 'j["interfaces"][0]'
if command -v capinfos >/dev/null; then
	check_equal "Wireshark reads it" "$sent" "$(capinfos -T -r -c "$tmp/sample.pcapng" | cut -f 2)"
fi
"$xdd" pcap "$tmp/sample.pcapng" --json 2>/dev/null >"$tmp/json"
check_equal "... and so do we" "$sent" "$(json "$tmp/json" 'j["packets"]')"

# Bytes as they came in, also where they are marked afterwards.
run_now --sample-dropped "100k:$tmp/marked.pcapng" --action mark:dscp=1
wait_until reading
transmit "$tmp/in.pcap"
sleep 0.3
kill -TERM $pid
wait $pid
tests/netns/sampled.py "$tmp/marked.pcapng" "$tmp/in.pcap" >"$tmp/sampled"
expect "all of them, none a first copy, none changed" "600 0" '"%d %d" % (j["frames"], j["strangers"])'

# What is kept all the same takes nothing of N.
run_now --sample-dropped "7:$tmp/few.pcapng" --engine exact --max-suppress 1
wait_until reading
transmit "$tmp/in.pcap"
transmit "$tmp/in.pcap"
sleep 0.3
let_through=$(note_of let_through)
sent=$(note_of events_sent)
kill -TERM $pid
wait $pid
check "some duplicates were kept" test "$let_through" -gt 0
tests/netns/sampled.py "$tmp/few.pcapng" "$tmp/in.pcap" >"$tmp/sampled"
expect "... and N others sampled" "$sent" 'j["frames"]'
check "... a second" test "$sent" -ge 7

run_now --sample-dropped "5:$tmp/none.pcapng" --seconds 1
wait $pid
check_equal "--seconds ends run" "0 0" "$? $(program_id "$in")"
tests/netns/sampled.py "$tmp/none.pcapng" "$tmp/in.pcap" >"$tmp/sampled"
expect "a sample of nothing is a file" 0 'j["frames"]'

# Where the file cannot be written.
check_command "no such folder: nothing is loaded" 1 '' "$tmp/no/x.pcapng: .*No such file" \
	"$xdd" run "$in" --netns "$rx" --sample-dropped "5:$tmp/no/x.pcapng"
check_equal "... not for a moment" "" "$(pins_of_ours)"
run_now --sample-dropped "100k:/dev/full"
wait_until attached
transmit "$tmp/in.pcap"
check "a full disk is said" wait_until grep -q '/dev/full: .*No space left.*the filter goes on' "$tmp/run"
transmit "$tmp/in.pcap"
sleep 0.2
check_equal "... and the filter goes on" "1800 300 1500 0 300 1500 0 0" "$(counters "$in")"
check_equal "... without events" 0 "$(kinds)"
kill -TERM $pid
wait $pid
check_equal "... but the command has failed" 1 $?
mkdir "$tmp/disk"
mount -t tmpfs -o size=64k none "$tmp/disk"
at_exit umount "$tmp/disk"
run_now --sample-dropped "100k:$tmp/disk/full.pcapng"
wait_until reading
transmit "$tmp/in.pcap"
sleep 0.2
kill -TERM $pid
wait $pid
check_equal "a disk that is full at the end" 1 $?
check_command "... is said" 0 'full.pcapng: .*No space left' '' cat "$tmp/run"
check_equal "... leaves no half of a file" "" "$(ls -A "$tmp/disk")"
check_equal "... nor the program" 0 "$(program_id "$in")"

# Killed: no lock stays, what nobody reads is counted.
run_now --sample-dropped "100k:$tmp/killed.pcapng" --quiet
wait_until reading
kill -KILL $pid
wait $pid 2>/dev/null
transmit "$tmp/large.pcap"
sleep 0.2
check_equal "without a reader every duplicate is shown or counted" 1500 "$(shown_or_counted)"
check "... and lost where there is no room" test "$(note_of events_lost)" -gt 100
"$xdd" status "$in" >"$tmp/text"
check "... which status says" grep -q 'warning .*nobody reads' "$tmp/text"
events --count 3 --rate 100 --json --seconds 20
wait_until reading
sleep 0.2
check_equal "another reader comes after it, and what is old is gone" "" "$(cat "$tmp/events")"
transmit "$tmp/in.pcap"
wait $pid
check_equal "--count ends it" 0 $?
check_equal "... after three" 3 "$(wc -l <"$tmp/events")"
check_equal "... and nothing is sampled any more" 0 "$(kinds)"
check "every line is an object" python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    assert e["verdict"] == "distinct" and e["interface"] == sys.argv[2], e
    assert e["dport"] == "9" and e["transport"] == "udp" and len(e["bytes"]) == 2 * e["captured"], e
    assert e["wire_len"] == 200 and e["action"] == "pass" and len(e["key"]) == 16, e' \
	<(head -n 1 "$tmp/events") "$in"
"$xdd" unload "$in"

# Which are shown.
load "$in" --window 10s
others() { # frames without IP: LLDP, ARP
	python3 - "$out" "/run/netns/$tx" <<-'END'
		import ctypes, os, socket, sys
		fd = os.open(sys.argv[2], os.O_RDONLY)
		assert ctypes.CDLL(None).setns(fd, 0) == 0
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind((sys.argv[1], 0))
		for kind in [0x88CC] * 4 + [0x0806] * 2:
		    s.send(bytes(12) + kind.to_bytes(2, "big") + bytes(46))
	END
}
check "--seconds ends events" "$xdd" events "$in" --seconds 1
events --verdict bypassed --rate 1M --json --count 6
wait_until reading
transmit "$tmp/in.pcap"
others
wait $pid
check_equal "so do six of them" 0 $?
check_equal "--verdict bypassed" "6 not_ip 0x806 0x88cc" "$(python3 -c '
import json, sys
found = [json.loads(line) for line in open(sys.argv[1])]
assert all(e["verdict"] == "bypassed" and e["key"] is None for e in found)
print(len(found), *sorted({e["reason"] for e in found}), *sorted({e["ethertype"] for e in found}))' "$tmp/events")"
check_command "the summary" 0 '"shown": 6, "filtered": 0, "limited": 0, "lost": 0' '' cat "$tmp/summary"
events --filter 'arp' --rate 1M --count 2 --snaplen 64
wait_until reading
transmit "$tmp/in.pcap"
others
wait $pid
check_equal "--filter" "2 2" "$(wc -l <"$tmp/events") $(grep -c 'not_ip .*60 bytes EtherType 0x806' "$tmp/events")"
check_command "... and what it left out" 0 '2 shown, 904 that --filter leaves out, 0 beyond' '' cat "$tmp/summary"
check_command "one that can never match" 2 '' 'rejects all packets' "$xdd" events "$in" --filter 'ip and ip6'
check_command "one about what is no packet's" 2 '' 'not in the packet' "$xdd" events "$in" --filter 'inbound'
check_command "a wrong expression" 2 '' "--filter 'frob frob'.*pcap-filter" \
	"$xdd" events "$in" --filter 'frob frob'
check_command "too many" 2 '' '--rate 2000000: at most' "$xdd" events "$in" --rate 2M
check_command "bits are no events" 2 '' '--rate counts events' "$xdd" events "$in" --rate 1Gbit

# A reader that goes away.
"$xdd" events "$in" --rate 1M 2>"$tmp/summary" | head -n 1 >"$tmp/events" &
pid=$!
wait_until reading
transmit "$tmp/in.pcap" 2000
wait $pid
not_wanted() { [ "$(kinds)" = 0 ]; }
check "a closed pipe ends it" wait_until not_wanted
check_equal "... after a line" 1 "$(wc -l <"$tmp/events")"

# What set does meanwhile.
events --verdict duplicate --rate 1M --json
wait_until reading
"$xdd" set "$in" --window 8s >/dev/null
check_equal "set leaves events on" "$((1 << duplicates))" "$(kinds)"
types() { "$xdd" status "$in" --json | json /dev/stdin '[(t["ethertype"], t["packets"]) for t in j[0]["passed_ethertypes"]]'; }
before=$(types)
check_equal "what passed, by EtherType" "[('0x88cc', 8), ('0x0806', 4)]" "$before"
"$xdd" set "$in" --window 100s --restart >/dev/null
check_equal "... goes on after a restart" "$before" "$(types)"
sleep 0.5
transmit "$tmp/in.pcap"
shown() { [ "$(wc -l <"$tmp/events")" = 600 ]; } # the filter is empty after it
check "... and so do events" wait_until shown
check_command "... whose reader is still the only one" 1 '' "process $pid reads" "$xdd" events "$in"
"$xdd" unload "$in"
wait $pid
check_equal "unload ends it" 1 $?
check_command "... and it says so" 0 "events: $in was unloaded" '' cat "$tmp/summary"
check_equal "nothing is left" "" "$(pins_of_ours)"
check_command "nothing to read" 1 '' 'no instance|no such instance' "$xdd" events "$in"
finish
