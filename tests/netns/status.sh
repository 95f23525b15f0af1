#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What status says is what the maps hold, and the sums are exact: for every interface and in
# total, in packets and in bytes.
. "$(dirname "$0")/lib.sh"

check_command "an unknown instance" 1 '' 'no such instance|no instance' "$xdd" status "nix$$"

pair "x$out" "x$in"
"$frames" make "$tmp/v4.pcap" --packets 500 --copies 2
"$frames" make "$tmp/v6.pcap" --packets 300 --copies 1 --kind v6 --first 1000
load "$in" "x$in" --window 10s || { fail "load"; finish; }

# Before any packet: no zero is called a rate.
"$xdd" status "$in" >"$tmp/text"
check "nothing is lost while nothing is there" grep -q 'no key is live now' "$tmp/text"

transmit "$tmp/v4.pcap"
transmit "$tmp/v4.pcap" 20000 "x$out"
transmit "$tmp/v6.pcap" 20000 "x$out"
# Frames without IP, cut ones, and a wrong checksum.
python3 - "$out" "/run/netns/$tx" <<'END'
import ctypes, os, socket, sys
fd = os.open(sys.argv[2], os.O_RDONLY)
assert ctypes.CDLL(None).setns(fd, 0) == 0
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
macs = bytes(12)
ip = bytes.fromhex("45000028000040004011") + b"\1\2" + bytes(8) + bytes(20)
for frame in [macs + b"\x88\xcc" + bytes(46)] * 3 + [macs + b"\x08\x00" + ip] * 2 + \
        [macs + b"\x08\x00\x65" + bytes(45)]:
    s.send(frame)
END
sleep 0.2

bpftool -j map dump pinned "$pins/$in/counters" >"$tmp/dump"
"$xdd" status "$in" --json >"$tmp/status"
cat >"$tmp/compare.py" <<'END'
import json, sys
status = json.load(open(sys.argv[1]))[0]
dump = json.load(open(sys.argv[2]))
possible = open("/sys/devices/system/cpu/possible").read().strip().split("-")
cpus = int(possible[-1]) - int(possible[0]) + 1
wrong = []

def total(entries):
    """Sums over the CPUs of the slots, by name: [packets, bytes], or a number."""
    sums = {}
    for entry in entries:
        if len(entry["formatted"]["values"]) != cpus:
            wrong.append("not a value for each possible CPU")
        for cpu in entry["formatted"]["values"]:
            for name, value in cpu["value"].items():
                old = sums.get(name, [0, 0] if isinstance(value, dict) else 0)
                sums[name] = [old[0] + value["packets"], old[1] + value["bytes"]] \
                    if isinstance(value, dict) else old + value
    return sums

def flat(said):
    said = dict(said)
    said.pop("name", None)
    bypassed = said.pop("bypassed")
    said.update(bypassed.pop("reasons"))
    said.update({f"ambiguous_{name}": n for name, n in said.pop("ambiguous").items()})
    return {k: [v["packets"], v["bytes"]] if isinstance(v, dict) else v
            for k, v in said.items()}, [bypassed["packets"], bypassed["bytes"]]

def compare(what, said, entries):
    found, (said, bypassed) = total(entries), flat(said)
    if said != found:
        wrong.append(f"{what}: {said} is not {found}")
    for i in (0, 1):
        if not (said["received"][i] == said["distinct"][i] + said["duplicate"][i] + bypassed[i]
                == sum(said[k][i] for k in
                       ("passed", "dropped", "redirected", "redirect_errors"))):
            wrong.append(f"{what}: the sums differ: {said}")

counters = status["counters"]
compare("total", counters["total"], dump)
for slot, said in enumerate(counters["interfaces"]):
    compare(said["name"], said, [dump[slot]])
compare("elsewhere", counters["elsewhere"], [dump[16]])
print("\n".join(wrong))
END
check_equal "status is the sum of the maps over CPUs, and in = verdicts = actions" "" \
	"$(python3 "$tmp/compare.py" "$tmp/status" "$tmp/dump")"
expect() {
	check_equal "$1" "$2" "$(json "$tmp/status" "$3")"
}
expect "verdicts of the first interface" "1506 0 500 1000" \
	'"%d %d %d %d" % tuple([j[0]["counters"]["interfaces"][0]["received"]["packets"],
	j[0]["counters"]["elsewhere"]["received"]["packets"]] +
	[j[0]["counters"]["interfaces"][0][k]["packets"] for k in ("distinct", "duplicate")])'
expect "copies on the other interface are found" "2100 300 1800" \
	'"%d %d %d" % tuple(j[0]["counters"]["interfaces"][1][k]["packets"]
	for k in ("received", "distinct", "duplicate"))'
expect "bypassed by reason" "3 2 1" \
	'"%d %d %d" % tuple(j[0]["counters"]["total"]["bypassed"]["reasons"][k]["packets"]
	for k in ("not_ip", "bad_checksum", "malformed"))'
