#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1500
#
# Damaged captures again, through a build that stops at any access outside of an object, any
# undefined operation and any leak.
. "$(dirname "$0")/../tap.sh"

clean=$BUILD/sanitize
sane=$clean/xdp-dedup
unit=$clean/tests/unit
check "build" make -s -j"$(nproc)" BUILD="$clean" WARNINGS="-Wall -Wextra" CFLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover" \
	"$sane" "$unit/test_capture_reader" "$unit/test_capture_writer"

check "unit tests of reading" "$unit/test_capture_reader"
check "unit tests of writing" "$unit/test_capture_writer"
# Thousands of runs, each of which would spend a third of its time on looking for leaks: the runs behind them do.
whole=${ASAN_OPTIONS:-}
export ASAN_OPTIONS=detect_leaks=0
for format in pcap pcapng; do
	"$BUILD/tests/tools/gencap" --frames 2 --size 62 --copies 100 --within 1 --rate 10000 \
		--format $format -o "$tmp/small.$format" 2>/dev/null
	check "cut at every byte: $format" python3 tests/pcap/cut.py "$sane" "$tmp/small.$format"
done
check "any byte replaced: pcapng" python3 tests/pcap/cut.py --replace "$sane" "$tmp/small.pcapng"
export ASAN_OPTIONS=$whole

"$BUILD/tests/tools/gencap" --frames 3000 --v6 30 -o "$tmp/in" 2>/dev/null
for engine in exact tagged timer; do
	check "all of a capture: $engine" "$sane" pcap "$tmp/in" "$tmp/small.pcapng" -w "$tmp/out.gz" \
		--dups "$tmp/dups" --engine $engine --memory 1MiB --quiet
done
if [ -d "$captures" ]; then
	bad=
	for file in "$captures"/*.pcap "$captures"/*.pcapng "$captures"/*.gz; do
		"$sane" pcap "$file" -w "$tmp/out" --non-ip frame --quiet 2>"$tmp/err"
		[ -s "$tmp/err" ] && [[ $file != *OISF-bug-6875-01* ]] && bad="$bad ${file##*/}: $(head -3 "$tmp/err")"
	done
	check_equal "real captures" "" "$bad"
else
	skip "real captures" "no folder $captures"
fi

finish
