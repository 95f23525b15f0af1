#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
#
# Slices that fail under live traffic whose truth is known: what is lost and what is missed, against
# koloniari-2011's equations 5 to 7 and the vote's sums as PAPERS.md corrects them; that the default
# policy loses nothing; and the way of a slice from failed to ok.
. "$(dirname "$0")/lib.sh"

keys=20000
fresh=10000
failed=0,3,7,12,18,24,31,38 # of 40

"$frames" make "$tmp/known.pcap" --packets $keys --copies 0
"$frames" make "$tmp/new.pcap" --packets $fresh --copies 0 --first 200000

# shellcheck disable=SC2317 # wait_until calls it
received() { [ "$(counters "$in" | cut -d' ' -f1)" = "$1" ]; }

# shellcheck disable=SC2317 # wait_until calls it
walked() {
	"$xdd" status "$in" --json >"$tmp/$1"
	[ "$(json "$tmp/$1" 'j[0]["ager"]["sweeps"]')" -ge "$2" ]
}

# after NAME PACKETS: the status, once so many were received in all. The densities of timers are as the
# last walk found them. Who ages all instances of the machine ages this one, too, and then status does not walk:
# of the walks that end from now on, the second has begun after the last packet.
after() {
	wait_until received "$2" || return
	walked "$1" 0
	[ "$(json "$tmp/$1" 'j[0]["engine"]')" = bloom ] ||
		wait_until walked "$1" $(($(json "$tmp/$1" 'j[0]["ager"]["sweeps"]') + 2))
}

cat >"$tmp/compare.py" <<'END'
"""compare.py SLICING POLICY HASHES FAILED FULL KNOWN NEW: statuses of before, and of after the packets
that the filter knew, and those that were new, while slices had failed."""
import json, math, sys

slicing, policy, k, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
full, known, new = (json.load(open(name))[0] for name in sys.argv[5:8])
out = [int(i) for i in out.split(",")]
S, width = 40, {"horizontal": 1, "vertical": 40, "hv": 5}[slicing]


def packets(status, name):
    total = status["counters"]["total"]
    return (total["bypassed"]["reasons"] if name == "faulted" else total)[name]["packets"]


def seen(a, b):
    n = packets(b, "received") - packets(a, "received")
    return (packets(b, "duplicate") - packets(a, "duplicate")) / n, n


# Of the slices of outer slice @g that work.
def density(g):
    of = [i for i in range(g * width, (g + 1) * width) if i not in out]
    return sum(s["slices"][i]["density"] for i in of for s in (known, new)) / (2 * len(of) or 1)


def tail(n, p, least):
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(least, n + 1))


# A key meets the slices of one outer one; horizontal ones are all or none of it.
def rates(g):
    q, r = sum(i // width == g for i in out) / width, density(g)
    if policy == "duplicate":
        return (q + (1 - q) * r) ** k, 0.0
    vote = k if policy == "distinct" else int(policy[5:])
    return tail(k, (1 - q) * r, vote), tail(k, q, k - vote + 1)


groups = S // width
want = [sum(x) / groups for x in zip(*map(rates, range(groups)))]
found, n_new = seen(known, new)
missed, n_known = seen(full, known)
bad = 0
for name, a, b, m in ("FPR", found, want[0], n_new), ("FNR", 1 - missed, want[1], n_known):
    most = 4.5 * math.sqrt(b * (1 - b) / m) + 0.05 * b * (name == "FPR") + 1 / m
    bad |= abs(a - b) > most
    print(f"# {slicing} {policy}: {name} {a:.5f}, by the equation {b:.5f}, within {most:.5f}")
states = [s["id"] for s in new["slices"] if s["state"] == "failed"]
bad |= states != out or any((s["unanswered"] > 0) != (s["id"] in out) for s in new["slices"])
bad |= policy != "duplicate" and not packets(new, "faulted")
sys.exit(bad)
END

# rates ENGINE SLICING POLICY: load, fill, fail, ask again and anew
# shellcheck disable=SC2317 # check calls it
rates() {
	local slices="--slices 40"
	[ "$2" = hv ] && slices="--slices 8 --subslices 5"
	# shellcheck disable=SC2046,SC2086 # several options
	load "$in" --engine "$1" $(memory "$1") --hashes 4 --slicing "$2" $slices --placement shared \
		--fault-policy "$3" --seed 5 || return
	transmit "$tmp/known.pcap" 40000
	after full "$keys" || return
	"$xdd" fault "$in" --slice "$failed" --fail --quiet || return
	transmit "$tmp/known.pcap" 40000
	after known $((2 * keys)) || return
	transmit "$tmp/new.pcap" 40000
	after new $((2 * keys + fresh)) || return
	"$xdd" unload "$in"
	python3 "$tmp/compare.py" "$2" "$3" 4 "$failed" "$tmp/full" "$tmp/known" "$tmp/new"
}

# So much that about half of the cells are in use.
# shellcheck disable=SC2317 # rates calls it
memory() {
	case $1 in
	timer) echo --window 10min --memory 200000 ;;
	bloom) echo --memory 25600 ;;
	esac
}

