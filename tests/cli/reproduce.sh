#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# scripts/reproduce at a tiny scale: report, CSV files and plots are there and complete, what is
# kept is not run again, a value that is wrong is marked, and bad lines are refused.
# timeout: 1500
# shellcheck disable=SC2317 # check_command calls the function
. "$(dirname "$0")/../tap.sh"

printed=scripts/reproduce.d/bera-tables.csv
made=$tmp/out

reproduce() {
	scripts/reproduce --output "$made" --scale 200 "$@"
}

# column FILE NAME: its values, one a line
column() {
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])): print(row[sys.argv[2]])' "$1" "$2"
}

refuses() {
	check_command "reproduce $*" 2 '' "$1" reproduce "${@:2}"
}

check_command "the names of the parts of koloniari" 0 'sizes, faults, messages, equal, trees' '' scripts/reproduce --help
check_equal "165 cells are transcribed" 165 "$(column $printed engine | wc -l)"

# Table 1 has cells of many sizes. At this scale nothing is asked of their values.
check_command "table 1" 0 '' '45|15/15' scripts/reproduce --output "$made" --scale 200 --only 1 \
	--printed <(head -n 16 $printed)
check "a report" grep -q '^### Table 1: 1000M records' "$made/report.md"
check_equal "two rates of 15 cells" 30 "$(column "$made/table-1.csv" rate | wc -l)"
check_equal "the printed FPR are those of the data" "$(head -n 16 $printed | column /dev/stdin fpr_percent)" \
	"$(column "$made/table-1.csv" printed_percent | awk 'NR % 2')"
check_equal "the printed FNR too" "$(head -n 16 $printed | column /dev/stdin fnr_percent)" \
	"$(column "$made/table-1.csv" printed_percent | awk '!(NR % 2)')"
for name in seed options commit ours_percent difference_percent standard_error_percent verdict; do
	check_equal "$name in each row" 30 "$(column "$made/table-1.csv" $name | grep -c .)"
done
check_equal "the commit is the program's" "$("$xdd" --version | sed 's/.*(\(.*\))/\1/')" \
	"$(column "$made/table-1.csv" commit | sort -u)"
check_equal "nothing half-written" "" "$(find "$made" -name '*.part')"

check_command "again" 0 '' '15 of 15 runs are there already' reproduce --only 1 \
	--printed <(head -n 16 $printed)

# A printed value that is not what comes out: the third cell's FPR, 15.2961.
sed '4s/,15.2961,/,16.2961,/' $printed | head -n 16 >"$tmp/doctored.csv"
check_command "a wrong value is named" 1 '' 'table 1, 8 MiB, bsbf, k=3, FPR: printed 16.2961, ours 15\..*outside' \
	reproduce --only 1 --printed "$tmp/doctored.csv"
check "and marked in the report" grep -Eq '^\| 8 MiB \| bsbf \| 3 \| 16.2961 \| 15.* OUTSIDE\*\*' \
	"$made/report.md"
check_equal "and in the CSV" 1 "$(paste -d, <(column "$made/table-1.csv" printed_percent) \
	<(column "$made/table-1.csv" verdict) <(column "$made/table-1.csv" remark) |
	grep -c '^16.2961,OUTSIDE,unexplained$')"

check_command "two runs" 0 '' '5/5' reproduce --scale 1000 --runs 2 --only 1 \
	--printed <(sed -n '1p;2,6p' $printed)
check_equal "have a deviation" 10 "$(column "$made/table-1.csv" deviation_percent | grep -c '[1-9]')"

# The plots, and what the text says of them.
if command -v gnuplot >/dev/null; then
	check_command "figures" 0 '' '120/120' scripts/reproduce --output "$made" --scale 1000 \
		--only figures
	for n in 2 3 4 5 6 7 8 9 10 11; do
		check "figure $n is drawn" grep -q "<svg" "$made/figure-$n.svg"
	done
	check_equal "40 points of five engines" 200 "$(column "$made/figure-2.csv" load | grep -c '^0\.')"
	check_equal "loads have models" 200 "$(column "$made/figure-11a.csv" load_model | grep -c '^0\.')"
	check_equal "claims are judged" 23 "$(column "$made/claims.csv" holds | grep -Ec '^(yes|no)$')"
	check_command "slices" 0 '' '126/126' reproduce --only koloniari --streams 10
	check_command "a part of it alone" 0 "" "runs are there already" reproduce --only trees --streams 10
	check "figure 5 of koloniari is drawn" test -s "$made/koloniari-5.svg"
	check_equal "pipelining visits as many slices as it should" "within within within" \
		"$(column "$made/koloniari-7c.csv" verdict | xargs)"
	check "and as the model says" python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(any(abs(float(r["pipelined"]) / float(r["model"]) - 1) > .01 for r in rows))' "$made/koloniari-7c.csv"
	check_equal "streams are as varied as their law" 50 "$(paste \
		<(column "$made/koloniari-4a.csv" distinct) \
		<(column "$made/koloniari-4a.csv" distinct_model) |
		awk '$1 / $2 > 0.97 && $1 / $2 < 1.03' | wc -l)"
	check_equal "S_f is as it was worked out" 6 "$(column "$made/koloniari-1b.csv" verdict | grep -cx within)"
	check "failed slices cost what the equations say" python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(len(rows) != 12 or any(abs(float(r["fpr"]) / float(r["model"]) - 1) > .05 for r in rows))' \
		"$made/koloniari-1a.csv"
	check "the vote of 3 or 4 errs least of all events" python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(min(rows, key=lambda r: float(r["of_all"]))["vote"] not in "34")' "$made/koloniari-5d.csv"
	check "equal timers: two of 8 cost few copies and save most of what is lost" python3 -c 'import csv, sys
