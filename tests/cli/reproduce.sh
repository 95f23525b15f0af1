#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# scripts/reproduce at a tiny scale: report, CSV files and plots are there and complete, what is
# kept is not run again, a value that is wrong is marked, and bad lines are refused.
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
check_command "help" 0 'usage: reproduce' '' reproduce --help
finish
