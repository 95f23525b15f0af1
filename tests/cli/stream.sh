#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# stream: records of every kind and what becomes of them, options, signals, saved filters.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: stream from $tmp/in to $tmp/out, its stderr in $tmp/err
run() {
	"$xdd" stream "$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
}

# gives NAME INPUT OUTPUT ARGUMENT...: both with the escapes of printf
gives() {
	local name=$1 found
	printf '%b' "$2" >"$tmp/in"
	printf '%b' "$3" >"$tmp/expected"
	shift 3
	run --quiet "$@"
	found=$?
	if [ $found = 0 ] && [ ! -s "$tmp/err" ] && cmp -s "$tmp/out" "$tmp/expected"; then
		pass "$name"
	else
		fail "$name" "exit code $found" "$(od -c "$tmp/out" | head -20)" "$(cat "$tmp/err")"
	fi
}

# judge NAME FILE PYTHON: an expression over the object `r` in FILE
judge() {
	check "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$2" "$3"
}

refuses() {
	local pattern=$1
	shift
	check_command "stream $*" 2 '' "$pattern" "$xdd" stream "$@"
	check_equal "stream $*: one line" 1 "$(wc -l <"$tmp/stderr")"
}

# --- records ---
gives "the first of equal lines, in order" 'b\na\nb\nc\na\n' 'b\na\nc\n'
gives "nothing" '' ''
gives "an empty record is one" '\n\na\n\n' '\na\n'
gives "no final newline" 'a\nb' 'a\nb'
gives "no final newline, and a duplicate" 'a\nb\na' 'a\nb\n'
gives "carriage returns belong to the record" 'a\r\na\na\r\n' 'a\r\na\n'
gives "bytes of 0 are like others" 'a\0b\na\0c\na\0b\n' 'a\0b\na\0c\n'
gives "records that end with 0" 'a\nb\0c\0a\nb\0c' 'a\nb\0c\0' --null
gives "-0 is --null" 'a\0a\0b' 'a\0b' -0
gives "prefixes differ" 'a\naa\naaa\naa\n' 'a\naa\naaa\n'

cat >"$tmp/truth.py" <<'END'
"""First occurrences: truth.py IN OUT SEPARATOR WINDOW REFRESH"""
import sys
data = open(sys.argv[1], "rb").read()
separator = bytes([int(sys.argv[3])])
window, refresh = int(sys.argv[4]), int(sys.argv[5])
records = [record + separator for record in data.split(separator)]
records[-1] = records[-1][:-1]  # it has none
seen, out = {}, bytearray()
for number, record in enumerate(records):
    key = record.rstrip(separator)
    copy = key in seen and (not window or number - seen[key] < window)
    if not copy or refresh:
        seen[key] = number
    if not copy:
        out += record
open(sys.argv[2], "wb").write(out)
END

# agrees NAME SEPARATOR WINDOW REFRESH ARGUMENT...: with the truth on $tmp/in
agrees() {
	local name=$1 separator=$2 window=$3 refresh=$4
	shift 4
	python3 "$tmp/truth.py" "$tmp/in" "$tmp/expected" "$separator" "$window" "$refresh"
	run --quiet "$@"
	check "$name" cmp "$tmp/out" "$tmp/expected"
}

# Binary data in which records repeat: bytes out of few, so that both separators are frequent.
python3 -c 'import random, sys
random.seed(4)
sys.stdout.buffer.write(bytes(random.choices([0, 10, 65, 255], k=300000)))' >"$tmp/in"
agrees "binary data, lines" 10 0 0
agrees "binary data, ended by 0" 0 0 0 --null
for window in 2 3 17 1000; do
	agrees "the last $window records" 10 $window 0 --window-records $window
	agrees "the last $window records, refreshed" 10 $window 1 --window-records $window --refresh
done
agrees "each record on its own" 10 0 0 --unbuffered
agrees "a pipe that gives little at once" 10 0 0 - < <(dd if="$tmp/in" bs=977 status=none)

# Blocks are 256 KiB: records of that size and around it, and long ones.
python3 -c 'import sys
for n in (1, 262143, 262144, 262145, 131072, 524288, 999999, 262143, 1, 999999):
    sys.stdout.write("x" * n + "\n")' >"$tmp/in"
