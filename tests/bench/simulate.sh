#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# simulate against the plain loop over the same memory: rlbsbf, 512 MiB, k = 2, on streams with 15
# and 60 % distinct records. Nanoseconds of one thread's time per record, the least of 5 runs that
# were made in turns, from the first record on: without what it takes to clear the memory.
. "$(dirname "$0")/../tap.sh"

records=${RECORDS:-20000000}

for distinct in 0.15 0.6; do
	for _ in 1 2 3 4 5; do
		"$BUILD/tests/bench/simulate" "$records" "$distinct" >>"$tmp/$distinct" || exit 1
		"$xdd" simulate --engine rlbsbf --memory 512MiB --hashes 2 --records "$records" \
			--distinct "$distinct" --json >"$tmp/json" || exit 1
		python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print("%.2f simulate" % (r["cpu_seconds"] / r["records"] * 1e9))' "$tmp/json" >>"$tmp/$distinct" ||
			exit 1
	done
	sort -n "$tmp/$distinct" | awk -v distinct="$distinct" '
		!($2 in ns) { ns[$2] = $1 }
		END {
			printf "simulate, rlbsbf 512 MiB, k=2, %.0f %% distinct:\n", distinct * 100
			printf "  simulate  %6.1f ns  %5.1f M/s\n", ns["simulate"], 1e3 / ns["simulate"]
			printf "  plain     %6.1f ns  %5.1f M/s  simulate is %.2f times as fast\n",
				ns["plain"], 1e3 / ns["plain"], ns["plain"] / ns["simulate"]
			printf "  plain, no huge pages  %6.1f ns  %5.1f M/s  %.2f times\n",
				ns["plain-4k"], 1e3 / ns["plain-4k"], ns["plain-4k"] / ns["simulate"]
			printf "  filter alone: %.1f ns, plain %.1f ns: %.2f times\n",
				ns["filter"], ns["filter-plain"], ns["filter-plain"] / ns["filter"]
			printf "  two words read at random places of its memory: %.1f ns\n", ns["reads"]
		}'
done