for interface in "$in" "x$in"; do
	driver=$(in_rx ethtool -S "$interface" |
		awk '/rx_queue_.*_xdp_packets/ { n += $2 } END { print n }')
	expect "$interface received what its driver counted" "$driver" \
		'[i["received"]["packets"] for i in j[0]["counters"]["interfaces"]
		if i["name"] == "'"$interface"'"][0]'
done

expect "what scripts rely on is there" True \
	'{"name", "interfaces", "engine", "config", "counters", "false_positives_expected", "slices",
	"fpr_model", "fnr_model", "audit", "ager"} <= set(j[0])'
expect "the window" "10000000000 625000000 coarse" \
	'"%d %d %s" % tuple(j[0]["config"][k] for k in ("window_ns", "tick_ns", "clock"))'
step=$(python3 -c 'import time; print(round(time.clock_getres(6) * 1e9))') # CLOCK_MONOTONIC_COARSE
expect "its range" "$((15 * 625000000 - step)) $((10000000000 + step))" \
	'"%d %d" % tuple(j[0]["config"]["range"][k]
	for k in ("surely_found_ns", "never_found_beyond_ns"))'
expect "800 keys are live" 800 \
	'round(j[0]["slices"][0]["density"] * 15 * j[0]["config"]["slices"])'
expect "the model: live cells of a line, times 2^-24" "$(python3 -c \
	"print('%.4g' % (800 / $(json "$tmp/status" 'j[0]["config"]["slices"]') / 2**24))")" \
	'"%.4g" % j[0]["fpr_model"]'
expect "false positives so far" True \
	'abs(j[0]["false_positives_expected"] / (j[0]["fpr_model"] * 800) - 1) < 1e-6'
expect "no agent runs, so status measured" "0 True" \
	'"%d %s" % (j[0]["ager"]["pid"], 0 <= j[0]["ager"]["last_sweep_ms"] < 5000)'
expect "nothing to warn of" "[]" 'j[0]["warnings"]'

"$xdd" status "x$in" >"$tmp/text"
check "by the name of an interface, for a person" \
	grep -q "^$in: $in (attached, native mode), x$in" "$tmp/text"
check "the share of duplicates" grep -Eq 'duplicate +2800 packets.* 77.8 %' "$tmp/text"
check "losses in words" grep -Eq 'lost .*distinct packet.* at this rate' "$tmp/text"
check "the range in words" grep -q 'surely found up to' "$tmp/text"

in_rx ip link del "x$in"
"$xdd" status "$in" --json >"$tmp/status"
expect "an interface that is gone" "gone" 'j[0]["interfaces"][1]["state"]'
expect "is warned of, with what to do" True \
	'any("x'"$in"'" in w and "gone" in w and "--remove" in w for w in j[0]["warnings"])'
"$xdd" unload "$in"

# Slices of several lines are shown one by one; timers of a key lie in one of them.
load "$in" --engine timer --slices 4 --memory 64KiB --window 10s
transmit "$tmp/v4.pcap"
"$xdd" status "$in" --json >"$tmp/status"
expect "four slices" "[0, 1, 2, 3]" '[s["id"] for s in j[0]["slices"]]'
expect "the model is the mean over them" True \
	'abs(j[0]["fpr_model"] / (sum(s["density"] ** 4 for s in j[0]["slices"]) / 4) - 1) < 1e-6'
expect "which hold four timers a key" True \
	'1800 < sum(s["density"] for s in j[0]["slices"]) / 4 * 1024 * 60 <= 2000'
expect "and whose fairness is Jain's" True \
	'(lambda d: abs(j[0]["slices_fairness"] - sum(d) ** 2 / (len(d) * sum(x * x for x in d))) < 1e-9
	and 0.9 < j[0]["slices_fairness"] < 1)([s["density"] for s in j[0]["slices"]])'
"$xdd" status "$in" >"$tmp/text"
check "said in words" grep -q 'slices  *4, the fullest with .* fairness 0\.9' "$tmp/text"
"$xdd" unload "$in"

# Of diced ones, the innermost; a key's timers lie in one of the outer four. K1xK2: in two of four.
load "$in" --engine timer --slicing hv --slices 4 --subslices 2 --memory 64KiB --window 10s
transmit "$tmp/v4.pcap"
"$xdd" status "$in" --json >"$tmp/status"
expect "hv: four by two slices" "8 4 2 hv" \
	'"%d %d %d %s" % (len(j[0]["slices"]), *(j[0]["config"][x] for x in ("slices", "subslices", "slicing")))'
expect "hv: the model is the mean over the outer ones" True \
	'(lambda d: abs(j[0]["fpr_model"] / (sum(((d[2 * i] + d[2 * i + 1]) / 2) ** 4
	for i in range(4)) / 4) - 1) < 1e-6)([s["density"] for s in j[0]["slices"]])'