agrees "records longer than a block" 10 0 0
{
	head -c 50000000 /dev/zero | tr '\0' l
	echo
	head -c 50000000 /dev/zero | tr '\0' l
	printf 'm\n'
	head -c 50000000 /dev/zero | tr '\0' l
} >"$tmp/in"
check "lines of 50 MB" run --quiet
check_equal "lines of 50 MB: the third is a duplicate" "100000003 m" \
	"$(stat -c %s "$tmp/out") $(tail -c 2 "$tmp/out")"
rm "$tmp/in" "$tmp/out"

# --- files ---
printf 'a\nb\nz' >"$tmp/one"
printf 'b\nz\nc\n' >"$tmp/two"
check_equal "files" "a b z c" "$("$xdd" stream --quiet "$tmp/one" "$tmp/two" | tr '\n' ' ' | sed 's/ $//')"
check_equal "stdin among them" "a b z c" \
	"$("$xdd" stream --quiet "$tmp/one" - <"$tmp/two" | tr '\n' ' ' | sed 's/ $//')"
check_command "a file that is absent: the others are read" 1 '^c$' "$tmp/absent: No such file" \
	"$xdd" stream --json "$tmp/one" "$tmp/absent" "$tmp/two"
sed 1d "$tmp/stderr" >"$tmp/json"
judge "... and the summary says so" "$tmp/json" 'not r["complete"] and r["distinct"] == 4'
check_command "a folder" 1 '' 'directory' "$xdd" stream "$tmp"
cp "$tmp/two" "$tmp/loop"
# shellcheck disable=SC2016 # the inner shell expands it
check "what is written is not read" bash -c '! "$0" stream "$1" >>"$1" 2>"$2"' "$xdd" "$tmp/loop" "$tmp/err"
check "... and it is said" grep -q 'is the output, too' "$tmp/err"
check "... and nothing was written" cmp "$tmp/two" "$tmp/loop"

# --- fields ---
gives "a field" 'x\t1\ny\t1\nz\t2\n' 'x\t1\nz\t2\n' --field 2
gives "a delimiter" 'x,1,p\ny,1,q\nz,2,p\n' 'x,1,p\nz,2,p\n' --field 2 --delimiter ,
gives "a delimiter as escape" 'x\t1\ny\t1\n' 'x\t1\n' --field 2 --delimiter '\t'
gives "records without the field pass" 'x\nx\na\t1\nb\t1\nx\n' 'x\nx\na\t1\nx\n' --field 2
run --field 2 --json
judge "... and are counted" "$tmp/err" 'r["bypassed"]["no_field"] == 3 and
r["distinct"] == r["duplicates"] == 1 and r["records"] == r["packets"] == 5 and r["field"] == 2'

# --- time ---
timed='a 1\na 1.5\na 3\nb 3\na 3.6\nb x\nb x\nb\n'
gives "a window of time" "$timed" 'a 1\na 3\nb 3\nb x\nb x\nb\n' --field 1 --time-field 2 \
	--delimiter ' ' --window 1s
run --field 1 --time-field 2 --delimiter ' ' --window 1s --json
judge "records without a time are counted" "$tmp/err" 'r["bypassed"]["no_time"] == 3 and
r["window_ns"] == 10**9 and r["window_records"] == 0'
gives "... that duplicates restart" 'a 1\na 2\na 3\na 4.1\n' 'a 1\na 4.1\n' --field 1 \
	--time-field 2 --delimiter ' ' --window 1s --refresh
gives "milliseconds" 'a 1000\na 1999.9\na 2000.1\n' 'a 1000\na 2000.1\n' --field 1 --time-field 2 \
	--delimiter ' ' --window 1s --time-unit ms
gives "time that steps back" 'a 100\nb 50\na 99.5\nb 50.5\n' 'a 100\nb 50\n' --field 1 \
	--time-field 2 --delimiter ' ' --window 1s
for engine in tagged timer; do
	gives "a window of time, $engine" 'a 10\na 10.5\na 11.5\n' 'a 10\na 11.5\n' --engine $engine \
		--memory 1MiB --field 1 --time-field 2 --delimiter ' ' --window 1s
done

