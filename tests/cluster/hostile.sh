#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who is on the bus and means no good: a member that says it has seen everything, one without the secret, damaged
# messages, and messages that are said again. None makes a host drop what nobody has seen.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

rogue=$BUILD/tests/tools/rogue
host a
host b
host c
start_server -js -sd "$tmp/js"
for h in a b c; do
	load $h --peers 8 --window 10min --memory 1MiB --placement shared || { fail "load"; finish; }
done
for h in a b; do agent $h --silence 1s --false-rate-target 0.0001 --check-every 50ms; done
check "hosts believe each other" believes 10 b a
believes 10 a b

launch c "$tmp/rogue" "$rogue" ones 10.77.3.1:4222 default 300
check "who says that it has seen everything is distrusted" soon 10 b "p['rogue']['state'] == 'distrusted'"
packets "$tmp/new" 0 500
check_equal "and what nobody has seen passes" 500 "$(passed b "$tmp/new")"
kill -9 "$launched"

refused() { on b "$xdd" status tap --json | json /dev/stdin "sum(one['updates']['refused'] for one in j[0]['peers'])"; }
on c "$rogue" forged 10.77.3.1:4222 other 1 >/dev/null
before=$(refused)
on c "$rogue" forged 10.77.3.1:4222 default 1 >"$tmp/rogue"
check "one without the secret is refused" test "$(cat "$tmp/rogue")" -gt 5
check "... counted, though nobody knows whose they are" soon 5 b "i['replicas']['refused'] >= $(cat "$tmp/rogue")"
check_command "... which status says" 0 'messages refused: damaged, or of one without this --secret-file' '' on b "$xdd" status tap
check "... which the log says, and why it may be" grep -q 'with the same --secret-file' "$tmp/b.agent"
check "and makes no peer" is b "set(p) <= {'a', 'rogue'} and p.get('rogue', {}).get('state') != 'live'"

# While both talk, all that they say comes damaged as well.
on c "$rogue" fuzz 10.77.3.1:4222 default 4 >"$tmp/fuzzed" &
for i in 1 2 3 4 5 6; do
	packets "$tmp/new" $((i * 1000)) 100
	feed a "$tmp/new" 500
	sleep 0.4
done
wait $!
check "damaged messages came" test "$(cat "$tmp/fuzzed")" -gt 20
check "and were refused" test "$(refused)" -gt "$before"
check "those who sent them are believed" believes 15 b a
check_equal "what is seen is dropped" 0 "$(passed b "$tmp/new")"
packets "$tmp/new" 20000 500
check_equal "and what nobody has seen passes" 500 "$(passed b "$tmp/new")"

on c "$rogue" replay 10.77.3.1:4222 default 4 >"$tmp/replayed" &
for i in 1 2 3 4 5 6; do
	packets "$tmp/new" $((30000 + i * 1000)) 100
	feed a "$tmp/new" 500
	sleep 0.4
done
wait $!
check "messages were said again, in disorder" test "$(cat "$tmp/replayed")" -gt 100
check "those who said them first are believed" believes 15 b a
packets "$tmp/new" 50000 500
check_equal "what nobody has seen passes" 500 "$(passed b "$tmp/new")"
packets "$tmp/more" 60000 200
feed a "$tmp/more"
told b a
check_equal "and what is seen is dropped" 0 "$(passed b "$tmp/more")"
check "no agent has ended" kill -0 "${agents[a]}" "${agents[b]}"

# A host that is loaded otherwise, with the same secret, is named, and not believed.
on c "$xdd" unload tap >/dev/null
load c --peers 8 --window 10min --memory 2MiB --placement shared
agent c --silence 1s --false-rate-target 0.0001 --check-every 50ms
check "one that is loaded otherwise is not believed" soon 15 b "p['c']['state'] == 'mismatched'"
check "which is told" grep -q 'c.tap is not believed: it is loaded otherwise' "$tmp/b.agent"
end_agent c TERM

# Two hosts with one name: all three say so, the first is believed, and whoever is left alone.
known() { # HOST FIRST: what passes at it becomes known to b
	packets "$tmp/more" "$2" 200
	feed "$1" "$tmp/more"
	soon 15 b "p['a']['keys'] == $(count "$1" distinct) and p['a']['state'] == 'live'" && [ "$(passed b "$tmp/more")" = 0 ]
}
on c "$xdd" unload tap >/dev/null
load c --peers 8 --window 10min --memory 1MiB --placement shared
agent c --host a --silence 1s --false-rate-target 0.0001 --check-every 50ms --metrics 127.0.0.1:9435
check "one whose name another has says so" log_has 10 c 'another host speaks as a.tap'
check "the other one says so" log_has 10 a 'another host speaks as a.tap'
check "and who hears both" log_has 10 b 'two hosts speak as a.tap'
check "the first is believed" known a 70000
before=$(says b "p['a']['updates']['refused']")
check "the other is counted as refused" soon 5 b "p['a']['updates']['refused'] > $before"
check_command "status warns at one of the two" 0 "another host speaks in this one's name" '' on a "$xdd" status tap
check_command "... and at who hears them" 0 'two hosts speak as a.tap' '' on b "$xdd" status tap
metrics c >"$tmp/metrics"
check "it is a metric" grep -q 'replica_refused_total{.*why="same_name"} [1-9]' "$tmp/metrics"
check_equal "it is said once" 1 "$(grep -c 'two hosts speak' "$tmp/b.agent")"
end_agent c TERM
sleep 1
check "the first still is when the other has left" known a 71000
agent c --host a --silence 1s --false-rate-target 0.0001 --check-every 50ms
check "another comes again" log_has 10 c 'another host speaks as a.tap'
check "and is not believed" known a 72000
end_agent a TERM
check "but is once the first has left" known c 73000
finish
