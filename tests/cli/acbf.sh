#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# simulate acbf: rates against the formula, costs, and what it takes.
. "$(dirname "$0")/../tap.sh"

# judge NAME PYTHON: an expression over the object `r` in $tmp/json
judge() {
	check "$1" python3 -c 'import json, math, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$tmp/json" "$2"
}

# rate L1 BITS FPR: 20000 keys, m/n = 10, k = 3
rate() {
	"$xdd" simulate acbf --domain 20000 --runs 4 --l1 "$1" --json >"$tmp/json" || return
	judge "--l1 $1" "r['algorithm'] == 'acbf' and r['level1_bits'] == $2 and r['hashes'] == 3
		and abs(r['fpr_model'] - $3) < 1e-6 and r['records'] == 200000 and r['runs'] == 4
		and abs(r['fpr'] - $3) < 5 * math.sqrt($3 / 8e5) + .01 * $3"
}
rate 1m 200000 .017411
rate 2m 400000 .002703
rate 3m 600000 .000862
rate optimal 740000 .000472
judge "memory: the paper's bits and 2 % of so few keys" \
	"r['paper_bytes'] == 100000 and 0 < r['memory_bytes'] - 100000 < 2000"
judge "words of an update: a hundredth of Eq. 2's" \
	"0 < r['update_words'] < 600 and r['update_words_equation'] > 15000"

"$xdd" simulate acbf --domain 20000 --runs 4 --json >"$tmp/again"
check_equal "the same seed is the same run" \
	"$(grep '"fpr"' "$tmp/json")" "$(grep '"fpr"' "$tmp/again")"
"$xdd" simulate acbf --domain 1000 --counters 20 --positions 14 --records 5000 --json >"$tmp/json"
judge "--counters, --positions, --records" "r['counters'] == 20000 and r['hashes'] == 14
	and r['records'] == 5000 and r['level1_bits'] == 66000"
check_command "in words" 0 '^false positives .* by the model' '' "$xdd" simulate acbf --domain 1000

refuses() {
	local pattern=$1
	shift
	check_command "simulate $*" 2 '' "$pattern" "$xdd" simulate "$@"
}
refuses 'no such simulation: acbf' cbf
refuses '--l1 is for another simulation' --l1 2m
refuses '--engine is not for it' acbf --engine bloom
refuses '--hashes is not for it' acbf --hashes 4
refuses 'do not fit beside' acbf --counters 1 --positions 4
refuses 'a number, so that' acbf --seed random
refuses 'at most 400000000' acbf --domain 1G
refuses '1m, 2m, 3m or optimal' acbf --l1 4m
refuses 'from 1 to 32' acbf --positions 33
finish
