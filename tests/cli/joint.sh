#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# joint over lists and captures, against the truth by sort and comm; and simulate joint.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

taps=$PWD/tests/cli/taps.py
cd "$tmp" || exit 1

refuses() {
	check_command "joint ${*:3}" "$2" '' "$1" "$xdd" joint "${@:3}"
	check_equal "joint ${*:3}: one line" 1 "$(wc -l <"$tmp/stderr")"
}

# judge NAME FILE PYTHON: an expression over the object `r` in FILE
judge() {
	check "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$2" "$3"
}

# --- lists: 3000 common keys, some twice, not in order ---
seq 1 20000 | sed 's/^/key /' | shuf --random-source=<(yes 1) >a
seq 17001 60000 | sed 's/^/key /' >b
{ seq 10001 30000; seq 18001 19000; } | sed 's/^/key /' >c
seq 17001 20000 | sed 's/^/key /' | sort >truth

# close FILE TRUTH KEYS: all of TRUTH, and at most a few of a share of .001 of so many KEYS
close() {
	[ -z "$(comm -13 <(sort "$1") "$2")" ] &&
		[ "$(comm -23 <(sort "$1") "$2" | wc -l)" -le $(($3 * 2 / 1000 + 5)) ]
}

for algorithm in raw bfs cfs cfsp smallest-first best; do
	"$xdd" joint a b c --algorithm $algorithm --json >found 2>json
	check_equal "$algorithm: exit code" 0 $?
	check "$algorithm: all common keys, few others" close found truth 20000
	judge "$algorithm: its summary" json "r['algorithm'] == '$algorithm' and \
		r['common'] == $(wc -l <found) and r['at_least'] == 3 and \
		r['up_bytes'] == sum(m['up_bytes'] for m in r['monitors']) and \
		[m['keys'] for m in r['monitors']] == [20000, 43000, 20000] and \
		r['monitors'][2]['records'] == 21000 and r['monitors'][0]['file'] == 'a' and \
		all(m['kind'] == 'keys' and 3000 <= m['candidates'] <= 3100 for m in r['monitors'])"
	check "$algorithm: in the order of the first list" cmp found <(grep -xFf found a)
done
for algorithm in raw smallest-first; do
	"$xdd" joint a b c --algorithm $algorithm --quiet 2>err | sort >found
	check "$algorithm is exact" cmp found truth
	check_equal "--quiet" "" "$(cat err)"
done
"$xdd" joint a b c --algorithm best --epsilon 1e-6 --quiet | sort >found
check "--epsilon 1e-6" cmp found truth
check_command "less than 64 bits of hash can keep" 2 '' 'at least 1e-09' "$xdd" joint a b --epsilon 1e-18
for rounds in 1 3 9; do
	"$xdd" joint a b c --rounds $rounds --quiet >found
	check "--rounds $rounds" close found truth 20000
done
bytes_of() {
	"$xdd" joint a b c --json "$@" 2>&1 >found | python3 -c 'import json, sys
r = json.load(sys.stdin)
print(r["up_bytes"] + r["down_bytes"])'
}
check "best sends less than two thirds of what cfsp does" \
	test $((3 * $(bytes_of))) -lt $((2 * $(bytes_of --algorithm cfsp)))

# --- at least some of them ---
sort <(sort -u a) <(sort -u b) <(sort -u c) | uniq -d >two
for algorithm in raw best; do
	"$xdd" joint a b c --at-least 2 --algorithm $algorithm --quiet >found
	check "$algorithm --at-least 2" close found two 60000
	check_equal "$algorithm --at-least 2: each key once" "" "$(sort found | uniq -d)"
done
refuses 'raw and best can' 2 a b c --at-least 2 --algorithm cfs
refuses 'is lost at once; raw and best can' 2 a b c --at-least 2 --algorithm smallest-first
refuses '--at-least 4: from 2 to 3' 2 a b c --at-least 4

# --- records ---
printf 'x\t1\ny\t2\nz\n' >f
printf 'p\t2\nq\t3\n' >g
check_equal "--field" "y${IFS:1:1}2" "$("$xdd" joint f g --field 2 --quiet)"
check_command "lines without the field are told of" 0 'y' '^f: 1 of 3 lines have no field 2' \
	"$xdd" joint f g --field 2
check_equal "... once for each list that has some" "f: 3 of 3 lines have no field 4|g: 2 of 2 lines have no field 4" \
	"$("$xdd" joint f g --field 4 2>&1 | grep ' have no ' | paste -sd'|')"
check_equal "... not with --quiet, nor where all have it" "" \
	"$({ "$xdd" joint f g --field 4 --quiet && "$xdd" joint f g --field 1; } 2>&1 | grep ' have no ')"
printf 'a\nb\0c\0' >f
printf 'c\0a\nb\0' >g
check_equal "--null" "a-b|c|" "$("$xdd" joint f g --null --quiet | tr '\n\0' '-|')"
gzip -c b >b.gz
"$xdd" joint a - b.gz --quiet --algorithm raw <c | sort >found
check "stdin, and gzip" cmp found truth
refuses '-: is given 2 times, and standard input can be read once' 2 - a -
: >empty
check_command "an empty list: nothing is common" 0 '' 'best: 0 keys that all 2 have' \
	"$xdd" joint a empty
