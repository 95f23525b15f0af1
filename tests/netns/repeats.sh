#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Live: repeats by class, an ARP storm that stays visible, and what is suppressed most.
. "$(dirname "$0")/lib.sh"

status() { "$xdd" status "$in" --json | json /dev/stdin "$1"; }
config() { status "j[0]['config']['$1']"; }

python3 - "$tmp/storm.pcap" <<'END'
import struct, sys
arp = bytes.fromhex("ffffffffffff02000000000108060001080006040001020000000001") + \
    bytes([192, 0, 2, 1]) + bytes(6) + bytes([192, 0, 2, 9]) + bytes(18)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for n in range(1000):
        out.write(struct.pack("<IIII", 0, n, len(arp), len(arp)) + arp)
END
"$frames" make "$tmp/v6.pcap" --packets 300 --copies 1 --kind v6
# from 1 on: the number is the identification
"$frames" make "$tmp/v4.pcap" --packets 300 --copies 1 --first 1

load "$in" --window 100s --non-ip frame --engine exact --max-suppress 9 ||
	{ fail "load"; finish; }
transmit "$tmp/storm.pcap"
sleep 0.2
check_equal "of an ARP storm one in ten passes" "1000 1 999 0 100 900 0 0" "$(counters "$in")"
check_equal "... and says" "99 999" \
	"$(status '"%d %d" % (j[0]["counters"]["total"]["let_through"],
		j[0]["counters"]["total"]["ambiguous"]["other"]["packets"])')"
check_equal "the storm is what is suppressed most" \
	"[{'packets': 900, 'ethertype': 2054, 'source': '02:00:00:00:00:01', 'destination': 'ff:ff:ff:ff:ff:ff'}]" \
	"$(status 'j[0]["top_suppressed"]')"
check_command "... for people, too" 0 ' 900  02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff, ARP' '' \
	"$xdd" status "$in"
check "... with their policy" grep -q 'sent twice: other 999; drop)' "$tmp/stdout"

id=$(program_id "$in")
transmit "$tmp/v4.pcap"
transmit "$tmp/v6.pcap"
sleep 0.2
check_equal "IPv6 is ambiguous, IPv4 with identification is not" "300 600" \
	"$(status '"%d %d" % (j[0]["counters"]["total"]["ambiguous"]["udp"]["packets"],
		j[0]["counters"]["total"]["duplicate"]["packets"] - 999)')"
check_command "set --ambiguous" 0 'ambiguous ack=drop,tcp=drop,udp=pass,other=drop' '' \
	"$xdd" set "$in" --ambiguous udp=pass
before=$(counters "$in")
transmit "$tmp/v6.pcap"
sleep 0.2
check_equal "from then on they pass, as duplicates that are known" "600 0 600 600 0" \
	"$(paste -d' ' <(counters "$in") <(echo "$before") |
		awk '{ print $1 - $9, $2 - $10, $3 - $11, $5 - $13, $6 - $14 }')"
check_command "set of another class leaves it" 0 '"ack=pass,tcp=drop,udp=pass,other=drop"' '' \
	"$xdd" set "$in" --ambiguous ack=pass --json
check_equal "... in status, too" "{'ack_rst': 'pass', 'tcp_data': 'drop', 'udp': 'pass', 'other': 'drop'}" \
	"$(config ambiguous)"
check_command "set --max-suppress, --top-suppressed" 0 'no list of the most suppressed' '' \
	"$xdd" set "$in" --ambiguous drop --max-suppress off --top-suppressed off
check_equal "... in status" "0 False None" \
	"$(config max_suppress) $(config top_suppressed) $(status 'j[0]["top_suppressed"]')"
before=$(counters "$in")
transmit "$tmp/storm.pcap"
sleep 0.2
check_equal "... nothing of the storm passes then" "1000 0 1000 0 1000" \
	"$(paste -d' ' <(counters "$in") <(echo "$before") |
		awk '{ print $1 - $9, $2 - $10, $3 - $11, $5 - $13, $6 - $14 }')"
check_equal "all of that by the same program" "$id" "$(program_id "$in")"
check "unload" "$xdd" unload "$in"

# Engines that do not count let one in so many pass on average.
load "$in" --window 100s --non-ip frame --max-suppress 4 || { fail "load"; finish; }
for _ in 1 2 3 4 5; do
	transmit "$tmp/storm.pcap"
done
sleep 0.2
read -r received distinct _ _ passed _ < <(counters "$in")
check_equal "tagged: one storm" "5000 1" "$received $distinct"
check "tagged: about one in five passes ($passed)" test "$passed" -gt 850 -a "$passed" -lt 1150
check "unload" "$xdd" unload "$in"

load "$in" --window 100s --key src || { fail "load"; finish; }
check_command "set --ambiguous of another key is refused" 2 '' 'the packet key' \
	"$xdd" set "$in" --ambiguous pass
transmit "$tmp/v4.pcap"
sleep 0.2
check_equal "what a key has is what is shown" "[{'packets': 599, 'source': '192.0.2.1'}]" \
	"$(status 'j[0]["top_suppressed"]')"
finish