# --- engines ---
"$BUILD/tests/tools/genlines" 20000 10000 >"$tmp/in" 2>"$tmp/distinct"
distinct=$(cat "$tmp/distinct")
for engine in exact tagged timer bloom sbf rsbf bsbf bsbfsd rlbsbf; do
	window=()
	case $engine in tagged | timer) window=(--window-records 20000) ;; esac
	run --engine $engine --memory 1MiB "${window[@]}" --json --summary "$tmp/summary"
	judge "$engine: counts and error" "$tmp/err" "r['engine'] == '$engine' and r['complete'] and
r['records'] == 20000 and r['distinct'] + r['duplicates'] == 20000 and
abs(r['distinct'] - $distinct) < 200 and r['memory_bytes'] <= 1 << 20 and
0 < r['fpr_model'] < 0.01 and r['seconds'] > 0 and r['bytes'] == $(stat -c %s "$tmp/in")"
	check "$engine: --summary is --json" cmp "$tmp/err" "$tmp/summary"
	check_equal "$engine: as many lines as it counts" \
		"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["distinct"])' "$tmp/err")" \
		"$(wc -l <"$tmp/out")"
done
run --json --seed 1 && cp "$tmp/out" "$tmp/first"
run --json --seed 2 --hash siphash
check "exact does not depend on hash and seed" cmp "$tmp/out" "$tmp/first"
"$BUILD/tests/tools/genlines" 200000 10000000 >"$tmp/in" 2>/dev/null
run --memory 1MiB --json
judge "exact in too little memory forgets, and counts it" "$tmp/err" \
	'r["forgotten"] > 100000 and r["memory_bytes"] <= 1 << 20'
run --memory 1MiB
check "... and says so" grep -q 'memory was short.*--memory more' "$tmp/err"
run --memory 64KiB --engine bloom
check "a filter that is too full says so" grep -q 'too full.*--memory more' "$tmp/err"

# --- options ---
printf 'a\nb\na\n' >"$tmp/in"
run
check "the summary" grep -q '^3 records: 2 distinct, 1 duplicates' "$tmp/err"
check "--quiet --json" run --quiet --json
judge "... prints JSON" "$tmp/err" 'r["distinct"] == 2'
refuses 'window needs the time' --window 1s
refuses 'time-field is for a window' --time-field 1
refuses 'tagged and timer have a window' --engine timer
refuses 'time-unit says nothing' --time-unit ms
refuses 'delimiter says nothing' --delimiter ,
refuses 'delimiter .*: not one byte' --delimiter '' --field 2
refuses 'delimiter ab: not one byte' --delimiter ab --field 2
check_command "a delimiter that ends records" 2 '' 'what ends a record' "$xdd" stream --field 2 \
	--delimiter $'\n'
refuses 'field 0:' --field 0
refuses 'both set the window' --window 1s --window-records 5 --time-field 1
refuses 'at least 2' --window-records 1
refuses 'cannot be cut into 50 ticks' --window-records 20 --ticks 50 --engine timer
refuses 'engines with a window' --engine bloom --window-records 5
refuses 'save -:' --save -
refuses 'without .gz' --save "$tmp/x.gz"
refuses 'name the same file' --save "$tmp/x" --summary "$tmp/x"
refuses 'takes no option --key' --key flow
check_command "--summary that cannot be written: before anything is read" 1 '' \
	'--summary /nonexistent/x: cannot be written' "$xdd" stream --summary /nonexistent/x
check_command "--save that cannot be written" 1 '' '--save /nonexistent/x: cannot be written' \
	"$xdd" stream --save /nonexistent/x
# shellcheck disable=SC2016 # the inner shell expands it
check_command "output that cannot be written" 1 '' 'cannot write to stdout: No space' \
	bash -c 'yes | head -n 10 | "$0" stream >/dev/full' "$xdd"

# shellcheck disable=SC2016 # the inner shell expands it
check_command "a limit of the size of files" 1 '' 'save .*: cannot be written: File too large' \
	bash -c 'ulimit -f 8; "$0" stream --engine bloom --memory 1MiB --save "$1"' \
	"$xdd" "$tmp/large"
check_equal "... leaves nothing" '' "$(find "$tmp" -name '*large*' -o -name '*.tmp')"

