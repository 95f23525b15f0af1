#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --key redundancy on an interface: what pcap finds in the made streams of PRP, HSR and FRER, the XDP
# program finds on the wire, and status says.
. "$(dirname "$0")/lib.sh"

for kind in prp hsr frer; do
	python3 tests/pcap/numbered.py "$kind" "$tmp/$kind"
	read -r packets distinct copies _ <"$tmp/$kind.counts"
	# Time is that of the wire: streams must not fall quiet while they are sent.
	load "$in" --key redundancy --vlan key --window 100s || { fail "$kind: load"; continue; }
	transmit "$tmp/$kind"
	"$xdd" status "$in" --json >"$tmp/status"
	check_equal "$kind: first copies, copies, no others" "$packets $distinct $copies 0 0" \
		"$(json "$tmp/status" '"%d %d %d %d %d" % (
			j[0]["counters"]["total"]["received"]["packets"],
			j[0]["counters"]["total"]["distinct"]["packets"],
			j[0]["counters"]["total"]["duplicate"]["packets"],
			j[0]["counters"]["total"]["bypassed"]["packets"],
			j[0]["counters"]["total"]["rogue"])')"
	"$xdd" unload "$in"
done

"$frames" make "$tmp/frames.pcap" --packets 100 --copies 1
load "$in" --key redundancy
transmit "$tmp/frames.pcap"
check_command "frames without numbers pass" 0 'untagged 200' '' "$xdd" status "$in"
check_command "the window of the standard" 0 'window +400 ms' '' "$xdd" status "$in"
check_command "changes while it runs" 0 'window 2 s' '' "$xdd" set "$in" --window 2s
finish
