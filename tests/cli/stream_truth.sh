#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# stream on ten million lines against what sort and awk find, and the errors of bit engines against
# that truth, the model and simulate.
. "$(dirname "$0")/../tap.sh"

lines=10000000 domain=20000000
in=$tmp/in
"$BUILD/tests/tools/genlines" $lines $domain >"$in" 2>"$tmp/distinct"

# near NAME FOUND EXPECTED: within 5 %
near() {
	check "$1: $2 against $3" awk -v f="$2" -v e="$3" \
		'BEGIN { exit !(e > 1000 && f > 0.95 * e && f < 1.05 * e) }'
}

distinct=$(LC_ALL=C sort -u --parallel=2 -S 1G "$in" | wc -l)
check_equal "sort -u finds as many distinct lines as were made" "$(cat "$tmp/distinct")" "$distinct"
"$xdd" stream --quiet "$in" >"$tmp/exact"
check_equal "exact: as many as sort -u" "$distinct" "$(wc -l <"$tmp/exact")"
check_equal "... and none twice" "$distinct" "$("$xdd" stream --quiet "$tmp/exact" | wc -l)"
head -n 2000000 "$in" | awk '!s[$0]++' >"$tmp/awk"
check "the lines of awk '!s[\$0]++', in its order" cmp -n "$(stat -c %s "$tmp/awk")" "$tmp/awk" "$tmp/exact"

# bloom misses no duplicate. The key that comes after i others is taken for one with probability
# (1 - (1 - 1/m)^(k i))^k.
"$xdd" stream --quiet --engine bloom --memory 8MiB "$in" >"$tmp/out"
kept=$(wc -l <"$tmp/out")
near "bloom: lost lines, as the model has it" $((distinct - kept)) "$(awk -v d="$distinct" 'BEGIN {
	m = 8 * 2^23
	for (i = 0; i < d; i += 100)
		sum += 100 * (1 - exp(4 * i * log(1 - 1 / m)))^4
	print sum
}')"
check_equal "bloom: none is kept twice" "$kept" "$("$xdd" stream --quiet "$tmp/out" | wc -l)"
# What it keeps are lines of the exact engine's output, in that order.
# shellcheck disable=SC2016 # awk's
check "bloom: what is kept are first copies" awk 'BEGIN { i = 0 }
	NR == FNR { kept[n++] = $0; next }
	$0 "" == kept[i] "" { i++ } END { exit i != n }' <(head -n 1000000 "$tmp/out") "$tmp/exact"

# rlbsbf errs on both sides, as often as in simulate.
"$xdd" stream --quiet --engine rlbsbf --memory 8MiB "$in" >"$tmp/out"
kept=$(wc -l <"$tmp/out")
kept_distinct=$("$xdd" stream --quiet "$tmp/out" | wc -l)
"$xdd" simulate --engine rlbsbf --memory 8MiB --records $lines --domain $domain --json >"$tmp/simulated"
simulated() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$tmp/simulated" "$1"
}
near "rlbsbf: lost lines, as in simulate" $((distinct - kept_distinct)) "$(simulated fp)"
near "rlbsbf: duplicates that are left, as in simulate" $((kept - kept_distinct)) "$(simulated fn)"
finish
