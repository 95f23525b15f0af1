#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
#
# Real captures with known copies: the numbers of every key and window, and exact copies of the
# files where nothing is dropped.
# shellcheck disable=SC2317 # functions that check and each call
. "$(dirname "$0")/../tap.sh"

if [ ! -f "$captures/expected-first-copy.tsv" ]; then
	skip "captures with known copies" "no folder $captures"
	finish
fi

# compare NAME FEWEST TABLE OPTION...: all of the table, with at least FEWEST comparisons
compare() {
	local name=$1 fewest=$2 found
	shift 2
	found=$(python3 tests/pcap/captures.py "$xdd" "$captures" "$@" 2>&1)
	if [[ $found =~ ^[0-9]+$ ]] && [ "$found" -ge "$fewest" ]; then
		pass "$name: $found comparisons"
	else
		fail "$name" "$found"
	fi
}

for table in first-copy refresh; do
	fewest=800
	[ $table = refresh ] && fewest=200
	compare "exact, $table: to the frame" $fewest $table
	compare "exact, $table: the same for IP with --non-ip frame" $((fewest / 3)) $table --non-ip frame
	compare "tagged, $table: but for the last tick" $fewest $table --engine tagged --memory 1MiB
	compare "timer, $table: but for the last tick" $fewest $table --engine timer --memory 1MiB
done

# duplicates FILE OPTION...
duplicates() {
	"$xdd" pcap "$captures/$1" --json "${@:2}" | grep -o '"duplicates": [0-9]*' | grep -o '[0-9]*$'
}
check_equal "one packet in two VXLANs and bare: copies" 28 \
	"$(duplicates zeek-vxlan-overlapping-http-get.pcap --inner --vni ignore)"
check_equal "with the VNI in the key all are kept" 0 \
	"$(duplicates zeek-vxlan-overlapping-http-get.pcap --inner --vni key)"
check_equal "what comes in on another port is no tunnel" 0 \
	"$(duplicates zeek-vxlan-overlapping-http-get.pcap --inner --tunnel-port vxlan=14789)"

check_equal "copies on VLANs 300 and 50: VLANs ignored" 7 "$(duplicates arkime-mongo.pcap)"
check_equal "... in the key" 0 "$(duplicates arkime-mongo.pcap --vlan key)"
check_equal "... mapped" 7 "$(duplicates arkime-mongo.pcap --vlan map:300=50)"
check_equal "... mapped, but another TTL" 0 \
	"$(duplicates arkime-mongo.pcap --vlan map:300=50 --include ttl)"
check_equal "the same addresses on different VLANs: all kept" 0 \
	"$(duplicates zeek-vlan-collisions.pcap --window 50ms --vlan key)"
check_equal "under QinQ, one tag, none: VLANs ignored" 6 "$(duplicates zeek-vlan-pcp-dei.pcapng)"
check_equal "... in the key" 0 "$(duplicates zeek-vlan-pcp-dei.pcapng --vlan key)"
check_equal "a copy on the other interface" 1 "$(duplicates made-ng2if.pcapng)"
check_equal "... is none on the same one" 0 "$(duplicates made-ng2if.pcapng --scope interface)"
check_equal "a file twice is all copies" 2 \
	"$(duplicates made-bound2.pcap "$captures/made-bound2.pcap" --window 1us)"
check_equal "... but for different inputs" 0 \
	"$(duplicates made-bound2.pcap "$captures/made-bound2.pcap" --window 1us --scope interface)"
check_equal "spanning tree passes, whatever is compared" 0 \
	"$(duplicates the-tcpdump-group-802.1D_spanning_tree.pcap --non-ip frame --window 5s)"

compare "exact, siphash" 800 first-copy --hash siphash
compare "exact, xxh64" 800 first-copy --hash xxh64
compare "exact, another seed" 800 first-copy --seed 12345

# keep_all IN OUT [OPTION...]: no frame can be a copy, since none reaches the byte that is compared
keep_all() {
	local in=$1 out=$2
	shift 2
	"$xdd" pcap "$in" -w "$out" --key offset:1@65535 --window 1ns --quiet "$@"
}

# The output is the input, decompressed.
exact_copy() {
	local plain=$1
	if [[ $1 == *.gz ]]; then
		plain=$tmp/plain
		gunzip -c "$1" >"$plain"
	fi
	keep_all "$1" "$tmp/copy" && cmp "$tmp/copy" "$plain"
}

# Little-endian pcap files come back the same from pcapng.
there_and_back() {
	keep_all "$1" "$tmp/there" --format pcapng && keep_all "$tmp/there" "$tmp/back" --format pcap &&
		cmp "$tmp/back" "$1"
}

# each NAME FEWEST COMMAND FILE...: one result for all files, which are FEWEST or more
each() {
	local name=$1 fewest=$2 command=$3 file bad=()
	shift 3
	for file in "$@"; do
		$command "$file" >"$tmp/out" 2>&1 || bad+=("${file##*/}: $(cat "$tmp/out")")
	done
	if [ ${#bad[@]} = 0 ] && [ $# -ge "$fewest" ]; then
		pass "$name: $# files"
	else
		fail "$name" "$# files" "${bad[@]}"
	fi
}

damaged=$captures/OISF-bug-6875-01__fuzz.pcap
big_endian=$captures/seladb-nanosecs_big_endian.pcap
whole=() little_pcap=()
for file in "$captures"/*.pcap "$captures"/*.pcapng "$captures"/*.gz; do
	[ "$file" = "$damaged" ] && continue
	whole+=("$file")
	[[ $file == *.pcap && $file != "$big_endian" ]] && little_pcap+=("$file")
done
each "copied exactly" 50 exact_copy "${whole[@]}"
each "to pcapng and back" 40 there_and_back "${little_pcap[@]}"

check_command "a damaged record is named, with its offset" 1 "" \
	"OISF-bug-6875-01__fuzz.pcap: at byte 228: damaged record" keep_all "$damaged" "$tmp/copy"
check "what comes before a damaged record is written" cmp -n 228 "$tmp/copy" "$damaged"
check_equal "and nothing else" 228 "$(stat -c %s "$tmp/copy")"

check_command "two link types do not go into a pcap" 1 "" "one link type.*--format pcapng" \
	keep_all "$captures/made-ng2lt.pcapng" "$tmp/two" --format pcap
check_equal "and leave no file" "" "$(find "$tmp" -name "*two*" -o -name ".xdp-dedup*")"

finish