"$xdd" unload "$in"
load "$in" --engine timer --slicing 2x2 --slices 4 --memory 64KiB --window 10s
transmit "$tmp/v4.pcap"
"$xdd" status "$in" --json >"$tmp/status"
expect "2x2: K1 and k" "2 4" \
	'"%d %d" % (j[0]["config"]["slice_hashes"], j[0]["config"]["hashes"])'
expect "2x2: a key meets two slices, two timers in each" True \
	'abs(j[0]["fpr_model"] / (sum(s["density"] ** 2 for s in j[0]["slices"]) / 4) ** 2 - 1) < 1e-6'
"$xdd" unload "$in"

# A slice that has failed is answered for by the policy, and so are its part of the new keys, and of the copies.
load "$in" --engine timer --slices 4 --memory 64KiB --window 10s --fault-policy duplicate
transmit "$tmp/v4.pcap"
"$xdd" fault "$in" --slice 1 --fail >/dev/null
"$xdd" status "$in" --json >"$tmp/status"
expect "failed, taken as set: the model" True \
	'abs(j[0]["fpr_model"] / (1 / 4 + sum(s["density"] ** 4 for s in j[0]["slices"] if s["state"] == "ok") / 4)
	- 1) < 1e-6 and j[0]["fnr_model"] < 1e-3'
"$xdd" unload "$in"
load "$in" --window 10s --fault-policy distinct --memory 64KiB
"$xdd" fault "$in" --slice 0 --fail >/dev/null
"$xdd" status "$in" --json >"$tmp/status"
expect "failed, taken as not set: its part of the copies" True \
	'(lambda n: n > 1 and abs(j[0]["fnr_model"] * n - 1) < 0.01)(len(j[0]["slices"]))'
"$xdd" unload "$in"

# A Bloom filter's slices are counted there and then; uneven ones cost. One CPU gets all of it.
for placement in shared percpu; do
	load "$in" --engine bloom --slicing horizontal --slices 4 --hashes 4 --memory 64KiB \
		--placement $placement
	in_tx taskset -c 0 "$send" "$out" "$tmp/v4.pcap" 20000 >"$tmp/sent"
	"$xdd" status "$in" --json >"$tmp/status"
	expect "bloom, $placement: the model is the mean over its slices" True \
		'(lambda sites: abs(j[0]["fpr_model"] / (sum((s["density"] * sites) ** 4
		for s in j[0]["slices"]) / 4) - 1) < 1e-6)(len(j[0]["loads"]))'
	expect "bloom, $placement: four slices, and it misses no copy" "4 0.0" \
		'"%d %s" % (len(j[0]["slices"]), j[0]["fnr_model"])'
	"$xdd" unload "$in"
done

# Entries in full lines push others out.
load "$in" --memory 4KiB --window 10s --placement shared --audit 1
transmit "$tmp/v4.pcap"
"$xdd" status "$in" --json >"$tmp/status"
expect "tagged: some copies are missed" True '1e-4 < j[0]["fnr_model"] < 0.2'
"$xdd" status "$in" >"$tmp/text"
check "said in words" grep -Eq 'missed +[0-9.e-]+ of the copies by the model, if they come at any time' "$tmp/text"
check "the model stands beside what was measured" grep -Eq 'FNR measured .*; by the model now 0\.' "$tmp/text"
"$xdd" unload "$in"
load "$in" --engine rlbsbf
"$xdd" status "$in" --json >"$tmp/status"
expect "what bits forget depends on the stream" None 'j[0]["fnr_model"]'
"$xdd" unload "$in"

# The exact engine is not measured: its bound is known, its fill is not.
load "$in" --engine exact --memory 1MiB
"$xdd" status "$in" --json >"$tmp/status"
expect "exact: a bound, and no density" "True None None" \
	'"%s %s %s" % (0 < j[0]["fpr_model"] < 1e-30, j[0]["slices"][0]["density"],
	j[0]["ager"]["last_sweep_ms"])'
"$xdd" status "$in" >"$tmp/text"
check "exact: in words" grep -q 'lost .*128-bit digest' "$tmp/text"
"$xdd" unload "$in"

# Redirected packets that the other end drops: no counter of the program sees it.
pair "y$out" "y$in"
in_tx ethtool -K "y$out" gro on
if load "$in" --window 10s --action "redirect:y$in"; then
	in_tx ethtool -K "y$out" gro off
	transmit "$tmp/v4.pcap"
	"$xdd" status "$in" --json >"$tmp/status"
	expect "a target that loses what it gets is warned of" True \
		'any("y'"$in"'" in w and "lost" in w and "gro on" in w for w in j[0]["warnings"])'
	"$xdd" unload "$in"
else
	fail "load with a target"
fi
finish