check_command "one key is one key" 0 '^key 7$' ': 1 key that all 2 have' "$xdd" joint a <(echo 'key 7') --algorithm raw
check_equal "the same list twice" 20000 "$("$xdd" joint a a --quiet | wc -l)"

# --- captures: flows that passed all taps ---
python3 "$taps" t1 1 300 1
python3 "$taps" t2 101 500 2 noise
python3 "$taps" t3 51 250 5
check_command "flows of three taps" 0 '^51	192\.0\.2\.1:101 > 192\.0\.2\.2:53, UDP$' \
	'cfsp: 150 keys that all 3 have' \
	"$xdd" joint t3 t2 t1 --key flow --algorithm cfsp --epsilon 1e-6
check_equal "each flow once" 150 "$(wc -l <stdout)"
"$xdd" joint t1 t2 t3 --algorithm raw --json >found 2>json
judge "packets by the default key, whatever their TTL" json "r['common'] == 300 and \
	r['monitors'][1]['without_key'] == 1 and r['monitors'][1]['keys'] == 800 and \
	r['monitors'][1]['kind'] == 'capture'"
check_command "frames without a key are told of" 0 UDP '^t2: 1 of 801 frames have no key$' "$xdd" joint t1 t2 t3
check_command "... or left out" 0 UDP '^t1: 598 of 600 frames have no key, or are left out by --filter' \
	"$xdd" joint t1 t2 --filter 'src port 120'
check_equal "--at-least of captures: FILE:NUMBER, each of the first FILE that has it" \
	"$(seq -f 't2:%g' 200 && seq -f 't3:%g' 50)" \
	"$("$xdd" joint t2 t3 t1 --at-least 2 --algorithm raw --key flow --quiet | cut -f1)"
check_equal "... what all have is of the first FILE: NUMBER alone" "$(seq 150)" \
	"$("$xdd" joint t2 t3 t1 --at-least 3 --algorithm raw --key flow --quiet | cut -f1)"
check_equal "with --include ttl none is the same" 0 \
	"$("$xdd" joint t1 t2 t3 --include ttl --algorithm raw --quiet | wc -l)"
check_equal "--filter" 1 "$("$xdd" joint t1 t2 --key flow --filter 'src port 120' --quiet | wc -l)"

# --- what cannot be done ---
refuses 'a list of keys and a capture have no keys in common' 1 a t1
refuses '^xdp-dedup: joint: /dev/fd/[0-9]*: a capture is read twice: give it as a file$' 1 <(cat t1) t2
mkfifo pipe
gzip -c t1 >pipe &
refuses '^xdp-dedup: joint: pipe: a capture is read twice: give it as a file$' 1 t2 pipe
check_equal "lists of keys come by pipes" 3000 "$("$xdd" joint <(cat a) b <(cat c) --algorithm raw --quiet | wc -l)"
refuses '--field is for lists of keys' 1 t1 t2 --field 2
refuses 'nowhere: cannot be read: No such file' 1 a nowhere
head -c 700 t1 >short
refuses short 1 t2 short
refuses 'too few arguments' 2 a
refuses 'number of rounds|from 1 to 10' 2 a b --rounds 11
refuses '--rounds 2: --algorithm cfs has one round' 2 a b --algorithm cfs --rounds 2
refuses 'did you mean cfs|not raw, bfs' 2 a b --algorithm cfz
refuses '--seed random' 2 a b --seed random
refuses '--delimiter says nothing' 2 a b --delimiter ,
# shellcheck disable=SC2016 # the inner shell expands it
check_command "keys that cannot be written" 1 '' 'cannot write to stdout' \
	bash -c '"$0" joint a b --quiet >/dev/full' "$xdd"

# --- simulation ---
for algorithm in raw bfs cfs cfsp smallest-first best; do
	"$xdd" simulate joint --algorithm $algorithm --sizes 2k-20k --runs 3 --json >json
	judge "simulate joint, $algorithm: none lost, few wrong, bytes near the formula" json \
		"r['lost'] == 0 and r['misclassified'] <= .001 and r['keys'] > 20000 and \
		(r['formula_up_mbit'] is None or abs(r['up_mbit'] / r['formula_up_mbit'] - 1) < .01)"
done
for r in 0 1; do
	"$xdd" simulate joint --sizes 5k --intersection $r --json >json
	judge "--intersection $r" json "r['common'] == 5000 * $r and r['lost'] == 0"
done
"$xdd" simulate joint --sizes 5k --monitors 5 --at-least 3 --json >json
judge "--at-least" json "r['lost'] == 0 and r['misclassified'] <= .001"
check_command "simulate joint --engine" 2 '' 'simulate joint: --engine is not for it' \
	"$xdd" simulate joint --engine sbf
check_command "simulate joint --sizes 5-4" 2 '' 'the smaller one first' \
	"$xdd" simulate joint --sizes 5-4
check_command "simulate joint: text" 0 'bits for each key' '' \
	"$xdd" simulate joint --sizes 1k
finish
