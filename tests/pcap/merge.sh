#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Several inputs, both outputs, formats, compression, standard input and output.
# shellcheck disable=SC2317 # functions that check and each call
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap
all=$tmp/all.pcap
"$gencap" --frames 20000 --size 100 --v6 30 -o "$all" 2>"$tmp/truth"
read -r distinct copies < <(sed 's/.*distinct=\([0-9]*\) copies=\([0-9]*\)/\1 \2/' "$tmp/truth")

# Nothing is a copy: no frame reaches the byte that is compared.
keep_all=(--key offset:1@65535 --window 1ns --quiet)

# count FIELD FILE...: a field of the JSON
count() {
	"$xdd" pcap "${@:2}" --json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}

same_file() {
	local out=$1
	shift
	"$@" && cmp "$out" "$all"
}

check "every copy is found: $copies of 20000 frames" \
	[ "$(count duplicates "$all") $(count distinct "$all")" = "$copies $distinct" ]

check "one file dealt out to three and merged" same_file "$tmp/merged" bash -c \
	"python3 tests/pcap/split.py '$all' $tmp/1 $tmp/2 $tmp/3 &&
	'$xdd' pcap $tmp/1 $tmp/2 $tmp/3 -w $tmp/merged ${keep_all[*]}"
check "copies are found across inputs" [ "$(count duplicates "$tmp/3" "$tmp/1" "$tmp/2")" = "$copies" ]
check "from standard input, too" same_file "$tmp/merged" bash -c \
	"'$xdd' pcap $tmp/1 - $tmp/3 -w $tmp/merged ${keep_all[*]} <$tmp/2"
check "the inputs' order matters only at equal times" same_file "$tmp/merged" \
	"$xdd" pcap "$tmp/3" "$tmp/2" "$tmp/1" -w "$tmp/merged" "${keep_all[@]}"
check "what is kept and what is not make the whole" same_file "$tmp/merged" bash -c \
	"'$xdd' pcap '$all' -w $tmp/kept --dups $tmp/copies --quiet &&
	'$xdd' pcap $tmp/copies $tmp/kept -w $tmp/merged ${keep_all[*]}"
check_equal "kept: the distinct, copies: the others" "$distinct 0 $copies" \
	"$(count packets "$tmp/kept") $(count duplicates "$tmp/kept") $(count packets "$tmp/copies")"
check "--dups alone" bash -c \
	"'$xdd' pcap '$all' --dups $tmp/alone --quiet && cmp $tmp/alone $tmp/copies"

if command -v mergecap >/dev/null && command -v editcap >/dev/null; then
	"$gencap" --frames 5000 --seed 2 --size 90 -o "$tmp/a" 2>/dev/null
	"$gencap" --frames 5000 --seed 3 --rate 50000 -o "$tmp/b0" 2>/dev/null
	editcap -F pcap -t 0.000003 "$tmp/b0" "$tmp/b" # no frame at the time of another
	check "merged as mergecap does" bash -c \
		"'$xdd' pcap $tmp/a $tmp/b -w $tmp/ours ${keep_all[*]} &&
		mergecap -F pcap -w $tmp/theirs $tmp/a $tmp/b &&
		cmp <(tail -c +25 $tmp/ours) <(tail -c +25 $tmp/theirs)"
else
	skip "merged as mergecap does" "no mergecap"
fi

# Two link types, two resolutions and two formats: only a pcapng holds them.
"$gencap" --frames 100 --format nspcap -o "$tmp/ns" 2>/dev/null
"$gencap" --frames 100 --seed 2 --format pcapng -o "$tmp/ng" 2>/dev/null
"$gencap" --frames 100 --seed 3 -o "$tmp/us" 2>/dev/null
cp "$tmp/us" "$tmp/raw"
printf '\x65' | dd of="$tmp/raw" bs=1 seek=20 conv=notrunc 2>/dev/null
for pair in "us ns" "us ng" "us raw"; do
	read -r one two <<<"$pair"
	check "a pcapng of $one and $two" bash -c \
		"'$xdd' pcap $tmp/$one $tmp/$two -w $tmp/both ${keep_all[*]} &&
		[ \$(head -c 4 $tmp/both | xxd -p) = 0a0d0d0a ]"
	check_equal "holds all" 200 "$(count packets "$tmp/both")"
done
check_command "a pcap of us and raw is refused" 1 "" "one link type" \
	"$xdd" pcap "$tmp/us" "$tmp/raw" -w "$tmp/refused" --format pcap "${keep_all[@]}"
check "and not left" [ ! -e "$tmp/refused" ]
check "a pcap of us, ns and ng" "$xdd" pcap "$tmp/us" "$tmp/ns" "$tmp/ng" -w "$tmp/both" \
	--format pcap "${keep_all[@]}"
check_equal "counts in nanoseconds" 4d3cb2a1 "$(head -c 4 "$tmp/both" | xxd -p)"
if command -v capinfos >/dev/null; then
	check_equal "other tools read it: frames, resolution" "300 9" \
		"$(capinfos -T -r -c "$tmp/both" | cut -f 2) $(capinfos "$tmp/both" | grep -o 'nanoseconds (9)' | tr -dc 9 | head -c 1)"
else
	skip "other tools read it" "no capinfos"
fi

check "compressed by its name" bash -c \
	"'$xdd' pcap '$all' -w $tmp/out.pcap.gz ${keep_all[*]} && gunzip -c $tmp/out.pcap.gz | cmp - '$all'"
check "compressed in, plain out" same_file "$tmp/plain" \
	"$xdd" pcap "$tmp/out.pcap.gz" -w "$tmp/plain" "${keep_all[@]}"
check "compressed on standard input" bash -c \
	"'$xdd' pcap - -w - ${keep_all[*]} <$tmp/out.pcap.gz | cmp - '$all'"

"$xdd" pcap "$all" -w - --json >"$tmp/stdout" 2>"$tmp/stderr"
check "stdout carries the capture" cmp "$tmp/stdout" "$tmp/kept"
check "and stderr the JSON" python3 -m json.tool "$tmp/stderr"
check_command "counts without an output" 0 "^20000 frames: $distinct distinct, $copies duplicates" "" \
	"$xdd" pcap "$all"
check_command "no bar unless on a terminal" 0 "" "^20000 frames" "$xdd" pcap "$all" -w "$tmp/out"
check "a bar on request" bash -c \
	"{ head -c 1000000 '$all'; sleep 0.7; tail -c +1000001 '$all'; } |
	'$xdd' pcap - -w /dev/null --progress on 2>&1 | grep -q 'MB at .*MB/s'"

# A reader behind a pipe sees a frame before the next one is captured.
mkfifo "$tmp/in" "$tmp/through"
"$xdd" pcap "$tmp/in" -w - --quiet >"$tmp/through" &
pid=$!
exec 4<"$tmp/through"
exec 3>"$tmp/in"
head -c 140 "$all" >&3
check "a frame passes at once" bash -c "timeout 10 head -c 140 <&4 | cmp - <(head -c 140 '$all')"
exec 3>&-
wait $pid
exec 4<&-

umask 027
"$xdd" pcap "$all" -w "$tmp/mode" --quiet
check_equal "permissions of a new file" 640 "$(stat -c %a "$tmp/mode")"
chmod 604 "$tmp/mode"
"$xdd" pcap "$all" -w "$tmp/mode" --quiet
check_equal "permissions of a file that is replaced stay" 604 "$(stat -c %a "$tmp/mode")"

finish
