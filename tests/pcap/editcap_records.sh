#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The frames that `editcap -D N` keeps are those of --key frame --refresh --window-records N: it
# compares a frame with the N - 1 before it, kept or not.
. "$(dirname "$0")/../tap.sh"

if ! command -v editcap >/dev/null; then
	skip "the same frames as editcap" "no editcap"
	finish
fi

# agree NAME none|some N FILE: editcap drops none or some, and the outputs are the same behind their
# headers
agree() {
	local name="$1, last $3 frames" dropped
	"$xdd" pcap "$4" -w "$tmp/ours" --format pcap --key frame --refresh --window-records "$3" \
		--json >"$tmp/json"
	editcap -F pcap -D "$3" "$4" "$tmp/theirs" 2>"$tmp/said"
	dropped=$(sed -n 's/.* \([0-9]*\) packets\? skipped.*/\1/p' "$tmp/said")
	if [ "$2" = "$([ "${dropped:-x}" = 0 ] && echo none || echo some)" ] && [ -n "$dropped" ]; then
		check "$name: $dropped" cmp <(tail -c +25 "$tmp/ours") <(tail -c +25 "$tmp/theirs")
		check_equal "$name: the counters" "$3 $dropped" "$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["window_records"], r["duplicates"])' "$tmp/json")"
	else
		fail "$name" "editcap dropped ${dropped:-?}, expected $2" "$(cat "$tmp/said")"
	fi
}

gencap=$BUILD/tests/tools/gencap
"$gencap" --frames 8000 --within 200 --rate 5000 --copies 100 -o "$tmp/in" 2>/dev/null
for n in 2 10 100 500 1000 5000; do
	agree "made copies" some $n "$tmp/in"
done
"$gencap" --frames 2000 --ttl -o "$tmp/in" 2>/dev/null
agree "the TTL differs" none 1000 "$tmp/in"

if [ -d "$captures" ]; then
	for name in made-slide made-bound made-bound2 zeek-ssh-dups arkime-wireshark-retrans; do
		agree "$name" some 100 "$captures/$name.pcap"
	done
else
	skip "the same frames of real captures" "no folder $captures"
fi

# Timer engines: never beyond N, surely within N less a tick.
"$gencap" --frames 8000 --within 200 --rate 5000 --copies 100 -o "$tmp/in" 2>/dev/null
drops() {
	"$xdd" pcap "$tmp/in" --key frame --json "$@" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["duplicates"])'
}
for engine in tagged timer; do
	found=$(drops --engine $engine --memory 4MiB --window-records 1600 --ticks 16)
	check "$engine: between the last 1500 and 1600 frames" \
		test "$(drops --window-records 1500)" -le "$found" -a "$found" -le "$(drops --window-records 1600)"
done
check_command "a window is one of both" 2 '' 'both set the window' "$xdd" pcap "$tmp/in" --window 1s \
	--window-records 5
finish