rows = {(r["slicing"], int(r["equal"])): r for r in csv.DictReader(open(sys.argv[1]))}
of = lambda name, slicing, x: float(rows[slicing, x][name])
sys.exit(not (len(rows) == 16 and of("fpr", "vertical", 2) < .4 * of("fpr", "vertical", 1) and
    of("fnr", "vertical", 1) == 0 and of("fnr", "vertical", 2) < .03 and
    all(of("fnr", s, x) < of("fnr", s, x + 1) for s in ("vertical", "horizontal") for x in range(2, 8))))' \
		"$made/koloniari-9.csv"
	check_equal "a stand-in is marked" stand-in "$(column "$made/koloniari-8-yahoo.csv" stand_in | sort -u)"
	check_equal "fairness is the closed form's within 5 %" 42 "$(paste \
		<(column "$made/koloniari-8-synthetic.csv" fairness) \
		<(column "$made/koloniari-8-synthetic.csv" fairness_model) |
		awk '$1 / $2 > 0.95 && $1 / $2 < 1.05' | wc -l)"
	check_equal "all claims about trees hold" "13 0" "$(sed -n '/^## Table 1 and figure 12/,/^## Fig/p' "$made/report.md" |
		awk -F'|' '/\| yes \|$/ { yes++ } /\*\*no\*\*/ { no++ } END { print yes, no + 0 }')"
	check "figure 12 of koloniari is drawn" test -s "$made/koloniari-12.svg"
	check_command "growth" 0 '' '24/24' reproduce --only growth
	check "figure 10 of koloniari is drawn" test -s "$made/koloniari-10-distinct-density.svg"
	check_equal "all claims about growth hold" "6 0" "$(sed -n '/^## Figures 10/,$p' "$made/report.md" |
		awk -F'|' '/\| yes \|$/ { yes++ } /\*\*no\*\*/ { no++ } END { print yes, no + 0 }')"
	check_command "joint detection" 0 '' '8/8' reproduce --only cai
	check_equal "cai: 8 rows of the print hold" "8 within" \
		"$(column "$made/cai-print.csv" verdict | sort | uniq -c | xargs)"
	check_equal "cai: figures 8 to 10" "30 25 36" "$(column "$made/cai-sizes.csv" figure | sort -n | uniq -c | awk '{ print $1 }' | xargs)"
	check_equal "cai: no common key is lost" "90 0.0" "$(column "$made/cai.csv" lost | sort | uniq -c | xargs)"
	for n in 4-6 7 8-10; do
		check "cai $n is drawn" grep -q "<svg" "$made/cai-$n.svg"
	done
	check_command "replicas" 0 '' 'the report is' reproduce --only zhu-jiang --streams 60
	check_equal "zhu-jiang: 44 rows of its tables hold" "44 within" \
		"$(column "$made/zhu-jiang-tables.csv" verdict | sort | uniq -c | xargs)"
	for n in 4 5 6 curve-equal curve-unequal; do
		check "zhu-jiang $n is drawn" grep -q "<svg" "$made/zhu-jiang-$n.svg"
	done
	check_equal "bytes against rates: rules and hosts" 8 "$(paste -d, \
		<(column "$made/zhu-jiang-curve.csv" hosts) <(column "$made/zhu-jiang-curve.csv" rule) |
		sort -u | wc -l)"
else
	skip "figures" "no gnuplot"
fi
# Where the print cannot be met: RSBF by Algorithm 1 does not forget, random places of 31 bits.
check_command "doubts" 0 '' '24/24' reproduce --scale 1000 --only doubts
check_equal "algorithm 1 has no FNR while s > N" 0 "$(paste \
	<(column "$made/rsbf-algorithm1.csv" reaches_deletion) \
	<(column "$made/rsbf-algorithm1.csv" algorithm1_fnr_percent) | sed -n 's/^no\t//p' | sort -u)"

# A run that is damaged is run again.
for run in "$made"/runs/*.json; do
	truncate -s 100 "$run"
done
check_command "damaged runs" 0 '' '15/15' reproduce --only 1 --printed <(head -n 16 $printed)

refuses 'invalid|none of' --only 10
refuses '0: not a number from 1 to 1000' --scale 0
refuses '10x: not a number' --scale 10x
refuses 'not a number' --runs -1
check_command "no program" 1 '' 'absent/xdp-dedup' env BUILD="$tmp/absent" scripts/reproduce \
	--output "$made" --only 1
check_command "no such values" 1 '' 'absent.csv' reproduce --printed "$tmp/absent.csv"
printf 'table\n1\n' >"$tmp/short.csv"
check_command "values without columns" 1 '' 'short.csv, line 2' reproduce --printed "$tmp/short.csv"
check_command "figures of half the cells" 1 '' 'need all of tables' reproduce --only figures \
	--printed <(head -n 16 $printed)
check_command "help" 0 'usage: reproduce' '' reproduce --help
finish
