#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# joint --monitors over three hosts with live traffic: exactly the flows that were sent through all of them are
# found, or through two; watch sets are loaded with them; what cannot be is refused, and changes nothing.
# shellcheck disable=SC2317,SC2119,SC2016 # check calls the functions; the server has no options; bash expands
. "$(dirname "$0")/lib.sh"

flows() { tests/cluster/flows.py "$@"; }
all=a.tap,b.tap,c.tap

# joint [OPTION...]: asked from host a; keys go to $tmp/keys, what is said to $tmp/said
joint() {
	on a "$xdd" joint --nats "$(url a)" --secret-file "$tmp/secret" --period 2s "$@" \
		>"$tmp/keys" 2>"$tmp/said"
}

# during HOST-FILE... -- OPTION...: joint with OPTIONs, and meanwhile traffic: host=file
during() {
	local traffic=()
	while [ "$1" != -- ]; do
		traffic+=("$1")
		shift
	done
	shift
	(
		sleep 0.7
		for one in "${traffic[@]}"; do feed "${one%%=*}" "${one#*=}" 50000; done
	) &
	local feeder=$!
	joint "$@"
	local code=$?
	wait $feeder
	return $code
}

# expect FIRST N...: flows, as they are printed, sorted
expect() {
	while [ $# -gt 0 ]; do
		seq "$1" $(($1 + $2 - 1)) | awk '{ printf("17,10.0.0.1,%d,10.1.%d.2,53\n", 1000 + $1 % 50000, int($1 / 50000)) }'
		shift 2
	done | sort
}
same() { diff <(expect "$@") <(sort "$tmp/keys") >"$tmp/diff" || { head -n 3 "$tmp/diff" "$tmp/said" | sed 's/^/# /'; false; }; }

# passed_both HOST: sources of $tmp/abc and $tmp/ab of which a packet passes
passed_both() { echo $(($(passed "$1" "$tmp/abc") + $(passed "$1" "$tmp/ab"))); }

# said EXPRESSION: of what --json says
said() { sed -n '/^{/,$p' "$tmp/said" | json /dev/stdin "$1"; }

host a
host b
host c
start_server
for h in a b c; do
	load $h --key flow --window 1s --memory 1MiB --placement shared --collect 5000 \
		--watch-action skip --watch-keys 400 || { fail "load"; finish; }
	agent $h
done
for h in a b c; do
	check "$h is a monitor" log_has 10 $h "monitor $h.tap of group default"
	log_has 10 $h 'connected to'
done

flows "$tmp/abc" 0 300
flows "$tmp/ab" 1000 200
flows "$tmp/c" 2000 700
flows "$tmp/a" 3000 1000
traffic=(a="$tmp/abc" b="$tmp/abc" c="$tmp/abc" a="$tmp/ab" b="$tmp/ab" c="$tmp/c" a="$tmp/a")
for algorithm in best raw cfsp bfs smallest-first; do
	check "$algorithm: it answers" during "${traffic[@]}" -- --monitors $all --algorithm $algorithm --epsilon 1e-7 --json
	check "$algorithm: the flows that went through all, and no others" same 0 300
	check_equal "$algorithm: keys of each, none lost" "[1500, 500, 1000] True" \
		"$(said '[m["keys"] for m in j["monitors"]], j["complete"]' | tr -d '()' | sed 's/, True/ True/')"
done
collected='[i["collect"][what] for what in ("collecting", "room", "periods", "keys", "overflow_packets")]'
check_equal "status says it of the last period" "[False, 5000, 5, 1500, 0]" "$(says a "$collected")"
check "... in words, too" grep -q 'nobody asks now, room for 5000 keys; 5 periods ended, the last one with 1500 keys' \
	<(on a "$xdd" status tap)
check "two of three" during "${traffic[@]}" -- --monitors $all --at-least 2 --epsilon 1e-7
check "at least two: those of all and of two" same 0 300 1000 200
check "a subset" during "${traffic[@]}" -- --monitors b.tap,a.tap --epsilon 1e-7
check "... of two monitors" same 0 300 1000 200
check "nothing came: nothing is common" joint --monitors $all
check_equal "... and nothing printed" "" "$(cat "$tmp/keys")"

# Watch sets: all of them or none.
check "into the watch sets" during "${traffic[@]}" -- --monitors $all --then watch:tap --epsilon 1e-7 --json
check_equal "each has them" "[300, 300, 300]" "$(said '[m["added"] for m in j["monitors"]]')"
for h in a b c; do check "$h watches 300 keys" is $h "i['watch']['keys'] == 300"; done
before=$(says b "i['counters']['total']['bypassed']['reasons']['watch']['packets']")
feed b "$tmp/abc"
check_equal "and acts on them" 900 \
	$(($(says b "i['counters']['total']['bypassed']['reasons']['watch']['packets']") - before))
on b "$xdd" watch tap clear --quiet
flows "$tmp/more" 5000 120
during a="$tmp/more" b="$tmp/more" c="$tmp/more" -- --monitors $all --then watch:tap --epsilon 1e-7
check_equal "... is an error" 1 $?
check "... that names it" grep -q 'monitor [ac].tap: .*is full, it has room for 400 keys' "$tmp/said"
check_equal "... and prints what would have been loaded" 120 "$(wc -l <"$tmp/keys")"
check_equal "... and no set has changed" "300 0 300" \
	"$(for h in a b c; do says $h "i['watch']['keys']"; done | xargs)"
# All have room, but the state of one cannot be written: the others have the keys, which is said of each.
flows "$tmp/few" 7000 30
on b mount -o remount,ro /run
during a="$tmp/few" b="$tmp/few" c="$tmp/few" -- --monitors $all --then watch:tap --epsilon 1e-7
check_equal "one fails when it is to load them: exit code" 1 $?
on b mount -o remount,rw /run
check "who has them" grep -q '^xdp-dedup: joint: a.tap has them, 30 are new' "$tmp/said"
check "and who has not, and why" grep -q '^xdp-dedup: joint: b.tap does not have them: ' "$tmp/said"
check_equal "and the keys for that one" 30 "$(wc -l <"$tmp/keys")"
check "how many" grep -q 'in the watch set of tap at 2 of 3 monitors' "$tmp/said"
check_equal "which is true" "330 0 330" "$(for h in a b c; do says $h "i['watch']['keys']"; done | xargs)"
joint --monitors $all --then watch:other
check_equal "no such instance" 1 $?
check "... is named" grep -q 'monitor .*: .*other' "$tmp/said"

# No room for all keys.
flows "$tmp/many" 10000 6000 1
during a="$tmp/many" a="$tmp/abc" b="$tmp/abc" c="$tmp/abc" -- --monitors $all --json
check_equal "overflow: which monitor, and that the result is not complete" "5000 True False" \
	"$(said 'str(j["monitors"][0]["keys"]) + " " + str(j["monitors"][0]["overflow"] > 0) + " " + str(j["complete"])')"

during a="$tmp/many" a="$tmp/abc" b="$tmp/abc" c="$tmp/abc" -- --monitors $all --quiet
check "... also with --quiet" grep -q 'monitor a.tap had no room for the keys of [0-9]* packets' "$tmp/said"
joint --monitors $all --quiet
check "who saw nothing is named" grep -q 'monitor c.tap has seen no packet that has a key' "$tmp/said"

# Strangers, and monitors that are none.
end_agent c TERM
agent c --host a
log_has 10 c 'monitor a.tap of group default'
sleep 1.5
joint --monitors a.tap,b.tap --period 1s
check_equal "two hosts with one name: exit code" 1 $?
check "... are told" grep -q 'monitor a.tap: two agents answer as it' "$tmp/said"
end_agent c TERM
agent c
sleep 1.5
joint --monitors a.tap,x.tap --silence 1s
check_equal "an unknown monitor: exit code" 1 $?
check "... is named" grep -q 'monitor x.tap: does not answer' "$tmp/said"
head -c 64 /dev/urandom >"$tmp/other"
chmod 600 "$tmp/other"
joint --monitors $all --silence 1s --secret-file "$tmp/other"
check_equal "who has another secret is not answered" 1 $?
check "... which the monitors say" log_has 5 b 'a question of .* is refused'
check "... and status counts" is b "i['collect']['refused'] > 0"
on c "$xdd" unload tap
on c "$xdd" load tap --window 1s --memory 1MiB --placement shared --collect 5000 >"$tmp/c.own" 2>&1
check "--collect without --secret-file: load says what to do" grep -q 'no joint can ask .*: add --secret-file FILE' "$tmp/c.own"
check "... and the agent that nobody can ask" log_has 5 c 'but no joint can ask it: it was loaded without --secret-file'
on c "$xdd" unload tap
load c --key srcdst --window 1s --memory 1MiB --placement shared --collect 5000
sleep 1.5
joint --monitors $all --silence 3s
check_equal "another kind of key" 1 $?
check "... is named" grep -q 'monitor c.tap: its keys are others' "$tmp/said"
(
	sleep 1
	end_agent b KILL
) &
joint --monitors a.tap,b.tap --silence 1s --period 1h
check_equal "a monitor that is killed in a long period: exit code" 1 $?
check "... is named" grep -q 'monitor b.tap: no longer answers' "$tmp/said"
wait $!
period='[i["collect"][what] for what in ("collecting", "agent_gone")]'
check_equal "... and its period does not go on" "[False, True]" "$(says b "$period")"
check "... which status says" grep -q 'collects    in a period whose agent is gone' <(on b "$xdd" status tap)
launch b "$tmp/unshared.agent" "$xdd" agent
check "an agent without NATS ends it" log_has 10 unshared 'ageing tap'
check_equal "... in the map" "[False, False]" "$(says b "$period")"
kill "$launched"
wait_gone "$launched"
agent b
log_has 10 b 'connected to'
sleep 0.5
check "the others go on, and it is back" during a="$tmp/abc" b="$tmp/abc" -- --monitors a.tap,b.tap --count 2 --json
check_equal "... for so many periods" 2 "$(grep -c '"common"' "$tmp/said")"
check_equal "... each of which ends with an empty line" "2 " "$(grep -c '^$' "$tmp/keys") $(tail -n 1 "$tmp/keys")"
# A coordinator that is killed: whoever asks next is told for how long, and is answered then.
launch a "$tmp/killed" "$xdd" joint --nats "$(url a)" --secret-file "$tmp/secret" --period 1h --monitors a.tap,b.tap
sleep 3
kill -9 "$launched"
joint --monitors a.tap,b.tap
check_equal "a coordinator was killed: another one is refused" 1 $?
check "... which says for how long" grep -q 'monitor [ab].tap: it is a monitor of a.joint-[0-9]*-[0-9a-f]*: .*in 1[0-9] s' "$tmp/said"
sleep 16
check "... and no longer" joint --monitors a.tap,b.tap
check_command "watch sets of keys that a monitor may not have seen" 2 '' 'knows only the keys that it saw' \
	on a "$xdd" joint --nats "$(url a)" --secret-file "$tmp/secret" --monitors $all --at-least 2 --then watch:tap

# Sources that came to all three, which are then dropped at each.
for h in a b c; do
	on $h "$xdd" unload tap
	load $h --key src --window 1s --memory 1MiB --placement shared --collect 5000 --watch-action drop
done
sleep 1.5
flows "$tmp/abc" 0 40 3 sources
flows "$tmp/ab" 100 30 3 sources
check "sources" during a="$tmp/abc" b="$tmp/abc" c="$tmp/abc" a="$tmp/ab" b="$tmp/ab" -- --monitors $all --then watch:tap \
	--epsilon 1e-7 --json
check_equal "... that came to all" "[40, 40, 40]" "$(said '[m["added"] for m in j["monitors"]]')"
sleep 1.2
for h in b c; do check_equal "$h drops them, and no others" 30 "$(passed_both $h)"; done
check_command "a key for live hosts, who have theirs" 2 '' '--key is for files' \
	on a "$xdd" joint --nats "$(url a)" --secret-file "$tmp/secret" --monitors $all --key src
check "--monitors needs the secret" bash -c '! "$0" joint --monitors a.t,b.t --nats nats://127.0.0.1 2>/dev/null' "$xdd"
finish