# --- output at once ---
mkfifo "$tmp/fifo"
# start ARGUMENT...: stream from the fifo, which stays open as 7, to $tmp/out; its pid in $pid
start() {
	"$xdd" stream "$@" <"$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	exec 7>"$tmp/fifo"
}
# arrives NAME BYTES: the output grows to so many bytes, while the input is idle
arrives() {
	local try
	for try in $(seq 200); do
		[ "$(stat -c %s "$tmp/out")" = "$2" ] && break
		sleep 0.05
	done
	check_equal "$1" "$2" "$(stat -c %s "$tmp/out")"
	: "$try"
}
start
printf 'a\nb\na\nhal' >&7
arrives "distinct records are there while the input is idle" 4
printf 'f\n' >&7
arrives "... and the one that was not complete" 9
exec 7>&-
wait $pid
check_equal "end of input" 0 $?

# --- signals ---
for signal in INT TERM HUP; do
	start --save "$tmp/saved.$signal" --json
	printf 'a\nb\na\nha' >&7
	arrives "SIG$signal: before it" 4
	kill -$signal $pid
	wait $pid
	check_equal "SIG$signal: exit code" 0 $?
	exec 7>&-
	check_equal "SIG$signal: what was read is finished" 'a b ha' "$(tr '\n' ' ' <"$tmp/out")"
	judge "SIG$signal: the summary" "$tmp/err" 'r["interrupted"] and r["records"] == 4'
	check_equal "SIG$signal: the filter is saved" 'c' \
		"$(printf 'a\nha\nc\n' | "$xdd" stream --quiet --restore "$tmp/saved.$signal")"
done

# A second signal does not wait for a reader that does not read.
mkfifo "$tmp/full"
exec 8<>"$tmp/full"
seq 100000 >"$tmp/in"
"$xdd" stream --save "$tmp/never" <"$tmp/in" >"$tmp/full" 2>"$tmp/err" &
pid=$!
head -c 1 <&8 >/dev/null
kill -INT $pid
kill -TERM $pid
wait $pid
check_equal "a second signal ends it" 1 $?
exec 8>&-
check "... with a line" grep -q 'interrupted: no file' "$tmp/err"
check_equal "... and leaves no file" '' "$(find "$tmp" -name '*never*' -o -name '*.tmp')"

# A reader that is gone ends it: at once, without a word, and without saving what nobody got.
yes | awk '{ print NR }' | "$xdd" stream --json 2>"$tmp/err" | head -n 3 >"$tmp/out"
check_equal "a closed pipe" '1 2 3 0' "$(tr '\n' ' ' <"$tmp/out")${PIPESTATUS[2]}"
judge "... incomplete" "$tmp/err" 'not r["complete"] and r["records"] > 3'
seq 1000000 | "$xdd" stream 2>"$tmp/err" | head -n 1 >"$tmp/out"
check_equal "... nothing said" '' "$(cat "$tmp/err")"
seq 1000000 | "$xdd" stream --save "$tmp/unsaved" 2>"$tmp/err" | head -n 1 >"$tmp/out"
check_equal "... --save fails" 1 "${PIPESTATUS[1]}"
check "... with a line" grep -q 'save.*not written' "$tmp/err"
check_equal "... and leaves no file" '' "$(find "$tmp" -name '*unsaved*' -o -name '*.tmp')"

# --- writes ---
cat >"$tmp/writes.py" <<'END'
"""Each write of stream: writes.py EXPECTED PROGRAM ARGUMENT... with the records a, b, a, c."""
import socket, subprocess, sys
ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
subprocess.run(sys.argv[2:], input=b"a\nb\na\nc\n", stdout=its, check=True)
its.close()
ours.setblocking(False)
found = []
try:
    while True:
        found.append(ours.recv(100).decode().replace("\n", "."))
except (BlockingIOError, ConnectionError):
    pass
print(" ".join(found))
sys.exit(" ".join(found) != sys.argv[1])
END
check "one write for what was read at once" python3 "$tmp/writes.py" "a.b.c." "$xdd" stream --quiet
check "--unbuffered: one for each record" python3 "$tmp/writes.py" "a. b. c." "$xdd" stream --quiet \
	--unbuffered

