#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Copies that something on the way has altered: what pcap finds of them with the option for it and
# without, and that learn advises this option and no other.
. "$(dirname "$0")/../tap.sh"

"$BUILD/tests/tools/gencap" --frames 2000 --rate 20000 --within 5 --size 90 --ttl -o "$tmp/plain" 2>"$tmp/truth"
copies=$(sed 's/.*copies=\([0-9]*\).*/\1/' "$tmp/truth")

# alter WHAT...: $tmp/plain to $tmp/in
alter() {
	tests/pcap/altered.py "$tmp/plain" "$tmp/in" "$@"
}

# value COMMAND EXPRESSION [OPTION...]: Python over the JSON j of a command on $tmp/in
value() {
	local command=$1 expression=$2
	shift 2
	"$xdd" "$command" "$tmp/in" --json "$@" |
		python3 -c 'import json, sys; j = json.load(sys.stdin); print(eval(sys.argv[1]))' "$expression"
}

# found NAME COPIES [OPTION...]
found() {
	local name=$1 wanted=$2
	shift 2
	check_equal "$name: pcap $*" "$wanted" "$(value pcap 'j["duplicates"]' "$@")"
}

# advised NAME OPTIONS: beside the window
advised() {
	check_equal "$1: learn advises '$2'" "copies $2 $copies" "$(value learn \
		'" ".join([j["advice"]["verdict"], *j["advice"]["options"][2:], str(j["advice"]["would_drop"])])')"
}

# needs NAME OPTIONS WHAT...: no copies are found but by OPTIONS, and learn finds that out
needs() {
	local name=$1 options=$2
	shift 2
	alter "$@"
	found "$name" 0
	# shellcheck disable=SC2086 # several options
	found "$name" "$copies" $options
	advised "$name" "$options"
}

needs "other identifications" "--ignore ipid" ipid
needs "other checksums" "--ignore l4csum" l4csum
needs "both" "--ignore ipid,l4csum" ipid l4csum
needs "a tunnel around the copy" "--inner" tunnel
needs "a tunnel, and time stamps before it" "--inner" tunnel stamp
check_equal "learn with the option that it advised: nothing else" "copies $copies --inner" "$(value learn \
	'" ".join(["copies", str(j["copies"]), *j["advice"]["options"][2:]])' --inner)"
check_command "in words" 0 "more +$copies more copies, for sure, by --inner" '' "$xdd" learn "$tmp/in"

# What is around the packet does not count, unless every byte is asked for.
for what in stamp trailer vlan; do
	alter $what
	found "$what" "$copies"
	found "$what" 0 --key frame
	check_equal "$what: learn advises no option" "$copies []" \
		"$(value learn '"{} {}".format(j["advice"]["would_drop"], j["advice"]["options"][2:])')"
done
found "VLANs in the key" 0 --vlan key
found "VLANs mapped" "$copies" --vlan map:10=20
check_equal "learn: the pair of VLANs, and that it was routed" \
	"map:10=20 [{'first': 10, 'copy': 20, 'copies': $copies, 'routed': $copies}]" \
	"$(value learn '"{} {}".format(j["advice"]["vlan"], j["vlans"])')"
for order in "stamp vlan" "vlan stamp"; do
	# shellcheck disable=SC2086 # several words
	alter $order
	found "$order: VLANs in the key" 0 --vlan key
	found "$order: VLANs mapped" "$copies" --vlan map:20=10
	read -r copy first _ < <("$xdd" pcap "$tmp/in" --pairs - --quiet | sed -n 's/,/ /g; 2p')
	check_equal "$order: explain knows both" True "$("$xdd" explain "$tmp/in" "$first" "$copy" --json |
		python3 -c 'import json, sys
print({"vlan.vid", "stamp.time"} <= {d["field"] for d in json.load(sys.stdin)["differs"]})')"
done

# MACsec says nothing of what it carries, but its frames can be compared.
alter macsec
check_equal "MACsec: unsupported, not without IP" "0 2000 0" "$(value pcap \
	'"{} {} {}".format(j["duplicates"], j["bypassed"]["unsupported"], j["bypassed"]["not_ip"])')"
check_equal "MACsec, frames compared: each has a number of its own" "2000 0" "$(value pcap \
	'"{} {}".format(j["distinct"], j["bypassed"]["unsupported"])' --non-ip frame)"

# Frames that were cut are compared by what is there, and it is said.
python3 - "$tmp/in" <<'END'
import struct, sys
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 86, 0, 0x4000, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 64, 1))
    for i in range(3):
        frame = bytes(12) + b"\x08\x00" + ip + struct.pack("!HHHH", 9, 9, 66, 0) + bytes(57) + bytes([i])
        f.write(struct.pack("<IIII", 1, i, 64 if i else 100, 100) + frame[: 64 if i else 100])
END
check_equal "cut frames are counted" "2 1" "$(value pcap '"%d %d" % (j["cut"], j["duplicates"])')"
check_command "... and named" 0 '2 frames were cut when they were captured' '' "$xdd" pcap "$tmp/in"

# What is redirected to a file stays in it.
bash -c "echo before; '$xdd' pcap '$tmp/in' --pairs /dev/stdout --quiet; echo after" >"$tmp/log"
check_equal "/dev/stdout is not replaced" "before after" "$(sed -n '1p;$p' "$tmp/log" | xargs)"
finish
