#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1200
#
# The audit's intervals against the truth of live traffic, packet by packet: first copies come on one
# interface and the others on another, so what is called a copy there is lost, and what is called distinct here
# is missed. XDD_TRUTH_KEYS (100000) keys, one in XDD_TRUTH_SHARE (32) in the sample, 20 runs of each engine.
# With a million keys, one in 256: XDD_TRUTH_KEYS=1000000 XDD_TRUTH_SHARE=256, some ten minutes.
. "$(dirname "$0")/lib.sh"

keys=$((${XDD_TRUTH_KEYS:-100000} / 32 * 32))
share=1/${XDD_TRUTH_SHARE:-32}
pair "x$out" "x$in"

# engine NAME: its options, for a filter that is too small
engine() {
	case $1 in
	tagged) echo "--engine tagged --window 1h --memory $((keys * 3))" ;;
	timer) echo "--engine timer --window 1h --memory $((keys * 8))" ;;
	rlbsbf) echo "--engine rlbsbf --memory $((keys / 2))" ;;
	esac
}

# shellcheck disable=SC2317 # wait_until calls it
received() { [ "$(counters "$in" | cut -d' ' -f1)" = "$1" ]; }

# run ENGINE SEED: status to $tmp/status; fails where a packet is lost on the way
run() {
	local sent
	# shellcheck disable=SC2046 # several options
	load "$in" "x$in" $(engine "$1") --placement shared --top-suppressed off --audit "$share" \
		--seed "$2" || return
	sent=$(in_tx taskset -c 0 "$BUILD/tests/tools/twice" "$out" "x$out" $keys $((keys / 2)) "$2")
	wait_until received $((${sent/ /+})) || return
	"$xdd" status "$in" --json >"$tmp/status"
	"$xdd" unload "$in"
}

cat >"$tmp/judge.py" <<'END'
import json, sys
status = json.load(open(sys.argv[1]))[0]
first, second = status["counters"]["interfaces"]
audit, held = status["audit"], []
packets = lambda slot, verdict: slot[verdict]["packets"]
for rate, wrong, of, verdict in (("fpr", "fp", first, "duplicate"), ("fnr", "fn", second, "distinct")):
    true = packets(of, verdict) / (packets(of, "distinct") + packets(of, "duplicate"))
    low, high = audit[f"{rate}_low"], audit[f"{rate}_high"]
    print(rate, int(low <= true <= high), f"{packets(of, verdict)} true, {true:.4g}; {audit[wrong]} of",
          f"the sample, {low:.4g} to {high:.4g}")
END

for name in tagged timer rlbsbf; do
	: >"$tmp/held"
	for seed in {1..20}; do
		run $name "$seed" || { fail "$name, run $seed: every packet arrives"; finish; }
		python3 "$tmp/judge.py" "$tmp/status" | sed "s/$/, run $seed/" >>"$tmp/held"
	done
	for rate in fpr fnr; do
		held=$(grep -c "^$rate 1" "$tmp/held")
		echo "# $name: the interval of $rate held the true one in $held of 20 runs"
		sed -n "s/^$rate 0/#   not/p" "$tmp/held"
		sed -n "s/^$rate 1/#   first/p;T;q" "$tmp/held"
		check "$name: $rate in at least 16 of 20 runs" test "$held" -ge 16
	done
done
check_equal "rlbsbf: in every run copies are missed" 20 "$(grep -Ec '^fnr . [1-9]' "$tmp/held")"
finish