for policy in duplicate distinct vote:2 vote:3; do
	check "vertical slices, $policy" rates timer vertical $policy
done
for policy in duplicate distinct; do
	check "horizontal slices, $policy" rates timer horizontal $policy
	check "bits, horizontal slices, $policy" rates bloom horizontal $policy
	check "diced slices, $policy" rates timer hv $policy
	check "bits, diced slices, $policy" rates bloom hv $policy
done
check "bits, vertical slices, vote:3" rates bloom vertical vote:3

# Parts fail and come back under traffic: nothing that is new is lost.
"$frames" make "$tmp/copies.pcap" --packets 40000 --copies 1
load "$in" --window 200ms --fault-policy distinct --audit 1/1
listen "$tmp/seen.pcap" "$in"
transmit "$tmp/copies.pcap" 20000 &
sender=$!
for slices in 0,100,200 all; do
	sleep 0.5
	"$xdd" fault "$in" --slice $slices --fail --quiet || fail "--slice $slices --fail"
	sleep 0.5
	"$xdd" fault "$in" --slice all --recover --quiet || fail "--slice all --recover"
done
wait $sender
after status 80000
listen_end
"$frames" read "$tmp/seen.pcap" >"$tmp/seen"
check_equal "no new packet is lost because of a fault" "40000 0" \
	"$(json "$tmp/seen" '"%d %d" % (j["first"], j["missing"])')"
check "but copies pass, and are counted" test "$(json "$tmp/seen" 'j["copies"]')" -gt 1000
check_equal "received is what was judged and what passed" 80000 "$(json "$tmp/status" \
	'(lambda t: t["distinct"]["packets"] + t["duplicate"]["packets"] + t["bypassed"]["packets"])(j[0]["counters"]["total"])')"

check_equal "the audit of all keys says how many" True \
	"$(json "$tmp/status" '(lambda a: abs(a["fnr"] * (a["fn"] + a["tp"]) / a["fn"] - 1) < 0.01)(j[0]["audit"])')"

# states: of slices 0 and 1
states() {
	"$xdd" status "$in" --json >"$tmp/status"
	json "$tmp/status" '" ".join(s["state"] for s in j[0]["slices"][:2])'
}
# shellcheck disable=SC2317 # wait_until calls it
healthy() { [ "$(states)" = "ok ok" ]; }
wait_until healthy
check_equal "a slice that came back is believed again by itself" "ok ok" "$(states)"
check "one fails" "$xdd" fault "$in" --slice 1 --fail
check_equal "as status says" "ok failed" "$(states)"
check_command "fault shows it" 0 'policy distinct; slices: 511 ok, 1 failed' '' "$xdd" fault "$in"
check_command "and why" 0 'slice 1 +failed, as fault --fail said' '' "$xdd" fault "$in"
"$xdd" fault "$in" --json >"$tmp/fault"
check_equal "in JSON, too" "512 failed ['as fault --fail said'] None distinct" "$(json "$tmp/fault" \
	'"%d %s %s %s %s" % (len(j["slices"]), j["slices"][1]["state"], j["slices"][1]["why"], j["slices"][1]["cpu"], j["policy"])')"
check "set leaves it so" "$xdd" set "$in" --window 150ms --quiet
check_equal "failed still" "ok failed" "$(states)"
check "so does --restart" "$xdd" set "$in" --window 10s --restart --quiet
check_equal "failed still after the restart" "ok failed" "$(states)"
check "it recovers" "$xdd" fault "$in" --slice 1 --recover --quiet
check_equal "not believed for a window" "ok recovering" "$(states)"
check "what is not failed need not recover" "$xdd" fault "$in" --slice 0 --recover --quiet
check_equal "and stays" "ok recovering" "$(states)"

