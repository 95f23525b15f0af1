#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tunnels and site policy on live traffic: what an instance drops with each option and without, and
# that status says which it has.
. "$(dirname "$0")/lib.sh"

pair "x$out" "x$in"
"$BUILD/tests/tools/gencap" --frames 1000 --rate 20000 --within 5 --size 90 --ttl -o "$tmp/plain" 2>"$tmp/truth"
copies=$(sed 's/.*copies=\([0-9]*\).*/\1/' "$tmp/truth")
for end in "$in" "x$in"; do
	in_rx ethtool -K "$end" rxvlan off 2>/dev/null
done

# alter WHAT...: the frames that are sent from here on
alter() {
	tests/pcap/altered.py "$tmp/plain" "$tmp/sent.pcap" "$@"
}

# dropped WANTED OPTION...: of the frames, sent while an instance with these options is loaded
dropped() {
	local wanted=$1
	shift
	load "$in" --window 10s "$@" || { fail "load $*"; return; }
	transmit "$tmp/sent.pcap"
	sleep 0.2
	check_equal "$what: dropped with '$*'" "1000 $wanted" "$(counters "$in" | cut -d' ' -f1,6)"
	"$xdd" unload "$in" --quiet
}

what="a tunnel around the copy"
alter tunnel
dropped 0
dropped "$copies" --inner
dropped 0 --inner --vni key
dropped 0 --inner --tunnel-port vxlan=4790
what="a tunnel, tags and a time stamp around the copy"
alter tunnel vlan stamp
dropped "$copies" --inner
what="another VLAN"
alter vlan
dropped "$copies"
dropped 0 --vlan key
dropped "$copies" --vlan map:10=20
what="another identification and checksum"
alter ipid l4csum
dropped 0 --ignore ipid
dropped "$copies" --ignore ipid,l4csum
what="another TTL"
alter
dropped "$copies"
dropped 0 --include ttl
dropped "$copies" --payload 20
what="a time stamp"
alter stamp
dropped "$copies"
dropped 0 --key frame

# Two interfaces, the same frames on both.
for scope in "all 1000" "interface 0"; do
	load "$in" "x$in" --window 10s --include ttl --scope "${scope% *}" || { fail "load"; continue; }
	alter
	transmit "$tmp/sent.pcap"
	transmit "$tmp/sent.pcap" 20000 "x$out"
	sleep 0.2
	check_equal "two interfaces: dropped with --scope ${scope% *}" "2000 ${scope#* }" \
		"$(counters "$in" | cut -d' ' -f1,6)"
	"$xdd" unload "$in" --quiet
done

# Frames without IP, the same twice.
for policy in "pass 0 2000" "frame 1000 0"; do
	read -r name wanted unsupported <<<"$policy"
	load "$in" --window 10s --non-ip "$name" || { fail "load"; continue; }
	alter macsec
	transmit "$tmp/sent.pcap"
	transmit "$tmp/sent.pcap"
	sleep 0.2
	check_equal "MACsec: dropped with --non-ip $name" "2000 $wanted" "$(counters "$in" | cut -d' ' -f1,6)"
	"$xdd" status "$in" --json >"$tmp/status"
	check_equal "MACsec: counted as unsupported with --non-ip $name" "$unsupported" "$(json "$tmp/status" \
		'j[0]["counters"]["total"]["bypassed"]["reasons"]["unsupported"]["packets"]')"
	"$xdd" unload "$in" --quiet
done

# Everything at once, as status tells it.
everything=(--inner --vni key --vlan "map:300=50,7=0" --ignore "ipid,l4csum,tcp-seq,tcp-ack,tcp-opts"
	--include "ttl,dscp,ecn,flowlabel,macs" --payload 256 --scope interface --non-ip frame)
load "$in" --window 10s "${everything[@]}" --tunnel-port vxlan=14789 || fail "load everything"
"$xdd" status "$in" >"$tmp/text"
check_equal "status: the options in words" "${everything[*]}" "$(sed -n 's/^ *policy *//p' "$tmp/text")"
"$xdd" status "$in" --json >"$tmp/status"
check_equal "status: the options in JSON" "True key map:300=50,7=0 256 interface frame [14789]" "$(json "$tmp/status" \
	'"{inner} {vni} {vlan} {payload} {scope} {non_ip} {tunnel_ports[vxlan]}".format(**j[0]["config"])')"
check_equal "status: the fields in JSON" \
	"['ipid', 'l4csum', 'tcp-seq', 'tcp-ack', 'tcp-opts'] ['ttl', 'dscp', 'ecn', 'flowlabel', 'macs']" \
	"$(json "$tmp/status" '"{ignore} {include}".format(**j[0]["config"])')"
check_command "set: what is fixed" 2 '' '--inner is fixed when an instance is loaded' "$xdd" set "$in" --inner
check_command "set: fields" 2 '' '--ignore is fixed when' "$xdd" set "$in" --ignore ttl
"$xdd" set "$in" --action count --quiet
check_equal "set: what it may change leaves the policy" "${everything[*]}" \
	"$("$xdd" status "$in" | sed -n 's/^ *policy *//p')"
"$xdd" unload "$in" --quiet
load "$in" || fail "load"
check_equal "status: nothing where nothing was given" 0 "$("$xdd" status "$in" | grep -c policy)"
finish
