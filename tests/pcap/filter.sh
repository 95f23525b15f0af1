#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --filter and --direction: what they leave out passes, is counted, and nothing else changes.
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap
"$gencap" --frames 4000 --rate 20000 --within 5 --v6 40 -o "$tmp/in" 2>/dev/null

# counts ARGUMENT...: "packets distinct duplicates filtered" that pcap counts
counts() {
	"$xdd" pcap "$@" --json --quiet 2>/dev/null | python3 -c 'import json, sys
j = json.load(sys.stdin)
print(j["packets"], j["distinct"], j["duplicates"], j["bypassed"]["filtered"])'
}

# compare NAME EXPRESSION: as if tcpdump had dealt the capture out and only one part were compared
compare() {
	local name=$1 expression=$2 distinct copies rest
	tcpdump -r "$tmp/in" -w "$tmp/match" "$expression" 2>/dev/null
	tcpdump -r "$tmp/in" -w "$tmp/rest" "not ($expression)" 2>/dev/null
	read -r _ distinct copies _ < <(counts "$tmp/match")
	read -r rest _ < <(counts "$tmp/rest")
	check_equal "$name: counted" "4000 $distinct $copies $rest" \
		"$(counts "$tmp/in" --filter "$expression")"
	"$xdd" pcap "$tmp/in" -w "$tmp/ours" --filter "$expression" --quiet
	"$xdd" pcap "$tmp/match" -w "$tmp/kept" --quiet
	"$xdd" pcap "$tmp/kept" "$tmp/rest" -w "$tmp/theirs" --key offset:1@65535 --window 1ns --quiet
	check "$name: the rest passes" cmp "$tmp/ours" "$tmp/theirs"
}
if command -v tcpdump >/dev/null; then
	compare "one protocol" ip6
	compare "a length" "less 100 or greater 500"
	compare "everything" ip or ip6
	compare "nothing" "tcp port 4711"
else
	skip "as tcpdump deals it out" "no tcpdump"
fi

check_command "a wrong expression is a usage error with its reason" 2 '' \
	"--filter 'tcp prot 5' .*EN10MB: .*syntax error" "$xdd" pcap "$tmp/in" --filter 'tcp prot 5'
check_command "an unknown word, too" 2 '' "frobnicate" "$xdd" pcap "$tmp/in" --filter 'port frobnicate'
check_command "an empty one" 2 '' "filter '': not an expression" "$xdd" pcap "$tmp/in" --filter ''
check_command "a wrong direction" 2 '' "direction up: not a direction" \
	"$xdd" pcap "$tmp/in" --direction up
check_command "learn says so, too" 2 '' "syntax error" "$xdd" learn "$tmp/in" --filter 'tcp prot 5'

# Raw IP: no Ethernet address can be asked for.
printf '\x65' | cat <(head -c 20 "$tmp/in") - <(tail -c +22 "$tmp/in") >"$tmp/raw"
check_command "an expression that one link type has no meaning for" 1 '' \
	"--filter .*link type RAW: " "$xdd" pcap "$tmp/raw" -w "$tmp/out" --filter 'ether host 1:2:3:4:5:6'
check "leaves no file" test ! -e "$tmp/out"

# Ethernet says nothing of the direction: nothing is compared, and it is said.
check_equal "no direction known" "4000 0 0 4000" "$(counts "$tmp/in" --direction in)"
check_command "and it is said" 0 '4000 filtered' '4000 of 4000 frames do not say' \
	"$xdd" pcap "$tmp/in" --direction out

# A pcapng whose frames go both ways.
python3 tests/pcap/directions.py "$tmp/in" "$tmp/ng" "$tmp/sll" "$tmp/sll2"
for file in ng sll sll2; do
	for way in in out; do
		check_equal "$file: --direction $way" \
			"$(cat "$tmp/$file.$way")" "$(counts "$tmp/$file" --direction $way)"
	done
	check_equal "$file: any direction" "$(counts "$tmp/$file")" "$(counts "$tmp/$file" --direction any)"
done

if [ -d "$captures" ]; then
	check_equal "a real pcapng" "2 1 0 1" "$(counts "$captures/made-ngdir.pcapng" --direction out)"
else
	skip "a real pcapng" "no folder $captures"
fi
finish
