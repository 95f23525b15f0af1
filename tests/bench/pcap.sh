#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# pcap against editcap on 500,000 frames of 300 bytes at 100,000 a second, 70 % of the packets
# copied within 20 ms. Medians of 5, taken in turns; editcap's own removal of duplicates, which is
# quadratic in its window, once. No output exists before a run: replacing one costs both the same.
. "$(dirname "$0")/../tap.sh"

if ! command -v editcap >/dev/null; then
	echo "pcap: no editcap (scripts/setup): nothing to compare with"
	exit 0
fi

in=$tmp/in.pcap
"$BUILD/tests/tools/gencap" -o "$in" 2>"$tmp/truth" || exit 1
echo "pcap: $(cat "$tmp/truth")"

# seconds NAME COMMAND...: append the run time to the list of NAME
seconds() {
	local start
	start=$(date +%s%N)
	if ! "${@:2}" >/dev/null 2>"$tmp/stderr"; then
		echo "pcap: failed: ${*:2}: $(cat "$tmp/stderr")"
		exit 1
	fi
	echo $((($(date +%s%N) - start) / 1000)) >>"$tmp/$1.us"
}

median() {
	sort -n "$tmp/$1.us" | awk '{ v[NR] = $1 } END { printf "%.3f", v[int((NR + 1) / 2)] / 1e6 }'
}

as_editcap=(--key frame --refresh --window 50ms --quiet)
cat "$in" >/dev/null
for _ in 1 2 3 4 5; do
	rm -f "$tmp/copy" "$tmp/packet" "$tmp/frame"
	seconds copy editcap "$in" "$tmp/copy"
	seconds packet "$xdd" pcap "$in" -w "$tmp/packet" --quiet
	seconds frame "$xdd" pcap "$in" -w "$tmp/frame" "${as_editcap[@]}"
done
seconds window editcap -F pcap -w 0.05 "$in" "$tmp/window"

awk -v copy="$(median copy)" -v packet="$(median packet)" -v frame="$(median frame)" \
	-v window="$(median window)" 'BEGIN {
	printf "editcap IN OUT (a copy)          %7.3f s\n", copy
	printf "pcap, default key                %7.3f s   %.2f of the copy\n", packet, packet / copy
	printf "pcap, as editcap -w 0.05         %7.3f s   %.2f of the copy\n", frame, frame / copy
	printf "editcap -w 0.05                  %7.3f s   %.0f times as long\n", window, window / frame
}'

if cmp <(tail -c +25 "$tmp/frame") <(tail -c +25 "$tmp/window"); then
	echo "editcap -w 0.05 and pcap kept the same frames"
else
	echo "editcap -w 0.05 and pcap did NOT keep the same frames"
	exit 1
fi
