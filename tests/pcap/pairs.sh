#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --pairs: every copy with its first, as an independent program finds them; every engine; several
# inputs; written whole or not at all.
# shellcheck disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap
head=copy,first,nanoseconds_apart,copy_interface,first_interface,copy_file,first_file

# pairs OPTION...: of $tmp/in, into $tmp/pairs
pairs() {
	"$xdd" pcap "$tmp/in" --pairs "$tmp/pairs" --quiet "$@"
}

"$gencap" --frames 20000 --rate 20000 --within 30 --size 90 --v6 30 --ttl -o "$tmp/in" 2>/dev/null
for window in 1ms 10ms 100ms; do
	check "$window: listed" pairs --window $window
	check "$window: the pairs that an independent program finds" \
		python3 tests/pcap/pairs.py check "$tmp/in" "$tmp/pairs" $window
	check "$window, refresh: listed" pairs --window $window --refresh
	check "$window, refresh: the pairs, too" \
		python3 tests/pcap/pairs.py check "$tmp/in" "$tmp/pairs" $window refresh
done

# Other engines: as many lines as copies, and no first that is none.
pairs --window 1s --engine exact
mv "$tmp/pairs" "$tmp/exact"
for engine in tagged timer bloom rlbsbf; do
	options=(--engine "$engine" --memory 1MiB)
	[[ $engine =~ ^t ]] && options+=(--window 1s)
	copies=$("$xdd" pcap "$tmp/in" --pairs "$tmp/pairs" "${options[@]}" --json |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["duplicates"])')
	check_equal "$engine: a line for each copy" "$copies" "$(tail -n +2 "$tmp/pairs" | wc -l)"
	check "$engine: firsts are what they say" python3 tests/pcap/pairs.py same "$tmp/in" "$tmp/pairs"
done
pairs --engine timer --memory 4KiB --window 1s
check "a filter that is too small errs: copies without a first" \
	grep -Eq '^[0-9]+,,,0,,' "$tmp/pairs"
check "and the others are true" python3 tests/pcap/pairs.py same "$tmp/in" "$tmp/pairs"

# The last N records instead of a time.
check "the last 2 records: listed" pairs --window-records 2
# shellcheck disable=SC2016 # awk expands it
check "no first is further away" awk -F, 'NR > 1 && $1 - $2 > 1 { exit 1 }' "$tmp/pairs"

# Several inputs: numbers are those within each file.
cp "$tmp/in" "$tmp/a,b"
"$xdd" pcap "$tmp/in" "$tmp/a,b" --pairs "$tmp/pairs" --window 1ns --quiet
check_equal "two inputs: each frame of the second is a copy of the first" \
	"20000 20000" "$(python3 - "$tmp/pairs" "$tmp" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		good = [r for r in rows if r["copy"] == r["first"] and r["nanoseconds_apart"] == "0" and
		        r["copy_file"] == sys.argv[2] + "/a,b" and r["first_file"] == sys.argv[2] + "/in"]
		print(len(rows), len(good))
	END
	)"

check "to stdout" bash -c "'$xdd' pcap '$tmp/in' --pairs - --quiet >$tmp/out && head -1 $tmp/out | grep -qx $head"
check "compressed by its name" bash -c \
	"'$xdd' pcap '$tmp/in' --pairs $tmp/pairs.gz --quiet && zcat $tmp/pairs.gz | cmp - $tmp/out"
printf '\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0' >"$tmp/none"
check "no frame: the title alone" bash -c "'$xdd' pcap $tmp/none --pairs - --quiet | cmp - <(echo $head)"

# What cannot be written leaves nothing.
refuses() {
	local name=$1 pattern=$2
	shift 2
	check_command "$name" 1 '' "$pattern" "$xdd" pcap "$@" --quiet
	check_equal "$name: nothing is left" "" \
		"$(find "$tmp" -name '.xdp-dedup*' -o -name 'left*')"
}
refuses "an input" "is an input, too" "$tmp/in" --pairs "$tmp/in"
refuses "what -w writes" "name the same file" "$tmp/in" -w "$tmp/left" --pairs "$tmp/left"
refuses "what --dups writes" "name the same file" "$tmp/in" --dups "$tmp/left" --pairs "$tmp/left"
refuses "stdout twice" "name the same file" "$tmp/in" -w - --pairs -
refuses "no such folder" "cannot write: No such file" "$tmp/in" --pairs "$tmp/x/left"
refuses "a full disk" "cannot write: No space left" "$tmp/in" --pairs /dev/full
finish