# --- saved filters ---
"$BUILD/tests/tools/genlines" 30000 20000 >"$tmp/all" 2>/dev/null
head -n 12345 "$tmp/all" >"$tmp/head"
tail -n +12346 "$tmp/all" >"$tmp/tail"
splits() {
	local name=$1
	shift
	"$xdd" stream --quiet "$@" <"$tmp/all" >"$tmp/expected"
	"$xdd" stream --quiet "$@" --save "$tmp/filter" <"$tmp/head" >"$tmp/out"
	"$xdd" stream --quiet --restore "$tmp/filter" <"$tmp/tail" >>"$tmp/out"
	check "$name: two runs are as one" cmp "$tmp/out" "$tmp/expected"
}
splits "exact"
splits "exact, records" --window-records 5000
splits "exact, full" --memory 1MiB
for engine in bloom sbf rsbf bsbf bsbfsd rlbsbf; do
	splits $engine --engine $engine --memory 8KiB
done
splits "rsbf, algorithm1" --engine rsbf --memory 2KiB --variant algorithm1
splits "sbf, larger cells" --engine sbf --memory 8KiB --sbf-max 3 --sbf-p 5 --hashes 3
splits "tagged" --engine tagged --memory 64KiB --window-records 5000
splits "timer" --engine timer --memory 64KiB --window-records 5000 --slicing vertical --slices 4
for grow in density cardinality; do
	splits "timer, growing by $grow" --engine timer --memory 64KiB --window-records 5000 --slices 4 \
		--grow $grow --max-filters 5
done
awk '{ print $1 "\t" NR / 10 }' "$tmp/all" >"$tmp/timed"
mv "$tmp/timed" "$tmp/all"
head -n 12345 "$tmp/all" >"$tmp/head"
tail -n +12346 "$tmp/all" >"$tmp/tail"
for engine in exact tagged timer; do
	splits "$engine, time" --engine $engine --memory 1MiB --field 1 --time-field 2 --window 200s
done
# A random secret is saved, too: both start from the same empty filter.
for engine in exact rlbsbf; do
	"$xdd" stream --quiet --engine $engine --memory 1MiB --seed random --save "$tmp/empty" </dev/null
	splits "$engine, random seed" --restore "$tmp/empty"
done
check "three runs in one file" "$xdd" stream --quiet --restore "$tmp/filter" --save "$tmp/filter" "$tmp/tail"

filter=$tmp/filter
# An option that decides about verdicts must be in the file: SAVED in user/records/saved.c. Those of
# the filter before a join have no place with --save, and are in the file of --save-filter; of sites nothing is saved.
"$xdd" stream --help | sed -nE 's/^ *(-.,)? *--([a-z][a-z-]*).*/\2/p' | sed 'y/-/_/' |
	grep -vxE 'audit|help|json|quiet|restore|save|summary|unbuffered' |
	grep -vxE 'join|join_field|save_filter|filter|l|counters|positions' |
	grep -vxE 'batch|group|leaf|nats.*|primitive|protocol|secret_file|silence|site_timeout|sites|top_down|tree' | sort -u >"$tmp/options"
grep -aoE '[a-z_]{4,}' "$filter" | sort -u >"$tmp/names"
check_equal "every option is saved" '' "$(comm -23 "$tmp/options" "$tmp/names")"
check "... and there are some" grep -q engine "$tmp/options"
"$xdd" stream --quiet --engine rlbsbf --memory 8KiB --save "$filter" "$tmp/head" >/dev/null
check_command "options that agree with the file" 0 '.' '' "$xdd" stream --quiet --restore "$filter" \
	--engine rlbsbf --memory 8KiB --hashes 2 "$tmp/tail"
for option in '--engine bsbf' '--memory 16KiB' '--engine rlbsbf --hashes 3' '--seed 5' \
	'--hash siphash' '--field 2' '--null' '--field 1 --delimiter ,'; do
	# shellcheck disable=SC2086 # an option and its value
	refuses "is another one than $filter" --restore "$filter" $option
