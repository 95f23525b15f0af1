#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# plan: the fields that scripts rely on, values of koloniari-2011, what is planned against what simulate
# measures, captures, and lines that make no sense.
. "$(dirname "$0")/../tap.sh"

# plan OPTION...: its JSON in $tmp/plan; judge NAME PYTHON: an expression over it as `r`
plan() {
	"$xdd" plan --json "$@" >"$tmp/plan" 2>"$tmp/stderr"
}

judge() {
	check "$1" python3 -c 'import json, math, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))' "${3:-$tmp/plan}" "$2"
}

refuses() {
	local pattern=$1
	shift
	check_command "plan $*" 2 '' "$pattern" "$xdd" plan "$@"
	check_equal "plan $*: one line" 1 "$(wc -l <"$tmp/stderr")"
}

# used OPTION: what comes behind it in the options that are proposed
used() {
	python3 -c 'import json, sys
words = json.load(open(sys.argv[1]))["use"].split()
print(words[words.index(sys.argv[2]) + 1])' "$tmp/plan" "$1"
}

# --- what it prints ---
plan --rate 1M --window 20ms
judge "keys of a plan" 'all(k in r for k in ("engine", "hashes", "cells", "slices", "memory_bytes", "fpr",
"fnr", "formula", "binds", "keys", "met", "explanation", "use", "version", "options", "bandwidth"))'
judge "a rate and a window" 'r["keys"] == 20000 and r["engine"] == "tagged" and r["met"] and
r["binds"] == "fnr" and 0.009 < r["fnr"] <= 0.01 and r["fpr"] < 1e-6 and r["ticks"] == 16 and
r["cells"] == r["memory_bytes"] / 64 * 15 == r["slices"] * 15 and "faults" not in r'
check_command "in words" 0 '^- memory is set by the FNR target' '' "$xdd" plan --rate 1M --window 20ms
check_command "a rate in bits" 0 '10 Gbit/s of packets, 2.5e\+06 packets/s' '' "$xdd" plan \
	--rate 10Gbit/s --packets-size 500
plan --rate 10Gbit --packets-size 500 --window 100ms --ticks 100
judge "bits and bytes" 'r["packets_per_s"] == 2.5e6 and r["keys"] == 250000 and
r["bandwidth"]["packets_bits_per_s"] == 1e10 and r["ticks"] == 100 and r["tick_fnr"] == 0.005'
plan --rate 1M --fnr-target 0.02
judge "ticks by the FNR" 'r["ticks"] == 25 and r["fnr"] <= 0.02'
plan --capacity 1M --fpr-target 0.0000001 --engine tagged
judge "an FPR below that of full lines" 'r["met"] and r["binds"] == "fpr" and 0.9e-7 < r["fpr"] <= 1e-7'
plan --capacity 1M --fpr-target 1e-20
judge "... which exact takes less memory for" 'r["engine"] == "exact" and r["met"]'
plan --capacity 1M --fpr-target 0.1
judge "a bearable FPR" 'r["engine"] == "timer" and r["met"] and r["binds"] == "fpr"'
check_command "help" 0 'Formulas' '' "$xdd" help plan
check_equal "no line of help is wider than 100" '' \
	"$({ "$xdd" help plan && "$xdd" plan --help; } | grep -E '.{101}')"

# --- koloniari-2011 ---
# For P = .02, .05, .08 and k = 4; slices for f = 4 and .15, lost cells taken as set: horizontal, vertical.
for row in '0.02 8.480 31 11' '0.05 6.247 38 15' '0.08 5.271 53 21'; do
	read -r fpr bits horizontal vertical <<<"$row"
	for slicing in horizontal vertical; do
		fp=$horizontal fn=27
		[ $slicing = horizontal ] || fp=$vertical fn=101
		plan --engine bloom --capacity 5M --hashes 4 --fpr-target "$fpr" --slicing $slicing \
			--faults 4 --fault-fpr 0.15 --fnr-target 0.15
		judge "$slicing $fpr: size" "abs(r['cells'] / 5e6 / $bits - 1) < .002 and r['binds'] == 'fpr'"
		judge "$slicing $fpr: S_f" "r['faults']['slices_fp'] == $fp and
r['faults']['slices_fn'] == r['slices'] == $fn"
		judge "$slicing $fpr: rates" 'r["met"] and r["faults"]["fnr"] <= 0.15 and
r["faults"]["fpr"] < r["fpr"] and r["faults"]["vote"] == 4'
	done
