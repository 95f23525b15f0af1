#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Engine rlbsbf on live traffic, by source address: the first packet of a source passes and later
# ones are dropped, as often as in a native run over the same packets; its loads are the bits set.
. "$(dirname "$0")/lib.sh"

filter=(--engine rlbsbf --key src)

# received NUMBER: packets, of all that were sent
# shellcheck disable=SC2317 # wait_until calls it
received() { [ "$(counters "$in" | cut -d' ' -f1)" = "$1" ]; }

# send_and_judge FILE PACKETS: what came out of $in goes to $tmp/seen.pcap, what that means to $tmp/live
send_and_judge() {
	listen "$tmp/seen.pcap" "$in"
	transmit "$1" 40000
	wait_until received "$2"
	listen_end
	"$frames" judge "$1" "$tmp/seen.pcap" >"$tmp/live"
}

# A filter with room: nothing is lost, nothing is missed. In 4 MiB a new source that fell into the line of
# another once reset a bit of it.
"$frames" make "$tmp/few.pcap" --packets 12000 --copies 0 --sources 3000
load "$in" "${filter[@]}" --placement shared --memory 256MiB || { fail "load"; finish; }
send_and_judge "$tmp/few.pcap" 12000
distinct=$(json "$tmp/live" 'j["distinct"]')
check_equal "the first packet of each source passes, later ones are dropped" "12000 0 0" \
	"$(json "$tmp/live" 'j["packets"], j["lost"], j["missed"]' | tr -d '(),')"
check "... of many sources" test "$distinct" -gt 2800
check_equal "the counters say so" \
	"12000 $distinct $((12000 - distinct)) 0 $distinct $((12000 - distinct)) 0 0" "$(counters "$in")"
check_command "a native run finds the same" 0 '' '' \
	"$xdd" pcap "${filter[@]}" --memory 256MiB "$tmp/few.pcap" -w "$tmp/native.pcap" --quiet
check_equal "... packet by packet" "$(json "$tmp/live" 'sorted(j.items())')" \
	"$("$frames" judge "$tmp/few.pcap" "$tmp/native.pcap" | json /dev/stdin 'sorted(j.items())')"
"$xdd" unload "$in"

# A filter too small for its sources errs, live as natively: FPR and FNR within four deviations of a
# difference of two binomial shares, and a tenth, since errors of one filter depend on each other.
cat >"$tmp/compare.py" <<'END'
import json, math, sys
live, native = (json.load(open(name)) for name in sys.argv[1:3])
wrong = []
for what, n in (("lost", live["distinct"]), ("missed", live["packets"] - live["distinct"])):
    p = native[what] / n
    bound = 4 * math.sqrt(2 * p * (1 - p) / n) + 0.1 * p
    print(f"# {what}: {live[what] / n:.4f} live, {p:.4f} native, bound {bound:.4f}", file=sys.stderr)
    if native[what] < 100 or abs(live[what] / n - p) > bound:
        wrong.append(f"{what}: {live[what]} live, {native[what]} native")
print("; ".join(wrong))
END
"$frames" make "$tmp/many.pcap" --packets 40000 --copies 0 --sources 8000
"$xdd" run "$in" --netns "$rx" "${filter[@]}" --placement shared --memory 2KiB --quiet >"$tmp/run" 2>&1 &
pid=$!
wait_until test -d "$pins/$in"
send_and_judge "$tmp/many.pcap" 40000
"$xdd" pcap "${filter[@]}" --memory 2KiB "$tmp/many.pcap" -w "$tmp/native.pcap" --quiet
"$frames" judge "$tmp/many.pcap" "$tmp/native.pcap" >"$tmp/native"
check_equal "a small filter errs as a native run does" "" \
	"$(python3 "$tmp/compare.py" "$tmp/live" "$tmp/native")"
check_equal "the counters agree with the receiver" \
	"40000 $(json "$tmp/live" 'j["distinct"] - j["lost"] + j["missed"]')" \
	"$(counters "$in" | cut -d' ' -f1,2)"

"$xdd" status "$in" --json >"$tmp/status"
bpftool -j map dump pinned "$pins/$in/lines" >"$tmp/lines"
cat >"$tmp/lines.py" <<'END'
import json, sys

def ones(line, i):  # filter i has a half of each line
    return sum(bin(int(byte, 16)).count("1") for byte in line["value"][i * 32:i * 32 + 32])

lines = json.load(open(sys.argv[1]))
print(*(sum(ones(line, i) for line in lines) for i in (0, 1)))
print("%.6g" % (sum(ones(line, 0) * ones(line, 1) for line in lines) / 256 ** 2 / len(lines)))
END
python3 "$tmp/lines.py" "$tmp/lines" >"$tmp/ones"
ones=$(head -n 1 "$tmp/ones")
check_equal "while it runs, status has the load of each filter: the bits that are set" "$ones" \
	"$(json "$tmp/status" '" ".join(str(round(load * 8192)) for load in j[0]["loads"][0])')"
cat >"$tmp/model.py" <<'END'
import json, sys
status, live = (json.load(open(name)) for name in sys.argv[1:3])
loads, q, s = status[0]["loads"][0], 0, 8192
for _ in range(live["distinct"] + live["missed"]):
    q += ((1 - q) - (1 - q ** 2) * q * q) / s
print("# loads", *loads, "by the model", q, file=sys.stderr)
print(all(abs(load / q - 1) < 0.06 for load in loads))
END
check_equal "... near what bera-2012's recurrence, corrected, gives for so many new keys" True \
	"$(python3 "$tmp/model.py" "$tmp/status" "$tmp/live")"
check_equal "the model of loss is the mean over the lines" "$(tail -n 1 "$tmp/ones")" \
	"$(json "$tmp/status" '"%.6g" % j[0]["fpr_model"]')"
check_equal "what bit engines do not have is null" "None None None None" \
	"$(json "$tmp/status" '" ".join(str(x) for x in (j[0]["config"]["window_ns"],
		j[0]["config"]["range"], j[0]["fpr_at_capacity"], j[0]["ager"]["last_sweep_ms"]))')"
"$xdd" status "$in" >"$tmp/text"
check "status says it in words" grep -Eq 'load +[56][0-9](\.[0-9])? % [56][0-9](\.[0-9])? % of the cells' "$tmp/text"
check "... and warns that it is too small" grep -q 'warning .*lost: load with more --memory' "$tmp/text"
kill -INT $pid
wait $pid
check_equal "run ends well" 0 $?

# The other engines: every filter is shown, by placement.
for engine in bloom sbf rsbf bsbf bsbfsd; do
	for placement in shared percpu; do
		load "$in" --engine $engine --key src --placement $placement --memory 256KiB
		transmit "$tmp/few.pcap" 40000
		wait_until received 12000
		"$xdd" status "$in" --json >"$tmp/status"
		check_equal "$engine, $placement: loads and their mean" True "$(json "$tmp/status" \
			'(sum(map(sum, j[0]["loads"])) > 0 and
			len(j[0]["slices"]) == len(j[0]["loads"][0]) and
			all(abs(s["density"] - sum(l[i] for l in j[0]["loads"]) / len(j[0]["loads"])) < 1e-9
			for i, s in enumerate(j[0]["slices"])))')"
		"$xdd" unload "$in"
	done
done
finish
