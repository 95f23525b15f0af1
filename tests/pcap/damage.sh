#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
#
# Files that are cut, empty or no captures, and outputs that cannot be: one clear line, the right
# exit code, and no file that is not whole.
. "$(dirname "$0")/../tap.sh"

gencap=$BUILD/tests/tools/gencap
for format in pcap pcapng; do
	"$gencap" --frames 4 --size 62 --copies 100 --within 1 --rate 10000 --format $format \
		-o "$tmp/small.$format" 2>/dev/null
	gzip -k "$tmp/small.$format"
done

check "cut at every byte: pcap" python3 tests/pcap/cut.py "$xdd" "$tmp/small.pcap"
check "cut at every byte: pcapng" python3 tests/pcap/cut.py "$xdd" "$tmp/small.pcapng"
check "cut at every byte: pcap.gz" python3 tests/pcap/cut.py "$xdd" "$tmp/small.pcap.gz"
check "cut at every byte: pcapng.gz" python3 tests/pcap/cut.py "$xdd" "$tmp/small.pcapng.gz"
check "any byte replaced: pcap" python3 tests/pcap/cut.py --replace "$xdd" "$tmp/small.pcap"
check "any byte replaced: pcapng" python3 tests/pcap/cut.py --replace "$xdd" "$tmp/small.pcapng"

in=$tmp/small.pcap
: >"$tmp/empty"
: >"$tmp/empty.gz"
gzip -c "$tmp/empty" >"$tmp/nothing.gz"
mkdir "$tmp/folder"

# files FOLDER: what is in it, without what the tests write themselves
files() {
	find "$1" -mindepth 1 ! -name stdout ! -name stderr | sort
}

# refuses NAME CODE PATTERN ARGUMENT...: one line on stderr, nothing on stdout, no file left
refuses() {
	local name=$1 code=$2 pattern=$3 before after found
	shift 3
	before=$(files "$tmp")
	"$xdd" pcap "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	found=$?
	after=$(files "$tmp")
	if [ $found = "$code" ] && [ ! -s "$tmp/stdout" ] && [ "$(wc -l <"$tmp/stderr")" = 1 ] &&
		grep -Eq -e "$pattern" "$tmp/stderr" && [ "$before" = "$after" ]; then
		pass "$name"
	else
		fail "$name" "exit code $found from: pcap $*" "$(cat "$tmp/stderr")" \
			"files: $before -> $after"
	fi
}

refuses "a zero-length file" 1 "empty: at byte 0: .*empty: not a capture" "$tmp/empty" -w "$tmp/out"
refuses "a compressed nothing" 1 "empty: not a capture" "$tmp/nothing.gz" -w "$tmp/out"
refuses "no capture" 1 "tap.sh: at byte 0: not a capture" tests/tap.sh -w "$tmp/out"
refuses "a directory" 1 "folder: cannot read: Is a directory" "$tmp/folder" -w "$tmp/out"
refuses "a missing file" 1 "absent: cannot read: No such file" "$tmp/absent" -w "$tmp/out"
refuses "one bad input among good ones" 1 "empty: not a capture" "$in" "$tmp/empty" -w "$tmp/out"
refuses "no input" 2 "too few arguments" -w "$tmp/out"
refuses "standard input twice" 1 "only once" - - -w "$tmp/out"
refuses "output: a directory" 1 "folder: cannot write: Is a directory" "$in" -w "$tmp/folder"
refuses "output: in no directory" 1 "x/out: cannot write: No such file" "$in" -w "$tmp/x/out"
refuses "output: not writable" 1 "cannot write" "$in" -w /proc/version
refuses "output: a full disk" 1 "cannot write: No space left" "$in" -w /dev/full
refuses "output: the input" 1 "is an input, too" "$in" -w "$in"
ln -s small.pcap "$tmp/link"
refuses "output: the input by another name" 1 "is an input, too" "$in" -w "$tmp/link"
refuses "copies: the input" 1 "is an input, too" "$in" -w "$tmp/out" --dups "$in"
refuses "the same output twice" 1 "same file" "$in" -w "$tmp/out" --dups "$tmp/../${tmp##*/}/out"
refuses "stdout twice" 1 "same file" "$in" -w - --dups -
refuses "editcap's window" 2 "editcap.*--window" "$in" -w 0.05
refuses "a window with junk" 2 "--window 12abc" "$in" -w "$tmp/out" --window 12abc
refuses "an unknown option" 2 "--windw.*--window" "$in" -w "$tmp/out" --windw 1ms
refuses "another format" 2 "--format" "$in" -w "$tmp/out" --format erf
refuses "an absurd memory" 2 "--memory" "$in" -w "$tmp/out" --memory 1000000000TiB
refuses "more memory than there is" 1 "--memory|memory" "$in" --engine tagged --memory 8000TiB

check_command "output: standard input's file" 1 "" "is an input, too" bash -c \
	"'$xdd' pcap - -w '$in' <'$in'"
"$gencap" --frames 100000 -o "$tmp/large.pcap" 2>/dev/null
check_command "a pipe that closes early: exit 1, nothing said" 1 "" "" bash -c \
	"'$xdd' pcap '$tmp/large.pcap' -w - --quiet | head -c 1 >/dev/null; exit \${PIPESTATUS[0]}"

# A signal in the middle: no output, no temporary file, exit 1.
for signal in INT TERM HUP; do
	mkfifo "$tmp/fifo"
	mkdir "$tmp/place"
	"$xdd" pcap "$tmp/fifo" -w "$tmp/place/out" --dups "$tmp/place/dups" --quiet \
		2>"$tmp/stderr" &
	pid=$!
	exec 3>"$tmp/fifo"
	head -c 100 "$in" >&3
	for _ in $(seq 100); do
		[ "$(files "$tmp/place" | wc -l)" = 2 ] && break
		sleep 0.05
	done
	waiting=$(files "$tmp/place" | grep -c '\.tmp$')
	kill -$signal $pid
	wait $pid
	code=$?
	exec 3>&-
	check_equal "SIG$signal" "2 temporary files, exit 1, 0 files, 1 line" \
		"$waiting temporary files, exit $code, $(files "$tmp/place" | wc -l) files, $(wc -l <"$tmp/stderr") line"
	rm -rf "$tmp/fifo" "$tmp/place"
done

finish
