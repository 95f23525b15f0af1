#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Trees of filters: what simulate counts of them, and what is refused.
. "$(dirname "$0")/../tap.sh"

stream=(--domain 5000 --distribution zipf:1.0 --records 30000 --seed 4)
tree=(--engine bloom --placement tree --fan-out 3 --depth 3)

# refuses PATTERN COMMAND ARGUMENT...: with one line
refuses() {
	check_command "$2 ${*:3}" 2 '' "$1" "$xdd" "${@:2}"
	check_equal "$2 ${*:3}: one line" 1 "$(wc -l <"$tmp/stderr")"
}

refuses '--tree belongs to --placement tree' load --tree dense lo
refuses '--top-down belongs to --placement tree' load --top-down 1 lo
refuses '--fan-out belongs to --placement tree, or to simulate tree' simulate --fan-out 2
refuses '--fan-out belongs to --placement tree, or to simulate tree' simulate sites --fan-out 3
refuses '4 filters of at least 64 bytes in each of 4681 nodes need more --memory' \
	simulate tree --engine bloom --memory 1KiB --fan-out 8 --depth 5
check_command "usage names all simulations" 0 'acbf|joint|replicas|sites|tree' '' "$xdd" simulate --help
refuses 'it is for simulate' load --placement tree --fan-out 2 lo
refuses '--refresh: in a tree' load --placement tree --refresh lo
refuses '--grow, --equal and --fault-policy have no place' load --placement tree --engine timer --grow density lo
refuses '--grow, --equal and --fault-policy have no place' load --placement tree --engine timer --fault-policy distinct lo
refuses '--placement shared is about CPUs' simulate --placement shared
refuses 'is for --engine tagged, timer and bloom' simulate --placement tree --engine rlbsbf
refuses '--top-down is for --engine timer and bloom' simulate --placement tree --engine tagged \
	--top-down 1 --window-records 100
refuses '--top-down 5: the leaves of this tree are level 4' simulate --placement tree \
	--engine bloom --top-down 5
refuses 'more than 4294967295 filters' simulate --placement tree --engine bloom --fan-out 1000 --depth 12
refuses 'not 2 or 3 levels' load --placement tree --levels 4 lo
refuses 'not a kind of tree' load --placement tree --tree thick lo
refuses '--audit: simulate knows' simulate "${tree[@]}" --audit 1/2

# value FILE EXPRESSION
value() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# One filter of 2 KiB, and trees of 13 of them.
"$xdd" simulate --engine bloom "${stream[@]}" --memory 2KiB --json >"$tmp/one"
for kind in sparse dense; do
	"$xdd" simulate "${tree[@]}" --tree $kind "${stream[@]}" --memory 26KiB --locality 0.3 --json \
		>"$tmp/$kind"
	check_equal "$kind: errs as one filter" "$(value "$tmp/one" 'j["fp"], j["fn"]')" \
		"$(value "$tmp/$kind" 'j["fp"], j["fn"]')"
	check_equal "$kind: 1, 3 and 9 filters" "[1, 3, 9]" \
		"$(value "$tmp/$kind" '[l["nodes"] for l in j["tree"]["levels"]]')"
	check_equal "$kind: hits are the duplicates" \
		"$(value "$tmp/$kind" 'j["records"] - j["distinct"] + j["fp"]')" \
		"$(value "$tmp/$kind" 'sum(l["hits"] for l in j["tree"]["levels"])')"
	"$xdd" simulate "${tree[@]}" --tree $kind "${stream[@]}" --memory 26KiB --top-down 2 --json \
		>"$tmp/down"
	# what passes later than it should is a key whose first one was lost
	check "$kind: top-down errs less, and misses no copy of what passed" test \
		"$(value "$tmp/down" "j['fn'] <= j['fp'] < $(value "$tmp/one" 'j["fp"]')")" = True
done
# What the README says of its own commands: of the records, found at the leaves, and asked of the root.
readme=$(grep -o '^tree="--engine bloom.*' README.md | cut -d'"' -f2)
of_root="[round(100 * n / j['records']) for n in (j['levels'][2]['hits'], j['records'] - \
	sum(l['hits'] for l in j['levels'][1:]), j['levels'][0]['accesses'])]"
while read -r kind leaves root visits; do
	# shellcheck disable=SC2086 # several words
	"$xdd" simulate tree $readme --locality 0.5 --tree $kind --json >"$tmp/readme"
	check_equal "README's $kind tree: percent at the leaves, of the root, its visits" \
		"[$leaves, $root, $visits]" "$(value "$tmp/readme" "$of_root")"
	check "... as the README says" grep -q "$leaves % .*asks.* about $root %" <(tr "\n" " " <README.md)
done <<<"dense 68 25 25
sparse 50 40 56"
check "dense finds more at the leaves" test "$(value "$tmp/dense" 'j["tree"]["levels"][2]["hits"]')" -gt \
	"$(value "$tmp/sparse" 'j["tree"]["levels"][2]["hits"]')"

# Producers from a trace.
printf 'producer,event\na,1\nb,1\na,1\na,2\n' >"$tmp/trace"
check_command "a trace with producers" 0 '"hits": 1' '' "$xdd" simulate "${tree[@]}" \
	--trace "$tmp/trace" --json
printf 'event,time\n1,1\n' >"$tmp/trace"
check_command "a trace without" 1 '' 'no column producer' "$xdd" simulate "${tree[@]}" --trace "$tmp/trace"
printf '1\n' >"$tmp/trace"
check_command "a trace without columns" 1 '' 'no column producer' "$xdd" simulate "${tree[@]}" \
	--trace "$tmp/trace"
refuses 'leave out --locality' simulate "${tree[@]}" --trace "$tmp/trace" --locality 0.5
finish
