# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sourced by the tests with namespaces, instead of tap.sh, which it sources. It sets:
#   tx, rx     two network namespaces, removed at the end
#   out, in    the two ends of a veth pair: `out` in tx, `in` in rx; both are up
# and skips everything without root. Names hold the process id: tests may run side by side.
# shellcheck disable=SC2034,SC2154 # used by, and from, those who source this
. "$(dirname "${BASH_SOURCE[0]}")/../namespace.sh"

pins=/sys/fs/bpf/xdp-dedup
tx=xdd$$t
rx=xdd$$r
out=o$$
in=i$$

in_tx() { nsenter --net="/run/netns/$tx" "$@"; }
in_rx() { nsenter --net="/run/netns/$rx" "$@"; }

# pair TX-END RX-END [QUEUES [MTU]]
pair() {
	ip link add "$1" netns "$tx" numtxqueues "${3:-1}" numrxqueues "${3:-1}" mtu "${4:-1500}" \
		type veth peer name "$2" netns "$rx" numtxqueues "${3:-1}" numrxqueues "${3:-1}" \
		mtu "${4:-1500}"
	in_tx ip link set "$1" up
	in_rx ip link set "$2" up
}

namespace "$tx"
namespace "$rx"
pair "$out" "$in"

# load ARGUMENT...: an instance on `in`; what it prints goes to $tmp/load
load() {
	"$xdd" load --netns "$rx" --quiet "$@" >"$tmp/load" 2>&1
	local code=$?
	[ $code = 0 ] || sed 's/^/# /' "$tmp/load"
	return $code
}

# pins_of_ours: the folders under the names that this test uses
pins_of_ours() { find "$pins" -mindepth 1 -maxdepth 1 -name "*$$*" 2>/dev/null; }

# Whatever the test leaves loaded under the names that it uses.
unload_ours() {
	local folder
	for folder in "$pins"/*"$$"*; do
		[ ! -d "$folder" ] || "$xdd" unload "$(basename "$folder")" >/dev/null 2>&1
	done
}
at_exit unload_ours

# json FILE EXPRESSION: Python over the file's content j
json() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# counters INSTANCE [SLOT]: "received distinct duplicate bypassed passed dropped redirected
# redirect_errors" in packets, summed over CPUs and slots, or of one slot
counters() {
	bpftool -j map dump pinned "$pins/$1/counters" >"$tmp/counters" || return
	python3 - "$tmp/counters" "${2:-}" <<-'END'
		import json, sys
		verdicts = ["received", "distinct", "duplicate"]
		actions = ["passed", "dropped", "redirected", "redirect_errors"]
		total = {}
		for entry in json.load(open(sys.argv[1])):
		    entry = entry.get("formatted", entry)
		    if sys.argv[2] and int(sys.argv[2]) != entry["key"]:
		        continue
		    for cpu in entry["values"]:
		        for name, value in cpu["value"].items():
		            if isinstance(value, dict) and not name.startswith("ambiguous_"):
		                total[name] = total.get(name, 0) + value["packets"]
		known = set(verdicts + actions)
		bypassed = sum(n for name, n in total.items() if name not in known)
		print(*[total[n] for n in verdicts], bypassed, *[total[n] for n in actions])
	END
}

# program_id INTERFACE: of the XDP program on it in rx
program_id() {
	in_rx ip -j -d link show "$1" | json /dev/stdin 'j[0].get("xdp", {}).get("prog", {}).get("id", 0)'
}

# objects ID: the kernel's objects that go with a program, a line each
objects() {
	echo "prog $1"
	bpftool -j prog show id "$1" | json /dev/stdin '"\n".join(f"map {i}" for i in j["map_ids"])'
}

# all_gone FILE: none of the objects listed in it exists
all_gone() {
	local kind id
	while read -r kind id; do
		! bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

# listen FILE INTERFACE [NAMESPACE]: capture what reaches port 9 until listen_end
listen() {
	nsenter --net="/run/netns/${3:-$rx}" tcpdump -i "$2" -n -U --immediate-mode -B 131072 \
		-w "$1" 'udp port 9 or (vlan and udp port 9)' 2>"$1.log" &
	listeners+=($!)
	wait_until grep -q 'listening on' "$1.log"
}
listeners=()
listen_end() {
	sleep 0.3
	kill -INT "${listeners[@]}"
	wait "${listeners[@]}"
	listeners=()
}

# transmit FILE [RATE [INTERFACE]]
transmit() {
	in_tx "$send" "${3:-$out}" "$1" "${2:-20000}" >"$tmp/sent"
}
