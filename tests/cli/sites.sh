#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# simulate sites: verdicts of one filter, visits of koloniari-2011, rates of its corrected formulas when sites fail.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

bloom=(--engine bloom --memory 64KiB --hashes 4 --slicing vertical --slices 40)
timer=(--engine timer --memory 64KiB --hashes 4 --window-records 1000 --records 20k --domain 2k)

# sites NAME PYTHON OPTION...: an expression over what it says
sites() {
	local name=$1 expression=$2
	shift 2
	"$xdd" simulate sites "$@" --json >"$tmp/json"
	check "$name" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$tmp/json" "$expression"
}
refuses() {
	check_command "${*:2}" 2 '' "$1" "$xdd" simulate sites "${@:2}"
}

# Visits a record at so many percent distinct, with what is set (PAPERS.md): the fill of 100k records in 64 KiB is low.
while read -r distinct pipeline; do
	sites "pipeline, $distinct distinct" "abs(r['visits_per_lookup'] / $pipeline - 1) < .02 and not r['differences']" \
		"${bloom[@]}" --hosts 8 --records 100k --distinct "$distinct" --protocol pipeline
	sites "one-pass, $distinct distinct" "abs(r['visits_per_lookup'] / 3.852 - 1) < .005 and not r['differences']" \
		"${bloom[@]}" --hosts 8 --records 100k --distinct "$distinct" --protocol one-pass
	sites "parallel, $distinct distinct" \
		"abs(r['visits_per_lookup'] / 3.852 / (1 + r['distinct']) - 1) < .005 and not r['differences']" \
		"${bloom[@]}" --records 100k --distinct "$distinct"
done <<<"0.8 4.85
0.5 4.47
0.2 4.10"
sites "test-and-set" "abs(r['visits_per_lookup'] / 3.852 - 1) < .005 and not r['differences']" \
	"${bloom[@]}" --records 100k --primitive test-and-set
sites "messages are at most a round or two a batch" "r['messages_per_lookup'] < .2 and r['bytes_per_lookup'] < 60" \
	"${bloom[@]}" --hosts 8 --records 100k --batch 1024

for slicing in "vertical --slices 10" "horizontal --slices 10" "hv --slices 5 --subslices 4" "vh --slices 5 --subslices 4"; do
	# shellcheck disable=SC2086 # several words
	sites "timers, $slicing" "not r['differences'] and r['fpr'] < .01" "${timer[@]}" --slicing $slicing
done

# Sites fail. One of 8 has 5 of 40 slices: a copy is lost unless all its cells are elsewhere.
sites "distinct: FN is 1 - (1 - q)^k" "abs(r['fnr'] / (1 - (1 - 2 / 8) ** 4) - 1) < .05 and not r['differences']" \
	"${bloom[@]}" --hosts 8 --records 100k --distinct 0.5 --faults 2 --fault-policy distinct
sites "vote: FN is the sum" \
	"abs(r['fnr'] / (1 - (1 - 2 / 8) ** 4 - 4 * 2 / 8 * (1 - 2 / 8) ** 3) - 1) < .05 and not r['differences']" \
	"${bloom[@]}" --hosts 8 --records 100k --distinct 0.5 --faults 2 --fault-policy vote:3
sites "duplicate: no FN, and FP more than (f/S)^k" \
	"r['fnr'] == 0 and r['fpr'] > (2 / 8) ** 4 and not r['differences']" \
	"${bloom[@]}" --hosts 8 --records 100k --distinct 0.5 --faults 2 --fault-policy duplicate

refuses 'give --primitive first-test' "${timer[@]}" --slicing vertical --slices 10 --primitive test-and-set
refuses 'is for --protocol parallel' "${bloom[@]}" --primitive test-and-set --protocol one-pass
refuses 'a vote is known only' "${bloom[@]}" --protocol one-pass --fault-policy vote:3
sites "more slices than there can be sites" "r['sites'] == 256 and r['slices'] == 300 and not r['differences']" \
	--engine bloom --memory 64KiB --hashes 4 --slicing vertical --slices 300 --records 10k
refuses 'more --slices, or fewer sites' "${bloom[@]}" --hosts 41
refuses 'more --faults than there are sites' "${bloom[@]}" --hosts 2 --faults 3
refuses '--epsilon is not for it' --epsilon 0.1
refuses 'engines timer and bloom' --engine exact
refuses 'not parallel, pipeline or one-pass|did you mean pipeline' "${bloom[@]}" --protocol pipelin
check_command "--batch of a plain stream" 2 '' 'for another simulation' "$xdd" simulate --batch 7
head -c 64 /dev/urandom >"$tmp/secret"
chmod 600 "$tmp/secret"
site=(site --engine bloom --memory 1MiB --slicing vertical --slices 0-9/40 --secret-file "$tmp/secret")
check_command "a site without --nats" 2 '' 'add --nats URL' "$xdd" "${site[@]}"
chmod 644 "$tmp/secret"
check_command "a site whose secret all may read" 1 '' 'chmod 600' "$xdd" "${site[@]}" --nats nats://127.0.0.1:1
check_command "text" 0 'visits of slices' '' "$xdd" simulate sites "${bloom[@]}" --records 1k
finish