done
check_equal "the message names the option" 1 "$("$xdd" stream --restore "$filter" --seed 5 2>&1 | grep -c -e '--seed')"
refuses 'grow density is for --engine timer' --grow density
refuses 'max-filters bounds a filter that grows' --engine timer --max-filters 4
refuses 'grow fast: not a way to grow' --engine timer --grow fast
refuses 'max-filters 9: not a number of filters from 2 to 8' --engine timer --grow density --max-filters 9
refuses 'slices 600: at most 512' --engine timer --window-records 50 --memory 1MiB --grow density --slices 600
refuses 'a slice for each line' --engine timer --window-records 50 --grow density --slicing horizontal
check_command "no file to restore" 1 '' 'cannot be opened' "$xdd" stream --restore "$tmp/absent"
head -c 5000 "$filter" >"$tmp/cut"
check_command "a file that is cut" 1 '' 'is cut' "$xdd" stream --restore "$tmp/cut"
{ cat "$filter" && echo; } >"$tmp/long"
check_command "a file with more behind it" 1 '' 'behind its end' "$xdd" stream --restore "$tmp/long"
{ head -c 6000 "$filter" && printf '\xa5' && tail -c +6002 "$filter"; } >"$tmp/damaged"
cmp -s "$filter" "$tmp/damaged" && { head -c 6000 "$filter" && printf '\x5a' && tail -c +6002 "$filter"; } >"$tmp/damaged"
check_command "a file that is damaged" 1 '' 'is damaged' "$xdd" stream --restore "$tmp/damaged"
# Where slices may fail, one that is damaged starts empty, and the others go on.
seq 2000 >"$tmp/thousands"
"$xdd" stream --quiet --engine timer --slicing horizontal --slices 8 --memory 64KiB --window-records 50k \
	--fault-policy distinct --save "$filter" "$tmp/thousands" >/dev/null
flip() { python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 1
open(sys.argv[2], "wb").write(data)' "$@"; }
flip "$filter" "$tmp/damaged" 30000
check_command "a slice that is damaged" 0 '.' '1 of 8 slices are damaged and start empty' \
	"$xdd" stream --restore "$tmp/damaged" "$tmp/thousands"
"$xdd" stream --quiet --restore "$tmp/damaged" "$tmp/thousands" >"$tmp/passed" 2>/dev/null
check "passes an eighth of the copies" test "$(wc -l <"$tmp/passed")" -gt 150 -a "$(wc -l <"$tmp/passed")" -lt 350
"$xdd" stream --json --restore "$tmp/damaged" "$tmp/thousands" 2>"$tmp/summary" >/dev/null
check "with --json stderr is one object, which says so, too" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(len(r["warnings"]) != 1 or "for a window --fault-policy" not in r["warnings"][0])' "$tmp/summary"
check_command "--quiet does not hide it" 0 '.' 'slices are damaged' \
	"$xdd" stream --quiet --restore "$tmp/damaged" "$tmp/thousands"
"$xdd" stream --quiet --engine bloom --slicing horizontal --slices 8 --memory 64KiB \
	--fault-policy distinct --save "$tmp/bits" "$tmp/thousands" >/dev/null
flip "$tmp/bits" "$tmp/bad_bits" 30000
check_command "engine bloom has no window" 0 '.' 'start empty: copies of the records that they held pass' \
	"$xdd" stream --restore "$tmp/bad_bits" "$tmp/thousands"
flip "$filter" "$tmp/damaged" -20
check_command "damage outside the slices" 1 '' 'is damaged' "$xdd" stream --restore "$tmp/damaged"
check_command "a file of another kind" 1 '' 'is no filter' "$xdd" stream --restore "$tmp/all"
cp "$filter" "$tmp/kept"
chmod 600 "$tmp/kept"
# shellcheck disable=SC2016 # the inner shell expands it
check_command "a run that fails leaves the saved filter as it was" 1 '' 'not written' \
	bash -c 'seq 100000 | "$0" stream --quiet --restore "$1" --save "$1" >/dev/full' "$xdd" "$tmp/kept"
check "... byte for byte" cmp "$filter" "$tmp/kept"
seq 10 >"$tmp/kept"
check_command "--save onto an input" 2 '' 'is an input, too' "$xdd" stream "$tmp/kept" --save "$tmp/kept"
check_command "--summary onto an input" 2 '' 'is an input, too' \
	bash -c "'$xdd' stream --summary '$tmp/kept' <'$tmp/kept'"
check_equal "the input is as it was" "$(seq 10)" "$(cat "$tmp/kept")"
finish
