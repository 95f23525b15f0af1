#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# learn on files: what it says that windows would drop is what pcap drops, and its advice finds the
# copies that are known to be there.
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap

# learnt ARGUMENT...: JSON to $tmp/learnt
learnt() {
	"$xdd" learn "$@" --json >"$tmp/learnt"
}

# value EXPRESSION: Python over the JSON j
value() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$tmp/learnt" "$1"
}

# drops NAME FILE [OPTION...]: for each window as many frames as pcap with the exact engine
drops() {
	local name=$1 file=$2 window dropped
	shift 2
	learnt "$file" "$@"
	value '"\n".join("{} {}".format(w["window_ns"], w["would_drop"]) for w in j["windows"])' \
		>"$tmp/windows"
	while read -r window _; do
		dropped=$("$xdd" pcap "$file" --window "${window}ns" --json |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["duplicates"])')
		echo "$window $dropped"
	done <"$tmp/windows" >"$tmp/dropped"
	check "$name: windows would drop what they do" cmp "$tmp/windows" "$tmp/dropped"
}

for within in 1 8 40 90; do
	"$gencap" --frames 20000 --rate 20000 --within $within --size 90 --ttl -o "$tmp/in" 2>"$tmp/truth"
	copies=$(sed 's/.*copies=\([0-9]*\).*/\1/' "$tmp/truth")
	drops "copies within $within ms" "$tmp/in"
	check_equal "copies within $within ms: all are found, and sure" "copies $copies 0" \
		"$(value '"{} {} {}".format(j["advice"]["verdict"], j["copies"], j["unsure"])')"
	check_equal "copies within $within ms: the advice is a little above" True "$(value \
		"$within <= j['advice']['window_ns'] / 1e6 <= max(2.5 * $within, 2)")"
	check_equal "copies within $within ms: and drops them all" "$copies" \
		"$(value 'j["advice"]["would_drop"]')"
done
check_equal "they differ in what a router changes" "['ipv4.checksum', 'ipv4.ttl']" \
	"$(value 'sorted(j["differs"])')"
check_equal "in all of them" "$copies $copies" \
	"$(value '" ".join(str(n) for n in j["differs"].values())')"
check_equal "memory was enough" True "$(value 'all(w["complete"] for w in j["windows"])')"
check_equal "the histogram holds all pairs" "$copies" "$(value 'sum(s["pairs"] for s in j["apart"])')"
check_equal "packets that came once, and twice" "$((20000 - 2 * copies)) $copies" \
	"$(value '"{} {}".format(j["times"][0], j["times"][1])')"

# Across two interfaces of a pcapng, and in two VLANs.
"$gencap" --frames 2000 --vlan 100 --format pcapng -o "$tmp/vlan" 2>/dev/null
learnt "$tmp/vlan"
check_equal "copies in another VLAN are counted" True \
	"$(value '0 < j["other_vlan"] == j["differs"]["vlan.vid"] <= j["copies"]')"
check_command "and it is said what that may mean" 0 'copies are in another VLAN' '' "$xdd" learn "$tmp/vlan"

# No copies: it says so.
"$gencap" --frames 2000 --copies 0 -o "$tmp/none" 2>/dev/null
check_command "no copies" 0 'advice +none: there are no copies' '' "$xdd" learn "$tmp/none"
learnt "$tmp/none"
check_equal "no copies, in JSON" "no copies [] None" \
	"$(value '"{} {} {}".format(j["advice"]["verdict"], j["advice"]["options"], j["advice"]["window_ns"])')"

# A part of the file, and a filter.
learnt "$tmp/in" --packets 500
check_equal "--packets" 500 "$(value 'j["packets"]')"
"$gencap" --frames 3000 --rate 1000 -o "$tmp/slow" 2>/dev/null
learnt "$tmp/slow" --seconds 1
check_equal "--seconds, by the time of the frames" 1001 "$(value 'j["packets"]')"
learnt "$tmp/in" --filter 'less 50'
check_equal "--filter" "20000 0 nothing" "$(value '"{} {} {}".format(j["bypassed"]["filtered"],
	j["compared"], j["advice"]["verdict"])')"
check "from standard input" bash -c "'$xdd' learn - --json <'$tmp/in' | grep -q '\"copies\": $copies'"