done
# x of k = 8, a fifth of 40 slices failed: 6 in a full filter, more where a false positive costs more, fewer where it costs less.
for row in '1 6 0.2031' '1000 8 0.8322' '0.001 1 0.0000'; do
	read -r cost vote fnr <<<"$row"
	plan --engine timer --capacity 1M --hashes 8 --fpr-target 0.02 --slicing vertical --slices 40 \
		--faults 8 --cost-ratio "$cost"
	judge "a vote where the ratio is $cost" "r['faults']['vote'] == $vote and
abs(r['faults']['fnr'] - $fnr) < .0001"
done
check_command "too few slices" 1 '^- 4 slices more would be needed to bear 4 faults' \
	'4 of 23 slices failed.*more --slices' "$xdd" plan --engine timer --rate 1M --faults 4 --slices 23 \
	--fnr-target 0.15
plan --rate 1M --faults 4 --engine timer --cost-ratio 10 --memory 1MiB
judge "a vote in so much memory" 'r["memory_bytes"] <= 1 << 20 and r["slicing"] == "vertical" and r["met"] and
1 <= r["faults"]["vote"] < r["hashes"] and r["faults"]["fnr"] <= 0.01 and r["binds"] == "memory"'
judge "the vote is proposed" '("--fault-policy vote:%d" % r["faults"]["vote"]) in r["use"]'
plan --rate 1M --engine timer --slicing hv --slices 90 --subslices 40 --faults 4
check_equal "slices that may fail need a policy" distinct "$(used --fault-policy)"
judge "diced" 'r["met"] and r["subslices"] == 40 and r["faults"]["slices_fn"] * 40 <= 512'
check_command "more faults than states bear" 1 '^- a filter has states for 512 slices' \
	'at most 5 can have failed at an FNR of 0.01, not 6' "$xdd" plan --rate 1M --faults 6
plan --rate 1M --faults 5
judge "as many as they do" 'r["met"] and r["faults"]["fnr"] <= 0.01'
plan --engine timer --capacity 1M --slicing 2x2 --slices 64
judge "two of 64 slices" 'r["hashes"] == 4 and abs(r["bandwidth"]["messages_per_lookup"] - (2 - 1 / 64)) < 1e-9'
plan --capacity 100 --engine timer --slices 5000
judge "slices of a line each" 'r["binds"] == "slices" and r["memory_bytes"] == 5000 * 64'

# --- all engines ---
plan --rate 1M --compare
judge "all engines in the same memory" 'len(r["compare"]) == 9 and
all(0.99 * r["memory_bytes"] < x["memory_bytes"] <= r["memory_bytes"] for x in r["compare"])'
judge "what was planned is one of them" 'any(x["engine"] == r["engine"] and x["fnr"] == r["fnr"]
for x in r["compare"])'
plan --rate 1M --faults 4 --compare
judge "... with faults, too" 'len(r["compare"]) == 9 and
all(0.99 * r["memory_bytes"] < x["memory_bytes"] <= r["memory_bytes"] for x in r["compare"])'
check_command "a row for each" 0 '^rlbsbf +[1-8] ' '' "$xdd" plan --rate 1M --compare
check_command "no memory is enough" 1 '' 'bsbfsd comes to FPR 1 .*even in 512 MiB' "$xdd" plan \
	--rate 1M --engine bsbfsd
check_command "memory that is not" 1 '^FPR' 'FPR .*more --memory' "$xdd" plan --rate 1M --engine timer \
	--memory 64KiB
check_command "memory that has no room for slices" 1 '^slices' '5000 slices .* take 312.5 KiB' "$xdd" plan \
	--capacity 100 --engine timer --slices 5000 --memory 1KiB

# --- the rule of equal timers, and filters that grow ---
plan --capacity 1M --equal 2 --slicing vertical --slices 40
judge "equal timers" 'r["engine"] == "timer" and r["equal"] == 2 and r["met"] and r["fpr"] <= 0.001 < r["fpr"] * 1.1
and 0 < r["fnr"] <= 0.01'
check_equal "the rule is proposed" 2 "$(used --equal)"
plan --capacity 1M --equal 1
judge "of one timer there is no rule" 'r["engine"] == "tagged" and "equal" not in r'
plan --rate 1M --grow density --burst 5x --compare
judge "a filter that grows" 'r["engine"] == "timer" and r["met"] and r["binds"] == "growth" and
r["growth"]["filters"] <= r["growth"]["max_filters"] and r["fpr"] <= 0.001 and
abs(1 - (1 - r["growth"]["filter_fpr"]) ** r["growth"]["filters"] - r["fpr"]) < 1e-12'
check_equal "... is proposed as such" density "$(used --grow)"
check_command "... in words" 0 'a burst of 2 times the usual rate needs 3 at the most' '' "$xdd" plan --rate 1M \
	--grow cardinality
