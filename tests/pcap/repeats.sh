#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --ambiguous, --max-suppress and what is suppressed most, on files: as an independent program
# finds them, frame by frame.
. "$(dirname "$0")/../tap.sh"

oracle() { python3 tests/pcap/repeats.py "$@"; }

oracle make "$tmp/in.pcap" || { fail "make"; finish; }

# said FILE: of the JSON what the oracle says, too; classes by packets
said() {
	python3 - "$1" <<-'END'
		import json, sys
		j = json.load(open(sys.argv[1]))
		print(json.dumps({"duplicates": j["duplicates"], "dropped": j["dropped"],
		    "let_through": j["let_through"],
		    "ambiguous": {k: v["packets"] for k, v in j["ambiguous"].items()}}))
	END
}

# same NAME WINDOW ORACLE-OPTIONS -- OPTIONS
same() {
	local name=$1 window=$2 judge=()
	shift 2
	while [ "$1" != -- ]; do
		judge+=("$1")
		shift
	done
	shift
	"$xdd" pcap "$tmp/in.pcap" -w "$tmp/out.pcap" --non-ip frame --window "${window}ns" --json "$@" \
		>"$tmp/json"
	oracle keep "$tmp/in.pcap" "$window" "${judge[@]}" >"$tmp/expected"
	check_equal "$name: counts" \
		"$(head -n 1 "$tmp/expected" | python3 -c 'import json, sys
j = json.load(sys.stdin)
del j["most"]
print(json.dumps(j))')" "$(said "$tmp/json")"
	check_equal "$name: the frames that are kept" "$(tail -n +2 "$tmp/expected" | md5sum)" \
		"$(oracle numbers "$tmp/in.pcap" "$tmp/out.pcap" | md5sum)"
}

same "dropped by default" 50000000 --
check "most is ambiguous, some of each class" python3 - "$tmp/json" <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
assert all(c["packets"] > 100 and c["bytes"] > c["packets"] * 30 for c in j["ambiguous"].values())
assert sum(c["packets"] for c in j["ambiguous"].values()) < j["duplicates"]
END
check_equal "the ten most often suppressed: not one too many, and at most 2 % are missing" "" \
	"$(python3 - "$tmp/json" "$tmp/expected" <<'END'
import json, sys
found = [k["packets"] for k in json.load(open(sys.argv[1]))["top_suppressed"]]
true = json.loads(open(sys.argv[2]).readline())["most"]
for f, t in zip(found, true, strict=True):
    if not 0.98 * t <= f <= t:
        print(f, "of", t)
END
	)"
same "a class passes" 50000000 --ambiguous ack_rst -- --ambiguous ack=pass
same "two pass" 20000000 --ambiguous udp,other -- --ambiguous udp=pass,ack=drop,other=pass
same "all pass" 20000000 --ambiguous ack_rst,tcp_data,udp,other -- --ambiguous pass
for n in 1 2 7 100; do
	same "--max-suppress $n" 50000000 --max-suppress $n -- --max-suppress $n
	same "--max-suppress $n, a long window" 100000000000 --max-suppress $n -- --max-suppress $n
done
same "both" 1000000000 --max-suppress 3 --ambiguous udp -- --max-suppress 3 --ambiguous udp=pass
for engine in tagged timer; do
	"$xdd" pcap "$tmp/in.pcap" --window 1s --max-suppress 9 --non-ip frame --engine $engine \
		--json >"$tmp/json"
	check "$engine: one in ten on average" python3 - "$tmp/json" <<-'END'
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert 0.09 < j["let_through"] / j["duplicates"] < 0.11, j
	END
done

check_command "the summary shows them" 0 'suppressed most often.*' '' \
	"$xdd" pcap "$tmp/in.pcap" --max-suppress 5
check "... with class, place and reason" bash -c "grep -q '[0-9] ack, [0-9]* tcp' '$tmp/stdout' &&
	grep -q 'kept: [0-9]*, [0-9]* of them by --max-suppress' '$tmp/stdout' &&
	grep -Eq '^ +[0-9]+  10\.0\.0\.[0-9]+(:80)? > 10\.128\.0\.1' '$tmp/stdout'"
check_equal "off: none is listed" null "$("$xdd" pcap "$tmp/in.pcap" --top-suppressed off --json |
	python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["top_suppressed"]))')"

refuses() {
	local pattern=$1
	shift
	check_command "$* is refused" 2 '' "$pattern" "$xdd" pcap "$tmp/in.pcap" "$@"
}
refuses 'drop, pass, or CLASS' --ambiguous acks=pass
refuses 'drop, pass, or CLASS' --ambiguous ack
refuses 'drop, pass, or CLASS' --ambiguous ack=keep
refuses 'drop, pass, or CLASS' --ambiguous ack=pass,ack=drop
refuses 'drop, pass, or CLASS' --ambiguous ''
refuses 'no place with --key flow' --key flow --window 1s --ambiguous pass
refuses 'from 1 to 1000000000, or off' --max-suppress 0
refuses 'from 1 to 1000000000, or off' --max-suppress 1000000001
refuses 'from 1 to 1000000000, or off' --max-suppress many
finish