# Memory for a thousand packets: fewer copies are found, and it is said how far it looked back.
learnt "$tmp/in" --memory 64
check_equal "little memory: fewer are found" True "$(value '0 < j["copies"] < '"$copies")"
check_equal "little memory: windows beyond it are incomplete" False \
	"$(value 'j["windows"][-1]["complete"]')"
check_command "little memory: in words" 0 'memory did not reach that far' '' \
	"$xdd" learn "$tmp/in" --memory 64

head -c 100000 "$tmp/in" >"$tmp/cut"
check_command "a damaged file: what is whole is reported, exit 1" 1 'copies +[1-9]' 'cut: at byte' \
	"$xdd" learn "$tmp/cut"
check_command "neither a file nor an interface" 1 '' 'no/such: neither' "$xdd" learn no/such
check_command "no capture" 1 '' 'not a capture' "$xdd" learn tests/tap.sh
check_command "a number of seconds" 2 '' 'seconds 0' "$xdd" learn "$tmp/in" --seconds 0

if [ ! -d "$captures" ]; then
	skip "real captures" "no folder $captures"
	finish
fi
check "real captures: windows would drop what was counted independently" \
	python3 tests/pcap/learn.py "$xdd" "$captures"

# verdict NAME VERDICT FILE [WINDOW-NS]
verdict() {
	learnt "$captures/$3"
	check_equal "$1" "$2 ${4:-None}" \
		"$(value '"{} {}".format(j["advice"]["verdict"], j["advice"]["window_ns"])')"
}
verdict "copies up to 50.45 ms apart" copies arkime-wireshark-retrans.pcap 100000000
verdict "copies behind a router" copies arkime-mongo.pcap 1000000
verdict "copies at once" copies zeek-ssh-dups.pcap 1000000
verdict "hellos are none" "no copies" the-tcpdump-group-vrrp.pcap
verdict "hellos are none: PIM" "no copies" arkime-pim.pcap
verdict "the same bytes after 300 s are none" "no copies" zeek-retransmit-timeout.pcapng
verdict "equal acknowledgements cannot be told from copies" unsure \
	zeek-smb_many_open_files_500.pcap.gz 1000000
verdict "nothing that could be compared" nothing the-tcpdump-group-802.1D_spanning_tree.pcap
# The least that finds the copies of tunnels and VLANs.
advice() {
	learnt "$captures/$3"
	check_equal "$1" "$2" "$(value '" ".join(j["advice"]["options"][2:]) + " {} {}".format(
		j["advice"]["would_drop"], j["advice"]["vlan"])')"
}
advice "two switches mirror the same: --inner" "--inner 8 None" the-tcpdump-group-erspan-type-ii-2.pcap
advice "the same in two VXLANs, and bare: --inner" "--inner 28 None" zeek-vxlan-overlapping-http-get.pcap
advice "GRE as it is, in two VLANs" " 1 map:22=2303" zeek-gre-aruba-ccmp.pcap
advice "routed between VLANs" " 7 map:300=50" arkime-mongo.pcap
advice "networks of their own" " 28 key" zeek-vlan-collisions.pcap
check_equal "which is not sure" "unsure 28" \
	"$(value '"{} {}".format(j["advice"]["verdict"], j["advice"]["unsure"])')"
check_command "and how they are kept" 0 'another VLAN .* --vlan key keeps them$' '' \
	"$xdd" learn "$captures/zeek-vlan-collisions.pcap"
advice "tunnels without copies: no option" " 0 None" arkime-gre-erspan-vxlan.pcap
check_command "PPPoE can be looked into" 0 '86 more frames are compared by --inner$' '' \
	"$xdd" learn "$captures/zeek-pppoe-over-qinq.pcap"
check_command "and is then" 0 ' 86 compared$' '' "$xdd" learn "$captures/zeek-pppoe-over-qinq.pcap" --inner
learnt "$captures/zeek-ssh-dups.pcap"
check_equal "mirrored four times" True "$(value 'j["times"][3] > 90')"
check_command "a flood is named" 0 'one packet came 1000 times' '' "$xdd" learn "$captures/OISF-rsmurf6.pcap"
finish