check_command "... with too few filters" 1 'there are 6 filters' 'not room for 20000 keys, and 100000 in a burst' \
	"$xdd" plan --rate 1M --grow density --burst 5x --max-filters 6 --memory 1MiB

# --- against what is measured ---
# simulate OPTION...: as planned, to $tmp/measured
simulate() {
	"$xdd" simulate --json --seed 7 --memory "$(used --memory)" "$@" >"$tmp/measured"
}
# New keys all the time, 2000 of which are to be taken for copies: a deviation of 2.2 %.
for slices in '' '--slices 200' '--slicing vertical --slices 200'; do
	# shellcheck disable=SC2086 # words
	plan --engine timer --capacity 40k --fpr-target 0.002 $slices
	# shellcheck disable=SC2086
	simulate --engine timer --hashes "$(used --hashes)" --domain 4M --window-records 40k --records 1M \
		--ticks 100 $slices
	judge "timer $slices: FPR as planned, or below" '0.0014 < r["fpr"] < 0.0021' "$tmp/measured"
done
# As above; what is taken for a copy is not set.
plan --engine timer --capacity 40k --fpr-target 0.02 --equal 2 --slicing vertical --slices 40
simulate --engine timer --hashes "$(used --hashes)" --domain 4M --window-records 40k --records 1M --ticks 16 \
	--slicing vertical --slices 40 --equal 2
judge "equal timers: FPR as planned, or below" '0.014 < r["fpr"] < 0.0205' "$tmp/measured"
# Half of 80000 identifiers are live in a window of as many records, each with a copy.
plan --engine tagged --capacity 40k --fnr-target 0.02
simulate --engine tagged --domain 80k --window-records 80k --records 2M --ticks 100
judge "tagged: FNR as planned" '0.016 < r["fnr"] < 0.024' "$tmp/measured"
plan --engine bloom --capacity 40k --fpr-target 0.01
simulate --engine bloom --hashes "$(used --hashes)" --domain 1G --records 40k
judge "bloom: FPR below the plan's on the way there" '0.001 < r["fpr"] < 0.01' "$tmp/measured"
plan --engine bsbf --capacity 1k
simulate --engine bsbf --hashes "$(used --hashes)" --domain 1G --records 3M
judge "bsbf: FPR as planned" "abs(r['fpr'] / $(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["fpr"])' "$tmp/plan") - 1) < .1" "$tmp/measured"

