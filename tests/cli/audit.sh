#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --audit on files: its intervals hold the true rates, which simulate knows, in at least 16 of 20
# streams; it sees the same in pcap, stream and simulate; what contradicts it is refused.
. "$(dirname "$0")/../tap.sh"

# holds NAME OPTION...: 20 streams of other seeds, fixed ones
holds() {
	local name=$1
	shift
	"$xdd" simulate --runs 20 --records 500k --audit 1/32 --json "$@" >"$tmp/runs"
	check "$name: $*" python3 - "$tmp/runs" <<'END'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
held = {"fpr": 0, "fnr": 0}
for run in runs:
    audit = run["audit"]
    for rate in held:
        held[rate] += audit[rate + "_low"] <= run[rate] <= audit[rate + "_high"]
        # An interval that holds everything would be none.
        assert 0 < audit[rate + "_low"] < audit[rate] < audit[rate + "_high"] < 10 * audit[rate]
    assert audit["excluded"] == 0 and audit["sampled"] == sum(
        audit[k] for k in ("tp", "fp", "tn", "fn", "edge"))
print(held)
sys.exit(len(runs) != 20 or min(held.values()) < 16)
END
}

for engine in timer tagged; do
	holds "$engine, beyond its capacity" --engine $engine --memory 16KiB --window-records 5k --domain 8k
	holds "$engine, uneven keys" --engine $engine --memory 16KiB --window-records 5k --domain 40k \
		--distribution zipf:0.6
done
holds "rlbsbf" --engine rlbsbf --memory 16KiB --distinct 0.15
holds "rlbsbf, very uneven keys" --engine rlbsbf --memory 16KiB --domain 200k --distribution zipf:1

# judge NAME PYTHON: an expression over the audit `a` of the object `r` in $tmp/stdout
judge() {
	check "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
a = r["audit"]
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$tmp/stdout" "$2"
}

# All keys of a stream that the exact engine takes: no error, and no bare 0.
seq 3000 >"$tmp/numbers"
cat "$tmp/numbers" "$tmp/numbers" >"$tmp/twice"
"$xdd" stream --audit 1 --quiet --summary "$tmp/summary" "$tmp/twice" >/dev/null
cp "$tmp/summary" "$tmp/stdout"
judge "... every record is in a count" 'a["sampled"] == a["tp"] + a["tn"] == 6000 and a["tp"] == 3000 and
a["keys"] == 3000 and a["fpr"] == a["fnr"] == a["fpr_low"] == 0 and 0.00099 < a["fpr_high"] < 0.001'
check "... in words" grep -q 'FPR measured below 0.001 (0 of 3.0k sampled, 95 %)' \
	<("$xdd" stream --audit 1/1 "$tmp/twice" 2>&1 >/dev/null)
check "a small filter's losses, in words" grep -Eq 'about [0-9.]+k? distinct records lost so far, at most' \
	<("$xdd" stream --audit 1/2 --engine rlbsbf --memory 128 "$tmp/twice" 2>&1 >/dev/null)
check "off, nothing is said" test -z "$("$xdd" stream --audit off "$tmp/twice" 2>&1 >/dev/null | grep measured)"

# The same packets by their numbers; the exact engine misses none within the window, the timers'
# edge is counted.
"$BUILD/tests/tools/gencap" --frames 4000 --ttl -o "$tmp/in.pcap" 2>/dev/null
"$xdd" pcap "$tmp/in.pcap" --audit 1 --json >"$tmp/stdout"
judge "pcap: what the exact engine says is the truth" 'a["fp"] == a["fn"] == a["excluded"] == 0 and
a["tp"] == r["duplicates"] > 100 and a["tn"] == r["distinct"]'
"$xdd" pcap "$tmp/in.pcap" --audit 1 --engine timer --ticks 2 --json >"$tmp/stdout"
judge "pcap: ticks" 'a["sampled"] == r["distinct"] + r["duplicates"] ==
sum(a[k] for k in ("tp", "fp", "tn", "fn", "edge"))'
check "pcap: in words" grep -q 'FNR measured' <("$xdd" pcap "$tmp/in.pcap" --audit 1)

"$xdd" stream --quiet --save "$tmp/filter" "$tmp/numbers" >/dev/null
check_command "a restored filter knows more than the audit" 2 '' 'leave one out' \
	"$xdd" stream --restore "$tmp/filter" --audit 1 "$tmp/numbers"
"$xdd" stream --quiet --audit 1 --save "$tmp/audited" "$tmp/numbers" >/dev/null
check_command "a filter saved with an audit is restored without" 0 '' '' \
	"$xdd" stream --quiet --restore "$tmp/audited" "$tmp/numbers"
for rate in 0 2 -1 1/0 x; do
	check_command "--audit $rate" 2 '' 'a share above 0 and up to 1' "$xdd" stream --audit "$rate" "$tmp/numbers"
done
finish
