#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# explain: what it says of two frames is what pcap does with them.
# shellcheck disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap
frames() {
	"$gencap" --frames 400 --rate 20000 --within 5 "$@" 2>/dev/null
}

# explained FILE A B [OPTION...]: JSON to $tmp/explained
explained() {
	"$xdd" explain "$@" --json >"$tmp/explained"
}

# value EXPRESSION: Python over the JSON j
value() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$tmp/explained" "$1"
}

frames --ttl --mac --vlan 100 --size 90 -o "$tmp/in"
frames --ttl --v6 100 -o "$tmp/v6"
for options in "" "--key frame" "--key flow --window 1s" "--key srcdst --window 1s"; do
	for file in in v6; do
		# shellcheck disable=SC2086 # several options
		check "what explain says of all pairs of $file is what pcap does: $options" \
			python3 tests/pcap/explain.py "$xdd" "$tmp/$file" 40 $options
	done
done

explained "$tmp/in" 1 1
check_equal "a frame and itself: no field differs" "True []" \
	"$(value '"{} {}".format(j["same_key"], j["differs"])')"
check_equal "a key's fields, with their offsets" \
	"16 length 18 id 20 flags 20 offset 23 protocol 26 src 30 dst" \
	"$(value '" ".join("{} {}".format(f["offset"] - j["frames"][0]["key"][0]["offset"] + 14,
		f["field"][5:]) for f in j["frames"][0]["key"]
		if f["field"].startswith("ipv4.") and f["field"][5:] not in ("version", "ihl"))')"
check_command "in words" 0 '^the same key, 0 ns? ?.*apart' '' "$xdd" explain "$tmp/in" 1 1

check_command "a frame beyond the end" 1 '' 'in: there is no frame 401: it has 400' \
	"$xdd" explain "$tmp/in" 1 401
check_command "frame 0" 2 '' 'count from 1' "$xdd" explain "$tmp/in" 0 1
check_command "no number" 2 '' 'explain: x: not the number' "$xdd" explain "$tmp/in" 1 x
check_command "one frame" 2 '' 'too few arguments' "$xdd" explain "$tmp/in" 1
check_command "no capture" 1 '' 'not a capture' "$xdd" explain tests/tap.sh 1 2
head -c 1000 "$tmp/in" >"$tmp/cut"
check_command "a damaged capture" 1 '' 'cut: at byte' "$xdd" explain "$tmp/cut" 1 100
check "an option of others is refused" bash -c "! '$xdd' explain '$tmp/in' 1 2 --memory 1MiB 2>/dev/null"

if [ ! -d "$captures" ]; then
	skip "real captures" "no folder $captures"
	finish
fi

explained "$captures/arkime-mongo.pcap" 1 2
check_equal "copies behind a router, in another VLAN" \
	"True True ['eth.src', 'vlan.vid', 'ipv4.ttl', 'ipv4.checksum'] True" \
	"$(value '"{} {} {} {}".format(j["same_key"], j["in_window"], [d["field"] for d in j["differs"]],
		all(d["ignored"] for d in j["differs"]))')"
check_equal "and where" "[(6, 6), (14, 14), (26, 26), (28, 28)]" \
	"$(value '[(d["offset_a"], d["offset_b"]) for d in j["differs"]]')"
check_equal "--key frame would tell them apart" True "$(value '"--key frame" in j["different_keys_by"]')"
explained "$captures/made-vlan.pcap" 1 2
check_equal "a tag that only one has moves the rest" "14 18" \
	"$(value '" ".join(str(f["offset"]) for frame in j["frames"] for f in frame["key"]
		if f["field"] == "ipv4.version")')"
explained "$captures/made-udp0.pcap" 1 2
check_equal "a payload that differs from byte 20 on" \
	"[('ip.payload', False, '+20 4141414141414141... (20 bytes)')]" \
	"$(value '[(d["field"], d["ignored"], d["a"]) for d in j["differs"]]')"
explained "$captures/made-bound2.pcap" 1 2
check_equal "the same key, but too far apart" "True False 50000001" \
	"$(value '"{} {} {}".format(j["same_key"], j["in_window"], j["apart_ns"])' |
		sed 's/5000[0-9]*$/50000001/')"
check_command "in words, with the window that would do" 0 \
	'the same key, but .* apart: .*--window 51ms would find a copy' '' \
	"$xdd" explain "$captures/made-bound2.pcap" 1 2