# Bad input.
check_command "both ways" 2 '' 'give one' "$xdd" fault "$in" --slice 0 --fail --recover
check_command "no such slice" 2 '' '--slice 511|has 512 slices|0 to 511' "$xdd" fault "$in" --slice 512 --fail
check_command "a count is no slice" 2 '' 'slice 1k: slices are numbers' "$xdd" fault "$in" --slice 1k --fail
check_command "a comma too many" 2 '' 'slice 1,: ' "$xdd" fault "$in" --slice 1, --fail
check_command "which slices" 2 '' 'which slices' "$xdd" fault "$in" --fail
check_command "what about them" 2 '' 'give --fail or --recover' "$xdd" fault "$in" --slice 1
check_command "a CPU of a shared filter" 2 '' 'share the filter' "$xdd" fault "$in" --slice 1 --cpu 0 --fail
check_command "no such instance" 1 '' 'fault: .*nosuch' "$xdd" fault nosuch$$
check_equal "unload" "" "$("$xdd" unload "$in" 2>&1 >"$tmp/unloaded")"
check_equal "leaves nothing" "" "$(pins_of_ours)"
load "$in" --engine timer --slicing vertical --slices 4 --placement shared --fault-policy vote:2
check_command "beyond the last slice" 2 '' "slice 4: $in has 4 slices" "$xdd" fault "$in" --slice 0,4 --fail
check_equal "and none before it failed" "ok ok" "$(states)"
"$xdd" unload "$in" >"$tmp/unloaded"
load "$in"
check_command "without a policy" 1 '' 'without --fault-policy' "$xdd" fault "$in" --slice 0 --fail
"$xdd" unload "$in" >"$tmp/unloaded"

# A CPU that is offline: the agent sees another file in its place, since other work needs the CPU.
cpus=$(($(cut -d- -f2 /sys/devices/system/cpu/possible) + 1))
if [ "$cpus" -lt 2 ]; then
	skip "CPUs offline" "there is one CPU"
	finish
fi
load "$in" --placement percpu --window 1s --fault-policy distinct
echo 1 >"$tmp/offline"
unshare -m sh -c "mount --bind '$tmp/offline' /sys/devices/system/cpu/offline && exec '$xdd' agent --quiet" &
agent=$!
at_exit kill $agent

# cpu N: the states of its slices
cpu() {
	"$xdd" fault "$in" --json >"$tmp/fault"
	json "$tmp/fault" "' '.join(sorted({s['state'] + ''.join(s['why']) for s in j['slices'] if s['cpu'] == $1}))"
}
# shellcheck disable=SC2317 # wait_until calls it
is() { [ "$(cpu 1)" = "$1" ]; }
wait_until is "failedits CPU is offline"
check_equal "a CPU that is offline fails" "failedits CPU is offline" "$(cpu 1)"
check_equal "and no other" ok "$(cpu 0)"
"$xdd" fault "$in" --cpu 1 --slice 3 --fail --quiet
echo >"$tmp/offline"
wait_until is "failedas fault --fail said ok"
check_equal "it comes back, but for what failed for another reason" "failedas fault --fail said ok" "$(cpu 1)"
"$xdd" fault "$in" --cpu 1 --slice all --recover --quiet
wait_until is ok
check_equal "until that is over, too" ok "$(cpu 1)"

# Where the kernel does not say which CPUs are offline, the agent says so once, and ages on.
kill $agent
wait $agent
mkdir "$tmp/cpu"
cp /sys/devices/system/cpu/{possible,present,online} "$tmp/cpu"
unshare -m sh -c "mount --bind '$tmp/cpu' /sys/devices/system/cpu && exec '$xdd' agent" 2>"$tmp/agent" &
agent=$!
at_exit kill $agent
walks() { bpftool map dump pinned /sys/fs/bpf/xdp-dedup/"$in"/ager 2>/dev/null | grep -o '"sweeps": *[0-9]*' | tail -1; }
wait_until grep -q 'cpu/offline' "$tmp/agent"
before=$(walks)
# shellcheck disable=SC2317 # wait_until calls it
later() { [ "$(walks)" != "$before" ]; }
wait_until later
check "it walks on" later
before=$(walks)
wait_until later
check_equal "it has warned once" 1 "$(grep -c 'cpu/offline' "$tmp/agent")"
finish