# --- captures ---
"$BUILD/tests/tools/gencap" --frames 2000 --ttl -o "$tmp/in.pcap" 2>/dev/null
"$xdd" pcap "$tmp/in.pcap" --window 1h --json >"$tmp/pcap"
plan --from "$tmp/in.pcap" --window 1h
judge "a capture" 'r["keys"] == '"$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["distinct"], "and abs(r[\"copies_per_key\"] * r[\"keys\"] -", r["duplicates"], ") < 1e-6")' "$tmp/pcap")"
plan --from "$tmp/in.pcap" --window 1ms
judge "in a shorter window fewer are live" '0 < r["keys"] < 2000 and r["packets_per_s"] > 0 and
60 <= r["packet_bytes"] < 1600'
# shellcheck disable=SC2016 # the inner shell expands it
check_command "from a pipe" 0 'keys are live at the most' '' \
	bash -c '"$0" plan --from - <"$1"' "$xdd" "$tmp/in.pcap"
head -c 5000 "$tmp/in.pcap" >"$tmp/cut.pcap"
check_command "a damaged capture" 1 '' 'cut.pcap' "$xdd" plan --from "$tmp/cut.pcap"
head -c 24 "$tmp/in.pcap" >"$tmp/empty.pcap"
check_command "an empty capture" 1 '' 'no packet in it' "$xdd" plan --from "$tmp/empty.pcap"
check_command "a capture that is not there" 1 '' 'absent.pcap' "$xdd" plan --from "$tmp/absent.pcap"

# --- what makes no sense ---
refuses 'how many keys are live'
refuses 'how many keys are live' --memory 1MiB
refuses 'both set the number of live keys' --rate 1M --capacity 5
refuses 'from measures what comes in' --from "$tmp/in.pcap" --rate 5
refuses 'rate in bits also needs' --rate 1Gbit
refuses 'packets-size belongs to --rate' --capacity 5 --packets-size 5
refuses 'rate 5Gbits' --rate 5Gbits
refuses 'rate bit' --rate bit
refuses 'rate 0' --rate 0
refuses 'packets-size 65536' --rate 5 --packets-size 65536
refuses 'fpr-target 1:' --capacity 5 --fpr-target 1
refuses 'fnr-target 0' --capacity 5 --fnr-target 0
refuses 'fault-fpr belongs to --faults' --capacity 5 --fault-fpr 0.1
refuses 'fault-fpr is the rate while' --capacity 5 --faults 1 --fpr-target 0.1 --fault-fpr 0.1
refuses 'fewer than all slices' --capacity 5 --engine timer --slices 4 --faults 4
refuses 'is one slice' --capacity 5 --engine timer --slicing none --faults 1
refuses 'faults are of slices' --capacity 5 --engine rlbsbf --faults 1
refuses 'cost-ratio -1' --capacity 5 --cost-ratio -1
refuses 'cost-ratio inf' --capacity 5 --cost-ratio inf
refuses 'cost-ratio 1e300' --capacity 5 --cost-ratio 1e300
refuses 'cost-ratio 0x1' --capacity 5 --cost-ratio 0x1
refuses 'memory 1000TiB: .* less than 256GiB' --rate 1M --memory 1000TiB
refuses 'memory 256GiB: .* less than 256GiB' --rate 1M --memory 256GiB
refuses 'faults 600: .*at most 511' --rate 1M --faults 600
refuses 'faults 512: .*at most 511' --rate 1M --faults 512
refuses 'takes 2 slices for each key' --rate 1M --engine timer --slicing 2x2 --slices 1
refuses 'equal 3: a key has 2 timers' --rate 1M --engine timer --hashes 2 --equal 3
refuses 'equal is for --engine timer' --rate 1M --engine tagged --equal 2
refuses 'equal is planned with' --rate 1M --engine timer --slicing 2x2 --slices 4 --equal 2
refuses 'grow density is for --engine timer' --rate 1M --engine tagged --grow density
refuses 'grow is planned with' --rate 1M --grow density --slices 4
refuses 'grow and --equal do not go together' --rate 1M --engine timer --grow density --equal 2
refuses 'which --grow and --equal do not go with' --rate 1M --faults 2 --equal 2
refuses 'add --grow density' --rate 1M --burst 2x
refuses 'max-filters bounds a filter that grows' --rate 1M --max-filters 2
refuses 'hashes is for' --capacity 5 --engine tagged --hashes 4
refuses 'slicing and --slices are for' --capacity 5 --engine exact --slices 4
refuses 'cuts twice' --capacity 5 --engine timer --slicing hv --slices 4
refuses 'needs a window that you chose' --capacity 5 --key flow
refuses 'there is plan cluster' --capacity 5 eth0
check_command "keys without end" 1 '' 'another --engine, or other targets' "$xdd" plan \
	--capacity 18000000000G
check_command "a rate without end" 1 '' 'another --engine, or other targets' "$xdd" plan \
	--rate 18000000000G --window 366h

# --- several hosts ---
cluster() { plan cluster "$@"; }
cluster --hosts 3 --rate 10Gbit --packets-size 500
judge "cluster: of 2.5M packets a second each host has a third, for two seconds" \
	'abs(r["host"]["keys"] - 2.5e6 / 3 * 2) < 1 and r["groups"] == 1 and r["group_hosts"] == 3'
judge "cluster: 20 bits for each key, as 8 replicas of 10 would err in more than 5 %, and room for 8 peers" \
	'r["host"]["replica_bits"] == 1 << 25 and r["host"]["replicas_bytes"] == 1 << 25 and
	1 - (1 - (1 - math.exp(-7 * 1.67e6 / 2**24))**7)**8 > .05'
judge "cluster: it speaks when so many of its keys are not known as the target says, at a 16th of a window" \
	'r["host"]["push_by_false_rate"] and r["host"]["push_s"] == 0.25 and .1 < r["host"]["missed_most"] < .16'
judge "cluster: what is sent is what changed: no less than its entropy, not twice as much" \
	'(lambda d, n: 1 <= r["host"]["delta_bytes"] * 8 / (n * (-d * math.log2(d) - (1 - d) * math.log2(1 - d))) < 2)(
		2 * math.exp(-8 * r["host"]["keys"] / 2**25) * -math.expm1(-8 * r["host"]["keys"] / 8 / 2**25), 2**25)'
