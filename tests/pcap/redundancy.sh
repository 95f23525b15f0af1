#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --key redundancy on streams of PRP, HSR and FRER: copies in any order, lost ones, numbers that go
# round, two networks with the same addresses.
. "$(dirname "$0")/../tap.sh"

# counts ARGUMENT...: "packets distinct duplicates" that pcap counts
counts() {
	"$xdd" pcap "$@" --json --quiet 2>/dev/null | python3 -c 'import json, sys
j = json.load(sys.stdin)
print(j["packets"], j["distinct"], j["duplicates"])'
}

for kind in prp hsr frer; do
	python3 tests/pcap/numbered.py "$kind" "$tmp/$kind"
	read -r packets distinct copies merged <"$tmp/$kind.counts"
	apart="$packets $distinct $copies"
	together="$packets $merged $((packets - merged))"
	[ "$kind" != frer ] || together=$apart # a stream is also its VLAN
	for engine in recovery exact tagged; do
		check_equal "$kind: engine $engine, two networks" "$apart" \
			"$(counts "$tmp/$kind" --key redundancy --engine "$engine" --vlan key)"
		check_equal "$kind: engine $engine, not told apart" "$together" \
			"$(counts "$tmp/$kind" --key redundancy --engine "$engine")"
	done
	check_equal "$kind: what is kept has no copies" "$distinct $distinct 0" \
		"$("$xdd" pcap "$tmp/$kind" --key redundancy --vlan key -w - --quiet |
			counts - --key redundancy --vlan key)"
done

# Each network a capture of its own.
tcpdump -r "$tmp/hsr" -w "$tmp/one" vlan 1 2>/dev/null
tcpdump -r "$tmp/hsr" -w "$tmp/two" vlan 2 2>/dev/null
read -r packets distinct copies _ <"$tmp/hsr.counts"
if [ -s "$tmp/two" ]; then
	check_equal "two interfaces" "$packets $distinct $copies" \
		"$(counts "$tmp/one" "$tmp/two" --key redundancy --scope interface)"
else
	skip "two interfaces" "no tcpdump"
fi

# Late by more than the history: rogue, and passed.
check_command "a short history" 0 'too far from their stream' '' \
	"$xdd" pcap "$tmp/frer" --key redundancy --recovery vector:2
"$BUILD/tests/tools/gencap" --frames 2000 -o "$tmp/plain" 2>/dev/null
check_command "frames without a number pass" 0 'passed without a look: 2000 untagged' '' \
	"$xdd" pcap "$tmp/plain" --key redundancy
check_command "the engine without the key" 2 '' 'engine recovery follows .*--key redundancy' \
	"$xdd" pcap "$tmp/plain" --engine recovery
check_command "lines have no such numbers" 2 '' 'engine recovery follows' \
	"$xdd" stream --engine recovery
check_command "a history of one" 2 '' 'recovery vector:1: not vector, vector:N of 2 to 256' \
	"$xdd" pcap "$tmp/frer" --key redundancy --recovery vector:1
check_command "another engine has none" 2 '' 'recovery is for --key redundancy' \
	"$xdd" pcap "$tmp/frer" --key redundancy --engine exact --recovery match
check_command "tunnels and fields have no place" 2 '' 'no place with --key redundancy' \
	"$xdd" pcap "$tmp/frer" --key redundancy --include macs
finish