check_command "frames without a key: why" 1 'no verdict' \
	'frame 1 has no key and always passes: truncated' "$xdd" explain "$captures/made-tiny.pcap" 1 2
explained "$captures/made-tiny.pcap" 1 2 2>/dev/null
check_equal "in JSON, too" "None truncated" \
	"$(value '"{} {}".format(j["same_key"], j["frames"][0]["bypassed"])')"

# What tunnels and site policy make of it: KEYS and which options would turn the verdict.
turned() {
	value '" ".join([str(j["same_key"]), *j["same_key_by" if not j["same_key"] else "different_keys_by"]])'
}
erspan=$captures/the-tcpdump-group-erspan-type-ii-2.pcap
vxlan=$captures/zeek-vxlan-overlapping-http-get.pcap
explained "$erspan" 1 2
check_equal "mirrored by two switches" "False --key dst --inner" "$(turned)"
explained "$erspan" 1 2 --inner
check_equal "--inner: the same" "True --key frame" "$(turned)"
check_equal "--inner: both keys are those of the inner packets" "64 ipv4[2] 64 ipv4[2]" "$(value \
	'" ".join("{} {}".format(f["key"][0]["offset"], f["key"][0]["field"].split(".")[0]) for f in j["frames"])')"
check_equal "--inner: what is around differs, ignored" \
	"[('ipv4.id', 18, True), ('ipv4.checksum', 24, True), ('ipv4.src', 26, True), ('tunnel.headers', 34, True)]" \
	"$(value '[(d["field"], d["offset_a"], d["ignored"]) for d in j["differs"]]')"
explained "$vxlan" 1 2 --inner
check_equal "two VXLANs: the same" "True --key frame --vni key" "$(turned)"
explained "$vxlan" 1 2 --inner --vni key
check_equal "two VXLANs, --vni key" "False --vni ignore" "$(turned)"
check_equal "because of what is around the packet" "[('tunnel.headers', False)]" \
	"$(value '[(d["field"], d["ignored"]) for d in j["differs"] if not d["ignored"]]')"
explained "$captures/arkime-mongo.pcap" 1 2
check_equal "two VLANs" "True --key frame --vlan key --include ttl --include macs" "$(turned)"
explained "$captures/arkime-mongo.pcap" 1 2 --vlan key
check_equal "--vlan key" "False --vlan ignore" "$(turned)"
check_equal "because of the VLAN" "[('vlan.vid', 14)]" \
	"$(value '[(d["field"], d["offset_b"]) for d in j["differs"] if not d["ignored"]]')"
explained "$captures/arkime-mongo.pcap" 1 2 --vlan map:300=50
check_equal "--vlan map: the same" True "$(value 'j["same_key"]')"
explained "$captures/made-ng2if.pcapng" 1 2
check_equal "two interfaces" True "$(value '"--scope interface" in j["different_keys_by"]')"
explained "$captures/made-ng2if.pcapng" 1 2 --scope interface
check_equal "--scope interface" "False --key frame --scope all" "$(turned)"
explained "$captures/made-udp0.pcap" 1 2
check_equal "a payload that is longer than what is compared" "False" "$(value 'j["same_key"]')"
explained "$captures/made-udp0.pcap" 1 2 --payload 16
check_equal "--payload" "True --key frame --payload all --payload 64" "$(turned)"
for options in --inner "--inner --vni key" "--vlan key" "--ignore ipid,l4csum --include ttl"; do
	# shellcheck disable=SC2086 # several options
	check "what explain says of pairs is what pcap does: $options" bash -c "
		python3 tests/pcap/explain.py '$xdd' '$erspan' 20 $options &&
		python3 tests/pcap/explain.py '$xdd' '$vxlan' 20 $options &&
		python3 tests/pcap/explain.py '$xdd' '$captures/arkime-mongo.pcap' 20 $options"
done

# Nothing that a capture holds makes it crash: neighbours in every file.
crashes=
for file in "$captures"/*.pcap*; do
	for a in 1 2 3 7 20; do
		"$xdd" explain "$file" $a $((a + 1)) >/dev/null 2>&1
		[ $? -le 1 ] || crashes+=" ${file##*/}:$a"
	done
done
check_equal "every file is explained or refused" "" "$crashes"
finish