judge "cluster: and what each sends, the others get" \
	'abs(r["host"]["in_bytes_per_s"] - 2 * r["host"]["out_bytes_per_s"]) < 1 and
	abs(r["server"]["bytes_out_per_s"] - 3 * r["host"]["in_bytes_per_s"]) < 1 and r["fits"]'
cluster --hosts 3 --rate 10Gbit --packets-size 500 --false-rate-target 0.9
judge "cluster: with any error it speaks after a quarter of the window" \
	'not r["host"]["push_by_false_rate"] and r["host"]["push_s"] == 0.5'
cluster --hosts 10000 --rate 1Tbit --packets-size 500 --fan-out 10
judge "cluster: 10,000 hosts and 1 Tb/s: groups of 65, and a tree of five levels" \
	'r["groups"] == 154 and r["group_hosts"] == 65 and r["tree"]["levels"] == 5 and
	r["tree"]["root_lookups_per_s"] == 250e6 and not r["fits"] and r["server"]["servers"] > 154'
check_command "cluster: what is too much is said" 1 '"fits": false' 'times the load of the one that was measured' \
	"$xdd" plan cluster --hosts 10000 --rate 1000Gbit --packets-size 500 --json
"$xdd" plan cluster --hosts 10000 --rate 1000Gbit --packets-size 500 >"$tmp/text" 2>/dev/null
check "cluster: 64 replicas of the default size err in less than 5 % together" grep -q 'together FPR 0.00653' "$tmp/text"
"$xdd" plan cluster --hosts 8 --rate 10Gbit --packets-size 500 >"$tmp/text" 2>/dev/null
check "cluster: and what makes it less than 1 % is said" grep -q 'are taken for copies, by so many replicas: --replica-bits 16777216 makes' "$tmp/text"
fits() { "$xdd" plan cluster --packets-size 500 "$@"; }
advised() { sed -n "s/.*what fits is.*--$1 \([^ ;]*\).*/\1/p" "$tmp/advice"; }
while read -r hosts rate window; do
	fits --hosts "$hosts" --rate "$rate" --window "$window" >"$tmp/text" 2>"$tmp/advice"
	check "cluster: $hosts hosts, $rate and $window do not fit, and --rate $(advised rate) does" \
		fits --hosts "$hosts" --rate "$(advised rate)" --window "$window"
	[ -z "$(advised window)" ] || check "cluster: and so does --window $(advised window)" \
		fits --hosts "$hosts" --rate "$rate" --window "$(advised window)"
done <<-END
	8 40Gbit 2s
	8 1Tbit 2s
	8 1Gbit 5h
END
fits --hosts 8 --rate 40Gbit >"$tmp/text" 2>"$tmp/advice"
check "cluster: groups of their own are advised where they fit" grep -q '4 groups of 2 hosts' "$tmp/advice"
check "cluster: as they do" fits --hosts 2 --rate 10Gbit
check "cluster: no other window is advised where none helps" test -z "$(advised window)"
check_command "cluster: replicas that would be full are refused" 1 '' 'say nothing: .* 59G keys .* at most 3 s' \
	"$xdd" plan cluster --hosts 2 --rate 1000Gbit --packets-size 64 --window 1min
check_command "cluster: and the window that is named works" 1 'FPR 0\.' 'of a CPU' \
	"$xdd" plan cluster --hosts 2 --rate 1000Gbit --packets-size 64 --window 3s
for window in 2s 10h; do
	check_command "cluster: no load is too great to be refused in a moment, in $window" 1 '' 'no --window is short enough' \
		timeout 10 "$xdd" plan cluster --hosts 4 --rate 1000000G --window "$window"
done
check_command "cluster: a window that is over before a host speaks is refused" 1 '' 'above 10 ms' \
	"$xdd" plan cluster --hosts 4 --rate 1M --window 1ns
check_command "cluster: and the next one is not" 0 "each 10 ms" "" "$xdd" plan cluster --hosts 4 --rate 1M --window 11ms
refuses 'give --hosts N' cluster --rate 1M
refuses 'give --rate N' cluster --hosts 2
refuses 'also needs --packets-size' cluster --hosts 2 --rate 1Gbit
refuses '--engine is about a filter' cluster --hosts 2 --rate 1M --engine timer
refuses 'fan-out 1 is no tree: from 2' cluster --hosts 2 --rate 1M --fan-out 1
refuses 'with plan cluster from 2' cluster --hosts 2 --rate 1M --fan-out 0
refuses 'are for plan cluster' --hosts 3 --rate 1M
refuses 'there is plan cluster' clutser --hosts 3 --rate 1M
finish
