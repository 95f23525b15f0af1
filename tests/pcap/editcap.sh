#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The frames that `editcap -w 0.05` keeps are those of --key frame --refresh --window 50ms.
. "$(dirname "$0")/../tap.sh"

if ! command -v editcap >/dev/null; then
	skip "the same frames as editcap" "no editcap"
	finish
fi

# agree NAME none|some FILE: editcap drops none or some, and the outputs are the same behind their
# headers
agree() {
	local dropped
	"$xdd" pcap "$3" -w "$tmp/ours" --format pcap --key frame --refresh --window 50ms --quiet
	editcap -F pcap -w 0.05 "$3" "$tmp/theirs" 2>"$tmp/said"
	dropped=$(sed -n 's/.* \([0-9]*\) packets\? skipped.*/\1/p' "$tmp/said")
	if [ "$2" = "$([ "${dropped:-x}" = 0 ] && echo none || echo some)" ] && [ -n "$dropped" ]; then
		check "$1: $dropped" cmp <(tail -c +25 "$tmp/ours") <(tail -c +25 "$tmp/theirs")
	else
		fail "$1" "editcap dropped ${dropped:-?}, expected $2" "$(cat "$tmp/said")"
	fi
}

gencap=$BUILD/tests/tools/gencap
for options in "" "--within 60 --rate 20000" "--v6 50 --size 62" "--within 200 --rate 5000 --copies 100"; do
	# shellcheck disable=SC2086 # several options
	"$gencap" --frames 8000 $options -o "$tmp/in" 2>/dev/null
	agree "the same frames: gencap $options" some "$tmp/in"
done

"$gencap" --frames 2000 --ttl -o "$tmp/in" 2>/dev/null
agree "none, where the TTL differs" none "$tmp/in"

if [ -d "$captures" ]; then
	for name in made-slide made-bound zeek-ssh-dups arkime-wireshark-retrans; do
		agree "the same frames: $name" some "$captures/$name.pcap"
	done
	agree "just outside the window: made-bound2" none "$captures/made-bound2.pcap"
else
	skip "the same frames of real captures" "no folder $captures"
fi

finish
