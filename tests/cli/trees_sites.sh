#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# simulate tree: verdicts of one filter, visits of simulate --placement tree and of the closed forms, errors with
# top-down testing, and what the messages between nodes take.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

stream=(--domain 5000 --distribution zipf:1.0 --records 30k --seed 4 --locality 0.3)
bloom=(--engine bloom --memory 26KiB --fan-out 3 --depth 3)
timer=(--engine timer --window-records 2000 --memory 520KiB --fan-out 3 --depth 3)

# ran NAME OPTION...: what simulate says of it to $tmp/NAME
ran() {
	"$xdd" simulate "${@:2}" "${stream[@]}" --json >"$tmp/$1" || fail "simulate ${*:2}"
}

# holds NAME FILE EXPRESSION: r is what the file has, L its levels, by() a field of each; other() is that of another file
holds() {
	check "$1" python3 -c 'import json, os, sys
load = lambda name: json.load(open(os.path.join(os.path.dirname(sys.argv[1]), name)))
r = json.load(open(sys.argv[1]))
L = r.get("levels") or r["tree"]["levels"]
by = lambda name: [level[name] for level in L]
other = load
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$tmp/$2" "$3"
}

for kind in sparse dense; do
	for batch in 1 64; do
		ran bloom tree "${bloom[@]}" --tree $kind --batch $batch
		holds "$kind, bloom, $batch at once: as one filter" bloom \
			"r['differences'] == 0 and r['fpr'] > .02 and r['fnr'] == 0"
		ran timer tree "${timer[@]}" --tree $kind --batch $batch
		holds "$kind, timers, $batch at once: as one filter" timer \
			"r['differences'] == 0 and sum(by('hits')) > 10000"
	done
	for engine in bloom timer; do
		declare -n options=$engine
		ran cpus --placement tree "${options[@]}" --tree $kind
		ran sites tree "${options[@]}" --tree $kind --batch 1
		for field in nodes hits accesses refuted; do
			holds "$kind, $engine: $field of each level as between CPUs" sites \
				"by('$field') == [level['$field'] for level in other('cpus')['tree']['levels']]"
		done
		holds "$kind, $engine: a leaf asks twice for each of its misses" sites \
			"L[2]['messages'] == 2 * (30000 - L[2]['hits']) and L[1]['messages'] == 2 * (30000 - L[2]['hits'] - L[1]['hits'])"
	done
	ran top0 tree "${bloom[@]}" --tree $kind --batch 1
	for down in 1 2; do
		ran top$down tree "${bloom[@]}" --tree $kind --batch 1 --top-down $down
		holds "$kind: --top-down $down errs less, and misses no copy of what passed" top$down \
			"r['fpr'] < other('top$((down - 1))')['fpr'] and r['fnr'] * (1 - r['distinct']) <= r['fpr'] * r['distinct']"
	done
	ran many tree "${bloom[@]}" --tree $kind --batch 64
	holds "$kind: many at once take fewer bytes" many "r['bytes_per_lookup'] < other('top0')['bytes_per_lookup'] / 4"
done
ran dense tree "${bloom[@]}" --tree dense --batch 1
ran sparse tree "${bloom[@]}" --tree sparse --batch 1
holds "dense: the root is visited for each miss of the levels below" dense \
	"L[0]['accesses'] == 30000 - L[1]['hits'] - L[2]['hits']"
holds "sparse: and once more for each distinct key" sparse \
	"L[0]['accesses'] == 30000 - L[1]['hits'] - L[2]['hits'] + L[0]['distinct']"
holds "dense takes fewer bytes than sparse" dense "r['bytes_per_lookup'] < other('sparse')['bytes_per_lookup'] / 2"

# A question is 32 bytes before and 8 behind the payload: 1, the tick's 6, 2 of its own, and 4 places of up to 2^14 (2 KiB).
holds "messages are as long as their format says" dense \
	"49 + 4 < L[2]['bytes'] / L[2]['messages'] * 2 - 41 <= 49 + 8"

# A root whose slices are on sites of their own.
sliced=(--hosts 4 --slicing vertical --slices 16)
ran sites tree "${bloom[@]}" --tree dense --batch 64 "${sliced[@]}"
ran whole tree "${bloom[@]}" --tree dense --batch 64 --slicing vertical --slices 16
holds "a sliced root: as one filter" sites "r['differences'] == 0 and r['fpr'] > .02"
holds "a sliced root: hits and accesses as of a whole one" sites \
	"all(by(f) == [level[f] for level in other('whole')['levels']] for f in ('hits', 'accesses'))"
holds "a sliced root: it asks its sites" sites "L[0]['messages'] > 100 and L[0]['bytes'] > 10 * L[0]['messages']"
holds "a whole root asks nobody" whole "L[0]['messages'] == 0"
ran timer tree "${timer[@]}" --tree sparse --batch 64 "${sliced[@]}"
holds "a sliced root of timers: as one filter" timer "r['differences'] == 0 and L[0]['hits'] > 1000"

printf 'producer,event\na,1\nb,1\na,1\na,2\n' >"$tmp/trace"
check_command "a trace with producers" 0 '"differences": 0' '' "$xdd" simulate tree --engine bloom \
	--trace "$tmp/trace" --json
check_command "text" 0 'level +nodes +hits' '' "$xdd" simulate tree "${bloom[@]}" --records 1k --domain 500

# refuses PATTERN OPTION...
refuses() {
	check_command "${*:2}" 2 '' "$1" "$xdd" simulate tree "${@:2}"
}
refuses 'give --engine bloom, or --engine timer' --tree dense
refuses 'give --engine bloom, or --engine timer' --engine tagged --window-records 5
refuses 'at most 256 children' --engine bloom --fan-out 257 --depth 2
refuses 'at most 1048576 nodes' --engine bloom --fan-out 16 --depth 6 --memory 1GiB
refuses 'leaves of this tree are level 2' --engine bloom --depth 3 --top-down 3
refuses 'not say how long what they have will live' "${timer[@]}" "${sliced[@]}"
refuses 'as --top-down needs of timers' "${timer[@]}" --tree sparse --top-down 1 "${sliced[@]}"
refuses 'each site has at least one slice' "${bloom[@]}" --hosts 17 --slicing vertical --slices 16
refuses 'add --hosts N' "${bloom[@]}" --protocol pipeline
refuses '--primitive is not for it' --engine bloom --primitive first-test
check_command "--batch of a plain stream" 2 '' 'for another simulation' "$xdd" simulate --batch 7
finish
