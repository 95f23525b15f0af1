#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# stream --join, --save-filter, --filter: the filter before a join of li-2013, as pipelines.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

cd "$tmp" || exit 1
tab=$(printf '\t')

# R: 3000 keys in two files, some in both; S: 100000 records, one in a hundred of which has a partner
seq 1 2000 | sed "s/.*/k&${tab}patent &/" >r1
seq 1001 3000 | sed "s/.*/k&${tab}patent &/" >r2
seq 1 100000 | awk '{ print "cite " $1 "\tk" ($1 % 300000 * 3) }' >s
cat r1 r2 | sort -u | sort -t "$tab" -k1,1 >r.sorted
sort -t "$tab" -k2,2 s | join -t "$tab" -1 1 -2 2 r.sorted - >joined

# joins NAME FILE: the records that were kept give the same join
joins() {
	check "$1" cmp joined <(sort -t "$tab" -k2,2 "$2" | join -t "$tab" -1 1 -2 2 r.sorted -)
}

# judge NAME FILE PYTHON: an expression over the object `r` in FILE
judge() {
	check "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$2" "$3"
}

refuses() {
	local pattern=$1 code=$2
	shift 2
	check_command "stream $*" "$code" '' "$pattern" "$xdd" stream "$@"
}

# --- one step, and two ---
gzip -k r1
refuses 'r1.gz: is compressed: zcat' 1 --join r2,r1.gz --field 2
check_command "no record of --join has the field: a warning" 0 '' 'has a key: is --join-field right?' \
	"$xdd" stream --join r1 --join-field 99 --field 2 <s
"$xdd" stream --join r1,r2 --join-field 1 --field 2 --json <s >kept 2>json
check_equal "exit code" 0 $?
joins "--join keeps every record that has a partner" kept
judge "its summary" json "r['records'] == 100000 and r['kept'] == $(wc -l <kept) and r['complete'] \
	and r['kept'] + r['dropped'] == 100000 and r['set']['keys'] == 3000 \
	and r['set']['counters'] == 30000 and r['set']['records'] == 4000"
judge "few others: five standard errors of the model" json \
	"abs(r['kept'] - 1000 - 99000 * r['set']['fpr_model']) < 5 * (99000 * .000472) ** .5 \
	and abs(r['set']['fpr_model'] - .000472) < 1e-6"
check "they are as they were, in their order" cmp kept <(grep -xFf kept s)
check_command "--save-filter" 0 '' '^set of 3000 keys in 1[56]\.[0-9]* KiB' \
	"$xdd" stream --join r1,r2 --field 1 --save-filter r.xdw
"$xdd" stream --filter r.xdw --field 2 --quiet <s >kept2
check "--filter keeps the same" cmp kept kept2
"$xdd" stream --filter r.xdw --field 2 --quiet s >kept2
check "and of a file" cmp kept kept2

# --- in parts: a key set for each input, their union, one filter for all mappers ---
for part in r1 r2; do
	"$xdd" stream --field 1 --quiet $part | cut -f 1 >$part.keys
done
cat r1.keys r2.keys | "$xdd" stream --join - --save-filter parts.xdw --quiet
check "the union of key sets makes the same filter" cmp r.xdw parts.xdw
split -n l/3 s map.
for part in map.??; do
	"$xdd" stream --filter parts.xdw --field 2 --quiet <"$part" >"$part.kept"
done
cat map.??.kept >kept3
check "three mappers keep what one does" cmp kept kept3
joins "and their join is the join" kept3

# --- sizes ---
for l1 in 1m 2m 3m optimal; do
	"$xdd" stream --join r1,r2 --join-field 1 --field 2 --l1 $l1 --json <s 2>json >kept4
	joins "--l1 $l1" kept4
	cp json $l1.json
done
check "the larger level 1 is, the fewer are kept" python3 -c '
import json
kept = [json.load(open(name + ".json"))["kept"] for name in ("1m", "2m", "3m", "optimal")]
assert kept == sorted(kept, reverse=True) and kept[0] > kept[3], kept
bits = [json.load(open(name + ".json"))["set"]["level1_bits"] for name in ("1m", "2m", "3m", "optimal")]
assert bits == [30000, 60000, 90000, 111000], bits'
"$xdd" stream --join r1,r2 --join-field 1 --field 2 --counters 16 --positions 11 <s 2>/dev/null >kept5
joins "--counters, --positions" kept5
check_equal "nobody else is kept" 1000 "$(wc -l <kept5)"

# --- edges ---

check_equal "the whole record, no final newline" "a${tab}" "$(printf 'b\na\t\nc\na' | tr '\t' x |
	"$xdd" stream --join <(printf 'ax\n') --quiet | tr x '\t')"
check_equal "none: nothing is kept" "" "$(printf 'a\n\n' | "$xdd" stream --join /dev/null --quiet)"
check_equal "an empty key is one" "1" "$(printf 'a\n\n' | "$xdd" stream --join <(echo) --quiet | wc -l)"
check_equal "records that end with 0" "a" \
	"$(printf 'b\0a\0' | "$xdd" stream --join <(printf 'a\0') --null --quiet | tr -d '\0')"
printf 'x\ny\tk1\n' | "$xdd" stream --filter r.xdw --field 2 --json >out 2>json
judge "no such field: no key, and no partner" json \
	"r['no_field'] == 1 and r['kept'] == 1 and r['records'] == 2"
"$xdd" stream --filter r.xdw --field 2 --quiet --summary sum.json <s >kept6
judge "--summary" sum.json "r['kept'] == $(wc -l <kept)"
check "the reader goes away" bash -o pipefail -c "'$xdd' stream --filter r.xdw --field 2 --quiet <s | head -1"

# --- what is refused ---
refuses 'give one' 2 --join r1 --filter r.xdw
refuses 'add --join' 2 --save-filter x.xdw
refuses 'writes no records' 2 --join r1 --save-filter x.xdw s
refuses 'for the set of --join' 2 --l1 2m
refuses '--l1 says nothing to --filter' 2 --filter r1 --l1 2m
refuses '--engine says nothing to --join' 2 --join r1 --engine bloom
refuses '--l1 says nothing' 2 --filter r.xdw --l1 2m
refuses 'give a number' 2 --join r1 --seed random
refuses 'did you mean' 2 --join r1 --l1 optimum
refuses 'do not fit into --counters 1' 2 --join r1 --counters 1 --positions 5
refuses 'no set without all keys' 1 --join r1,nowhere --save-filter x.xdw
check "no filter was left" test ! -e x.xdw
cp r1 own
refuses 'own: is an input, too' 2 --join own --save-filter own
refuses 'own: is an input, too' 2 --join r1,own --summary own s
refuses 'own: is an input, too' 2 --join r1 --summary own own
refuses 'r.xdw: is an input, too' 2 --filter r.xdw --summary r.xdw s
check "no input was replaced" cmp r1 own
refuses 'give a name without .gz' 2 --join r1 --save-filter x.xdw.gz
refuses 'is no watch set that was saved' 1 --filter r1
head -c 5000 r.xdw >cut.xdw
refuses 'was saved with' 1 --filter cut.xdw
python3 -c 'data = bytearray(open("r.xdw", "rb").read()); data[9000] ^= 4
open("bad.xdw", "wb").write(data)'
refuses 'is damaged' 1 --filter bad.xdw
finish
