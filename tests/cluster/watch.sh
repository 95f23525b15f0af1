#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A watch set that three hosts share: what its owner adds and deletes acts at the others on live packets; who was
# killed, came late, was cut off, or changed its set meanwhile has the owner's again; who means no good changes nothing.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

rogue=$BUILD/tests/tools/rogue
host a
host b
host c
start_server -js -sd "$tmp/js"
options=(--window 10min --memory 1MiB --watch-action drop --watch-keys 20k)
share() { agent "$1" --share-watch a --silence 1s --metrics 127.0.0.1:9435 "${@:2}"; }
for h in a b; do
	load $h "${options[@]}" || { fail "load"; finish; }
	share $h
done

watch() { on "$1" "$xdd" watch tap "${@:2}"; }

# watched HOST FILE: how many of its packets are in the set
watched() {
	local reason="i['counters']['total']['bypassed']['reasons'].get('watch', {'packets': 0})['packets']" before
	before=$(says "$1" "$reason")
	feed "$1" "$2"
	echo $(($(says "$1" "$reason") - before))
}

# equal SECONDS HOST...: each says that it is what a is, and its state is, byte for byte
equal() {
	local seconds=$1 one
	shift
	for one in "$@"; do
		soon "$seconds" "$one" "i['watch']['share']['behind_seconds'] == 0 and i['watch']['keys'] == $(keys a)" >/dev/null || return
		[ "$(level a)" = "$(level "$one")" ] || return
	done
}
level() { on "$1" "$xdd" watch tap save - --quiet | tail -c +73 | head -c -4 | md5sum; }
keys() { says "$1" "i['watch']['keys']"; }
shared() { says "$1" "i['watch']['share']['$2']"; }

for i in 0 1 2 3; do packets "$tmp/p$i" $((i * 1000)) 200; done
check "an empty set is shared" equal 10 b
watch a load "$tmp/p0" --quiet
check "what is added at its owner is at the other" equal 5 b
check_equal "where it acts on packets" 200 "$(watched b "$tmp/p0")"
check_equal "... and not on others" 0 "$(watched b "$tmp/p1")"
check_equal "by a change, not by all of the set" 1 "$(shared b deltas)"
watch a load "$tmp/p1" --quiet
watch a unload "$tmp/p0" --quiet
check "what is deleted goes" equal 5 b
check_equal "... and its packets are watched no more" "0 200" "$(watched b "$tmp/p0") $(watched b "$tmp/p1")"
for i in $(seq 5); do
	watch a load "$tmp/p2" --quiet
	watch a unload "$tmp/p2" --quiet
done
watch a load "$tmp/p2" --quiet
check "many changes, one after the other" equal 5 b

check_command "a change at one who follows is refused, and says where" 1 '' 'follows that of a.tap: change it there' \
	watch b load "$tmp/p3"
check_command "... of any kind" 1 '' 'follows that of a.tap' watch b clear
check_command "stats says whose it is" 0 'follows a.tap: change [0-9]*, as it is there' '' watch b stats
check_command "... and at its owner" 0 'published as a.tap: change' '' watch a stats
check_command "... and status" 0 'follows a.tap' '' on b "$xdd" status tap
check_command "metrics say how far" 0 'watch_share_sequence\{name="tap",owner="a.tap"\} [1-9]' '' \
	metrics b

# What is longer than a change can be.
packets "$tmp/long" 100000 15000
watch a load "$tmp/long" --quiet
check "a long list" equal 10 b
check_equal "all of it" 15000 "$(watched b "$tmp/long")"
fulls=$(shared b fulls)
watch a clear --quiet
check "clear" equal 5 b
check "by all of the set" test "$(shared b fulls)" -gt "$fulls"
watch a load "$tmp/p1" --quiet

# A host that comes late, when the owner has gone.
check "all is told" equal 5 b
end_agent a TERM
check "an owner that says nothing is told of" soon 5 b "i['watch']['share']['behind_seconds'] > 0"
check_command "... by stats as well" 0 'perhaps not as it is there' '' watch b stats
load c "${options[@]}"
share c
check "a late host has it, without its owner" soon 10 c "i['watch']['keys'] == 200"
check_equal "where it acts" 200 "$(watched c "$tmp/p1")"
watch a load "$tmp/p2" --quiet
share a
check "the owner is back, with what changed meanwhile" equal 10 b c

# One that was killed, or ended and changed its set.
end_agent b KILL
watch a load "$tmp/p3" --quiet
check "others go on" equal 5 c
check_command "one whose agent was killed may change its set" 0 '' '' watch b clear --quiet
share b
check "it returns, and has the owner's again" equal 10 b
check_equal "all of it" 200 "$(watched b "$tmp/p3")"

# The server is killed, and comes back without what it had kept.
stop_server
watch a unload "$tmp/p3" --quiet
check "without a server the set stays" test "$(keys b)" = 600
start_server -js -sd "$tmp/js2"
check "with a new one all have what was changed" equal 15 b c

# The link of b breaks, without a word, and heals.
ip -n $server_ns link set to_b down
watch a load "$tmp/p3" --quiet
check "one that is cut off knows that it is behind" soon 5 b "i['watch']['share']['behind_seconds'] > 0"
check "the other has it" equal 5 c
ip -n $server_ns link set to_b up
check "healed, it has it as well" equal 30 b

# Who has no secret, who says it again, and who damages it.
before=$(shared b refused)
on c "$rogue" watch 10.77.3.1:4222 default 1 >"$tmp/rogue"
check "messages without the secret came" test "$(cat "$tmp/rogue")" -gt 5
check "... are counted" soon 5 b "i['watch']['share']['refused'] >= $before + $(cat "$tmp/rogue")"
check "... told of" log_has 2 b 'is refused: it is damaged, or who sent it'
check "... and change nothing" equal 5 b c
on c "$rogue" replay 10.77.3.1:4222 default 6 >"$tmp/replayed" &
again=$!
watch a unload "$tmp/p3" --quiet
sleep 0.3
watch a load "$tmp/long" --quiet
sleep 0.5
watch a unload "$tmp/long" --quiet
end_agent b KILL
share b
wait $again
check "what was said was said again, in disorder" test "$(cat "$tmp/replayed")" -gt 100
check "... to one who had begun anew as well" soon 5 b "i['watch']['share']['old'] > 0"
check "... and changes nothing" equal 10 b c
on c "$rogue" fuzz 10.77.3.1:4222 default 2 >"$tmp/fuzzed" &
again=$!
for i in 1 2 3 4; do
	watch a load "$tmp/p3" --quiet
	sleep 0.2
	watch a unload "$tmp/p3" --quiet
	sleep 0.2
done
wait $again
check "damaged messages change nothing" equal 10 b c

# A set that is loaded otherwise.
end_agent c TERM
on c "$xdd" unload tap >/dev/null
load c --window 10min --memory 1MiB --watch-action drop --watch-keys 10k
share c
check "a set of another size is told, in words" log_has 10 c 'cannot follow that of a.tap, which was loaded with other --watch-keys'
check_equal "... and stays as it is" 0 "$(keys c)"

# Two owners with one name.
end_agent c TERM
on c "$xdd" unload tap >/dev/null
load c "${options[@]}"
share c --host a
check "of two owners with one name each says so" log_has 10 a 'another host shares its watch set as a.tap'
check "... and the other" log_has 10 c 'another host shares its watch set as a.tap'
check "no agent has ended" kill -0 "${agents[a]}" "${agents[b]}" "${agents[c]}"
finish
