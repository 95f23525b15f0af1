#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1200
#
# The audit on live traffic whose truth is known: of all keys it counts what a receiver finds lost and
# missed; of a sample its intervals hold the true rates in at least 16 of 20 runs. XDD_AUDIT_PACKETS
# (20000) of as many sources as make them err.
. "$(dirname "$0")/lib.sh"

packets=${XDD_AUDIT_PACKETS:-20000}
sources=$((packets / 5))
"$frames" make "$tmp/sent.pcap" --packets "$packets" --copies 0 --sources $sources

# received NUMBER: packets, of all that were sent
# shellcheck disable=SC2317 # wait_until calls it
received() { [ "$(counters "$in" | cut -d' ' -f1)" = "$1" ]; }

# captured: the listener has all that passed; records are of one size
# shellcheck disable=SC2317 # wait_until calls it
captured() {
	local record=$((($(stat -c %s "$tmp/sent.pcap") - 24) / packets))
	[ "$(stat -c %s "$tmp/seen.pcap")" = $((24 + $(counters "$in" | cut -d' ' -f5) * record)) ]
}

# engine NAME: its options, for a filter that is too small
engine() {
	case $1 in
	timer) echo "--engine timer --window 10min --memory $((sources * 4))" ;;
	tagged) echo "--engine tagged --window 10min --memory $((sources * 2))" ;;
	rlbsbf) echo "--engine rlbsbf --memory $((sources / 2))" ;;
	esac
}

# run NAME RATE SEED: the truth to $tmp/live, status to $tmp/status
run() {
	# shellcheck disable=SC2046 # several options
	load "$in" $(engine "$1") --key src --placement shared --audit "$2" --seed "$3" || return
	listen "$tmp/seen.pcap" "$in"
	transmit "$tmp/sent.pcap" 40000
	wait_until received "$packets"
	wait_until captured
	listen_end
	"$frames" judge "$tmp/sent.pcap" "$tmp/seen.pcap" >"$tmp/live"
	"$xdd" status "$in" --json >"$tmp/status"
	"$xdd" status "$in" >"$tmp/text"
	"$xdd" unload "$in"
}

cat >"$tmp/rates.py" <<'END'
import json, sys
status, live = (json.load(open(name)) for name in sys.argv[1:3])
audit = status[0]["audit"]
sys.exit(abs(audit["fpr"] - live["lost"] / live["distinct"]) > 1e-9 or
         abs(audit["fnr"] - live["missed"] / (live["packets"] - live["distinct"])) > 1e-9)
END
for name in timer tagged rlbsbf; do
	run $name 1 1 || { fail "$name: load"; finish; }
	check_equal "$name: of all keys, what was lost and missed, packet by packet" \
		"$packets $(json "$tmp/live" '"%d %d %d" % (j["lost"], j["distinct"] - j["lost"], j["missed"])') 0 0" \
		"$(json "$tmp/status" '"%d %d %d %d %d %d" % tuple(j[0]["audit"][k]
			for k in ("sampled", "fp", "tn", "fn", "edge", "excluded"))')"
	check "$name: so the rates are the true ones" python3 "$tmp/rates.py" "$tmp/status" "$tmp/live"
	check_equal "$name: it is full enough to err" True \
		"$(json "$tmp/live" 'j["lost"] + j["missed"] > 100')"
	check "$name: in words" grep -Eq 'audit +of one key in 1,' "$tmp/text"
	check "... with the rates" grep -Eq 'F[PN]R measured [0-9.]+ \([0-9.]+k? of [0-9.]+k? sampled; .*, 95 %\)' "$tmp/text"
done
check "losses so far and as it goes on" grep -Eq \
	'about [0-9.]+k? distinct packets lost so far, at most [0-9.]+k?; about [0-9]+ distinct packets? (a|an) ' "$tmp/text"

cat >"$tmp/held.py" <<'END'
import json, sys
status, live = (json.load(open(name)) for name in sys.argv[1:3])
audit, copies = status[0]["audit"], live["packets"] - live["distinct"]
for rate, true in (("fpr", live["lost"] / live["distinct"]), ("fnr", live["missed"] / copies)):
    low, high = (audit[f"{rate}_{end}"] for end in ("low", "high"))
    print(rate, int(low <= true <= high), f"true {true:.4g}, {low:.4g} to {high:.4g}")
END
for name in timer tagged rlbsbf; do
	: >"$tmp/held"
	for seed in {1..20}; do
		run $name 1/8 "$seed" && python3 "$tmp/held.py" "$tmp/status" "$tmp/live" >>"$tmp/held"
	done
	for rate in fpr fnr; do
		held=$(grep -c "^$rate 1" "$tmp/held")
		echo "# $name: the interval of $rate held the true one in $held of 20 runs"
		sed -n "s/^$rate 0/#   not/p" "$tmp/held"
		check "$name: $rate in at least 16 of 20 runs" test "$held" -ge 16
	done
done

# Off, there is no map and no figure.
load "$in" --audit off
check_equal "--audit off" "None" "$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["audit"]')"
check "... has no maps" test ! -e "$pins/$in/audit" -a ! -e "$pins/$in/audit_counts"
"$xdd" unload "$in"

# A window that asks for another tick empties filter and shadow, and goes on counting.
load "$in" --audit 1 --window 10s
"$frames" make "$tmp/few.pcap" --packets 500 --copies 1
transmit "$tmp/few.pcap"
"$xdd" set "$in" --window 1h --restart --quiet
transmit "$tmp/few.pcap"
check_equal "set --restart: the same packets are distinct again, for both" "2000 1000 1000 0 0" \
	"$("$xdd" status "$in" --json | json /dev/stdin '"%d %d %d %d %d" % tuple(j[0]["audit"][k]
		for k in ("sampled", "tp", "tn", "fp", "fn"))')"
finish
