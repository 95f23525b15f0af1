#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# simulate: the fields that scripts rely on, runs, stretches, windows, and lines that contradict.
. "$(dirname "$0")/../tap.sh"

# field NAME: of the JSON object in $tmp/stdout
field() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
		"$tmp/stdout" "$1"
}

refuses() {
	local pattern=$1
	shift
	check_command "simulate $*" 2 '' "$pattern" "$xdd" simulate "$@"
}

# judge NAME PYTHON: an expression over the object `r`
judge() {
	check "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$tmp/stdout" "$2"
}

for engine in bloom sbf rsbf bsbf bsbfsd rlbsbf; do
	check_command "$engine" 0 'algorithm' '' "$xdd" simulate --engine $engine --memory 64KiB \
		--records 300k --distinct 0.15 --seed 3 --json
	check_equal "$engine is named" $engine "$(field algorithm)"
	judge "$engine: counts and rates agree" 'r["records"] == 300000 and
0.14 < r["distinct"] / r["records"] < 0.16 and 0 < r["load"] < 1 and r["seconds"] > 0 and
abs(r["fpr"] - r["fp"] / r["distinct"]) < 1e-9 and
abs(r["fnr"] - r["fn"] / (r["records"] - r["distinct"])) < 1e-9'
	cp "$tmp/stdout" "$tmp/first"
	check_command "$engine again" 0 'algorithm' '' "$xdd" simulate --engine $engine --memory 64KiB \
		--records 300k --distinct 0.15 --seed 3 --json
	check_equal "$engine: the same seed gives the same errors" \
		"$(grep -E '"f[pn]"' "$tmp/first")" "$(grep -E '"f[pn]"' "$tmp/stdout")"
done
check_command "bloom" 0 'algorithm' '' "$xdd" simulate --engine bloom --memory 64KiB --records 300k --json
judge "bloom misses no copy" 'r["fn"] == 0 and r["fp"] > 0'
check_command "exact over a window of records" 0 'algorithm' '' "$xdd" simulate --engine exact \
	--records 200k --domain 20k --window-records 10k --json
judge "exact does not err" 'r["fp"] == 0 and r["fn"] == 0 and r["distinct"] > 20000'
check_command "tagged over a window of records" 0 'algorithm' '' "$xdd" simulate --engine tagged \
	--memory 1MiB --records 200k --domain 20k --window-records 10k --json
judge "tagged errs little, by its ticks" 'r["fpr"] < 0.02 and r["fnr"] < 0.1'
check_command "several runs" 0 'algorithm' '' "$xdd" simulate --memory 16KiB --records 100k --runs 3 --json
judge "runs have a mean and a deviation" 'len(r["runs"]) == 3 and
abs(r["fpr"] - sum(x["fpr"] for x in r["runs"]) / 3) < 1e-9 and r["fpr_sd"] > 0'
check_command "stretches" 0 'algorithm' '' "$xdd" simulate --memory 16KiB --records 100k --every 30k --json
judge "a row after each stretch" '[x["records"] for x in r["series"]] == [30000, 60000, 90000]'
check_command "zipf" 0 'algorithm' '' "$xdd" simulate --memory 1MiB --records 100k --domain 1M \
	--distribution zipf:1.2 --json
judge "zipf repeats what is frequent" 'r["distinct"] < 30000'

check_command "the stable filter's cells count" 0 'algorithm' '' "$xdd" simulate --engine sbf \
	--sbf-max 3 --memory 64KiB --records 300k --distinct 0.5 --json
judge "... to the target" '0.05 < r["fpr"] < 0.11'
check_command "bloom by its capacity" 0 'algorithm' '' "$xdd" simulate --engine bloom \
	--capacity 50k --fpr-target 0.02 --records 50k --domain 1G --json
judge "... stays below its rate, and misses nothing" 'r["fn"] == 0 and 0 < r["fpr"] < 0.02'

refuses 'window-records is for engines with a window' --engine bsbf --window-records 5
refuses 'give --window-records' --engine tagged
refuses 'domain and --distinct' --domain 5 --distinct 0.5
refuses 'zipf needs' --distribution zipf:1
refuses 'distribution zipf:' --distribution zipf:
refuses 'distribution zipf:nan' --distribution zipf:nan
refuses 'p-star belongs' --engine rsbf --p-star 0.1
refuses 'variant is for --engine rsbf' --engine bsbf --variant published
refuses 'sbf-p is for --engine sbf' --engine bsbf --sbf-p 3
refuses 'sbf-p 65' --engine sbf --sbf-p 65
refuses 'sbf-p 33.*32 cells' --engine sbf --sbf-max 3 --sbf-p 33
refuses 'sbf-max 256' --engine sbf --sbf-max 256
refuses 'sbf-max is for --engine sbf' --engine bsbf --sbf-max 3
refuses 'both set P' --engine sbf --sbf-p 3 --fpr-target 0.1
refuses 'fpr-target 0.0001.*198 cells' --engine sbf --fpr-target 0.0001
refuses 'fpr-target is for' --engine bsbf --fpr-target 0.1
refuses 'capacity is for' --engine rlbsbf --capacity 1M
refuses 'filters of at least 64 bytes' --engine rlbsbf --hashes 8 --memory 100
finish
