#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# set --add and --remove: interfaces come and go while the filter and its counts stay; and run and agent
# see what happens to interfaces, and attach again to those that come back.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

a=a$$ b=b$$
pair "p$a" "$a"
pair "p$b" "$b"
promiscuity() { in_rx ip -j -d link show "$1" | json /dev/stdin 'j[0]["promiscuity"]'; }
state() { "$xdd" status "$in" --json >"$tmp/status" &&
	json "$tmp/status" "' '.join(i['state'] for i in j[0]['interfaces'] if i['name'] == '$1')"; }
state_is() { [ "$(state "$1")" = "$2" ]; }
returns() { "$xdd" status "$in" --json | json /dev/stdin \
	"max(i['returns'] for i in j[0]['interfaces'] if i['name'] == '$1')"; }
index() { in_rx ip -j link show "$1" | json /dev/stdin 'j[0]["ifindex"]'; }
links() { find "$pins/$in" -name 'link_*' | wc -l; }

"$frames" make "$tmp/one.pcap" --packets 500 --copies 0
"$frames" make "$tmp/two.pcap" --packets 500 --copies 0 --first 10000
load "$in" --window 100s --memory 1MiB --frags off || { fail "load"; finish; }
id=$(program_id "$in")
transmit "$tmp/one.pcap"
check_command "set --add: another interface" 0 "$in \\(attached\\), $a \\(attached\\)" '' \
	"$xdd" set "$in" --add "$a"
check_equal "... runs the same program" "$id" "$(program_id "$a")"
check_equal "... is promiscuous" 1 "$(promiscuity "$a")"
transmit "$tmp/one.pcap" 20000 "p$a"
check_equal "... shares the filter: copies that come there are found" "1000 500 500 0 500 500 0 0" \
	"$(counters "$in")"
check_equal "... in a slot of its own" "500 0 500" "$(counters "$in" 1 | cut -d' ' -f1-3)"
check_command "... and is found by its name" 0 "^$in: " '' "$xdd" status "$a"
check_command "one that is a part already" 2 '' "$a.*part of $in" "$xdd" set "$in" --add "$a"
check_command "one that is not there, after one that is" 1 '' 'no such interface' \
	"$xdd" set "$in" --add "$b,nope$$"
check_equal "... adds neither" "0 2" "$(program_id "$b") $(links)"
check_command "one twice" 2 '' 'given twice' "$xdd" set "$in" --add "$b,$b"
check_command "what is no name" 2 '' '--add' "$xdd" set "$in" --add "$b,"
check_command "--mode without --add" 2 '' '--add' "$xdd" set "$in" --mode generic
in_rx ip link set dev "$b" mtu 9000
in_tx ip link set dev "p$b" mtu 9000
check_command "one that check refuses" 1 '' 'MTU' "$xdd" set "$in" --add "$b" --mode native
in_rx ip link set dev "$b" mtu 1500
in_tx ip link set dev "p$b" mtu 1500
# Another program is never put off without --force.
load "$b" --memory 64KiB
check_command "one of another instance" 1 '' "unload $b" "$xdd" set "$in" --add "$b"
"$xdd" unload "$b"

check_command "set --remove" 0 "$in \\(removed\\), $a \\(attached\\)" '' \
	"$xdd" set "$in" --remove "$in"
check_equal "... detaches" "0 1" "$(program_id "$in") $(links)"
check_equal "... restores promiscuity" 0 "$(promiscuity "$in")"
check_equal "... what it counted stays" "1000 500 500 0 500 500 0 0" "$(counters "$in")"
check_command "the last one is not removed" 2 '' "unload $in" "$xdd" set "$in" --remove "$a"
check_command "one that is no part" 2 '' "no part of $in" "$xdd" set "$in" --remove "$in"
check_command "one in exchange for another, as JSON" 0 '"state": "removed"' '' \
	"$xdd" set "$in" --add "$b" --remove "$a" --json
check_equal "... is attached" "$id 0" "$(program_id "$b") $(program_id "$a")"
check_command "added and removed at once" 2 '' 'contradict' \
	"$xdd" set "$in" --add "$in" --remove "$in"
check_command "back again" 0 "$in \\(attached\\)" '' "$xdd" set "$in" --add "$in" --window 90s
check_equal "... into its slot" "500 500" "$(transmit "$tmp/two.pcap" 20000 "p$b" &&
	sleep 0.2 && counters "$in" 0 | cut -d' ' -f1,2)"
transmit "$tmp/two.pcap"
check_equal "... and finds the copies of the other" "1000 500 500" \
	"$(counters "$in" 0 | cut -d' ' -f1-3)"
check_equal "no packet was counted elsewhere" 0 "$(counters "$in" 16 | cut -d' ' -f1)"

# What is killed at any moment leaves it so that the command can be repeated.
wrong=
for moment in $(seq 12); do
	what=--add
	[ $((moment % 2)) = 1 ] || what=--remove
	"$xdd" set "$in" "$what" "$a" --quiet 2>/dev/null &
	pid=$!
	sleep "0.$(printf %03d $((moment * 7)))"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	case $(state "$a") in
	attached) "$xdd" set "$in" --remove "$a" --quiet || wrong="$wrong $moment:remove" ;;
	*) "$xdd" set "$in" --add "$a" --quiet || wrong="$wrong $moment:add" ;;
	esac
done
check_equal "kill -9 at 12 moments" "" "$wrong"

# At every call around the one that pins the link: what is attached is part of the instance. In the order of calls,
# so strace counts them.
drop() { "$xdd" set "$in" --remove "$a" --quiet 2>/dev/null; }
drop
strace -f -e trace=bpf -o "$tmp/calls" "$xdd" set "$in" --add "$a" --quiet
pin=$(grep -n 'BPF_OBJ_PIN' "$tmp/calls" | head -1 | cut -d: -f1)
wrong=
found=
for call in $(seq $((pin - 3)) $((pin + 2))); do
	drop
	{ strace -f -e trace=bpf -e inject=bpf:signal=KILL:when="$call" -o "$tmp/killed" \
		"$xdd" set "$in" --add "$a" --quiet; } 2>/dev/null
	now=$(state "$a") attached=$(program_id "$a")
	[ "$attached" = 0 ] || found=1
	[ "$attached" = 0 ] || [ "$now" = attached ] || wrong="$wrong $((call - pin)):$now"
	[ "$now" != attached ] || drop || wrong="$wrong $((call - pin)):remove"
done
check_equal "kill -9 around the pin: what is attached is shown, and removed" "1 " "$found $wrong"
[ "$(state "$a")" = attached ] || "$xdd" set "$in" --add "$a" --quiet
objects "$id" >"$tmp/objects"
"$xdd" unload "$in"
check "unload leaves no object" wait_until all_gone "$tmp/objects"
check_equal "... and no program" "0 0 0" "$(program_id "$in") $(program_id "$a") $(program_id "$b")"
check_equal "... nor promiscuity" "0 0 0" "$(promiscuity "$in") $(promiscuity "$a") $(promiscuity "$b")"

# Lost and found again, while the agent looks after them.
load "$in" "$a" --window 100s --memory 1MiB --frags off
transmit "$tmp/one.pcap"
"$xdd" agent --quiet >"$tmp/said" 2>&1 &
agent=$!
end_agent() { [ -z "$agent" ] || kill "$agent" 2>/dev/null; }
at_exit end_agent
said() { grep -q "$1" "$tmp/said"; }
agent_ages() { [ "$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["ager"]["pid"]')" = "$agent" ]; }
check "the agent runs, which says nothing but what happens" wait_until agent_ages
sleep 1.1 # it has looked once
check_equal "... which is nothing yet" "" "$(cat "$tmp/said")"
in_tx ip link del "p$a"
check "deleted: it is gone" wait_until state_is "$a" gone
check "... which the agent says" wait_until said "$a is gone"
"$xdd" status "$in" >"$tmp/text"
check "... and status, with what happens" grep -q "$a: the interface is gone.*comes back" "$tmp/text"
pair "p$a" "$a"
check "made again: it is attached again" wait_until state_is "$a" attached
check "... which the agent says" wait_until said "$a is back and attached"
check_equal "... and is counted" 1 "$(returns "$a")"
check_equal "... promiscuous again" 1 "$(promiscuity "$a")"
transmit "$tmp/one.pcap" 20000 "p$a"
check_equal "... finds what the other saw before, in its own slot" "500 0 500" \
	"$(counters "$in" 1 | cut -d' ' -f1-3)"
warned() { "$xdd" status "$in" | grep -q "warning .*$1"; }
in_tx ip link set dev "p$a" down
check "the other end is down: no carrier, says status" warned "$a: no carrier"
check_command "... and top, first of all" 0 "^$in +1 WARNING " '' "$xdd" top "$in" --once --interval 100ms
in_tx ip link set dev "p$a" up
in_rx ip link set dev "$a" down
check "down: status says so" warned "$a: down: ip link set dev $a up"
in_rx ip link set dev "$a" up
check "up: no warning" wait_until eval "! warned '$a'"
check_equal "down and up: still attached" attached "$(state "$a")"
in_rx ip link set dev "$a" name "n$a"
check "renamed: the agent says so" wait_until said "$a is called n$a now"
check_equal "... it is attached" attached "$(state "n$a")"
elsewhere=e$$
ip netns add "$elsewhere"
at_exit ip netns del "$elsewhere"
move() { nsenter --net="/run/netns/$1" ip link set dev "n$a" netns "$2" &&
	nsenter --net="/run/netns/$2" ip link set dev "n$a" up; }
# counts_in SLOT: what is sent to it now
counts_in() {
	before=$(counters "$in" "$1" | cut -d' ' -f1)
	transmit "$tmp/one.pcap" 20000 "p$a"
	[ "$(counters "$in" "$1" | cut -d' ' -f1)" -gt "$before" ]
}
top() { "$xdd" top "$in" --once --interval 100ms | grep "^n$a"; }
at=$(index "n$a")
move "$rx" "$elsewhere"
check "moved away: seen" wait_until state_is "n$a" moved
check "... its packets are compared, and counted in its slot" wait_until counts_in 1
check "... as status says" warned "n$a: .*copies are found there as before.* are counted as before"
check_equal "... and top has its rates" "" "$(top | grep moved)"
move "$elsewhere" "$rx"
wait_until state_is "n$a" attached
in_tx ip link add "d$$" index "$at" type veth peer name "f$$" 2>/dev/null # or one has it already
move "$rx" "$tx"
check "moved to where its index is taken: status says what its packets count as" \
	wait_until warned "n$a: .*copies are found there as before.* those of no interface"
check "... which is true" wait_until counts_in 16
check "... top says so, too" grep -q 'moved: its packets count as those of no interface' <(top)
in_tx ip link set dev "n$a" netns "$rx"
check "... and back" wait_until state_is "n$a" attached
in_rx ip link set dev "n$a" up
check "... counted in its slot" wait_until counts_in 1
in_tx ip link del "p$a"
wait_until said "n$a is gone"
pair "p$a" "n$a" 1 9000
check "came back in a way that check refuses: said" wait_until said "n$a is back, but not attached.*MTU"
in_rx ip link set dev "n$a" mtu 1500
in_tx ip link set dev "p$a" mtu 1500
check "... attached when that is mended" wait_until state_is "n$a" attached
bpftool link detach pinned "$pins/$in/link_$(index "$in")"
check "detached by someone: said, with what to do" wait_until said "someone detached.*set $in --add $in"
sleep 1.2
check_equal "... and left alone" detached "$(state "$in")"
check_command "... until someone attaches it" 0 '' '' "$xdd" set "$in" --add "$in" --quiet
check_equal "... which keeps its promiscuity" "attached 1" "$(state "$in") $(promiscuity "$in")"
kill "$agent"
wait "$agent"
agent=
objects "$(program_id "$in")" >"$tmp/objects"
"$xdd" unload "$in"
check "unload leaves nothing" wait_until all_gone "$tmp/objects"
check_equal "... no pin" '' "$(pins_of_ours)"
check_equal "... nor promiscuity" "0 0" "$(promiscuity "$in") $(promiscuity "n$a")"

# Interfaces with ever new names, more than there are slots: sums stay, and who was removed makes room.
load "$in" --window 100s --memory 1MiB --frags off
total() { "$xdd" status "$in" --json | json /dev/stdin 'j[0]["counters"]["total"]["'"$1"'"]["packets"]'; }
wrong=
last=$b
for round in $(seq 20); do
	name=r$round-$$
	in_rx ip link set dev "$last" name "$name"
	last=$name
	"$xdd" set "$in" --add "$name" --quiet || wrong="$wrong $round:add"
	transmit "$tmp/one.pcap" 20000 "p$b"
	[ "$(total received)" = $((round * 500)) ] || wrong="$wrong $round:$(total received)"
	"$xdd" set "$in" --remove "$name" --quiet || wrong="$wrong $round:remove"
done
check_equal "twenty names, one after the other: all are counted" "" "$wrong"
check_equal "... the sum of verdicts, too" "500 9500" "$(total distinct) $(total duplicate)"
"$xdd" status "$in" --json >"$tmp/status"
check_equal "... the last ones by name, the others together" "16 7500 2500" \
	"$(json "$tmp/status" '"%d %d %d" % (len(j[0]["interfaces"]), sum(i["received"]["packets"]
		for i in j[0]["counters"]["interfaces"]), j[0]["counters"]["former"]["received"]["packets"])')"
"$xdd" set "$in" --add "$last" --quiet
transmit "$tmp/one.pcap" 20000 "p$b"
check_equal "... one that comes back has what it counted" 1000 "$("$xdd" status "$in" --json | json /dev/stdin \
	"[i['received']['packets'] for i in j[0]['counters']['interfaces'] if i['name'] == '$last'][0]")"
for i in $(seq 14); do pair "q$i-$$" "s$i-$$"; done
check_equal "several that take the place of others" 0 \
	"$("$xdd" set "$in" --add "$(seq -f "s%.0f-$$" -s, 14)" --quiet 2>&1; echo $?)"
pair "q15-$$" "s15-$$"
check_command "all sixteen are there: no more" 2 '' "has 16 interfaces.*set $in --remove" \
	"$xdd" set "$in" --add "s15-$$"
in_rx ip link del "s14-$$"
check_command "... unless one that is gone is removed" 0 '' '' "$xdd" set "$in" --remove "s14-$$" --quiet
check_command "... then another can come" 0 '' '' "$xdd" set "$in" --add "s15-$$" --quiet
check_equal "... and no count was lost" 10500 "$(total received)"
"$xdd" unload "$in"

# Where keys are told apart by interface, none gets the place of another.
load "$in" --window 100s --memory 1MiB --frags off --scope interface
"$xdd" set "$in" --add "$(seq -f "s%.0f-$$" -s, 13),s15-$$,$last" --quiet
"$xdd" set "$in" --remove "s1-$$" --quiet
in_rx ip link set dev "s1-$$" name "t1-$$"
check_command "--scope interface: the place of one that was removed is not given away" 2 '' \
	'has had 16 interfaces, removed' "$xdd" set "$in" --add "t1-$$" --quiet
"$xdd" unload "$in"
for i in $(seq 15); do in_tx ip link del "q$i-$$" 2>/dev/null; done
in_rx ip link set dev "$last" name "$b"

# The same by run.
"$xdd" run "$in" "n$a" --netns "$rx" --memory 1MiB >"$tmp/said" 2>&1 &
agent=$!
wait_until state_is "n$a" attached
sleep 1.2
in_tx ip link del "p$a"
check "run: says that it is gone" wait_until said "run: $in: n$a is gone"
pair "p$a" "n$a"
check "... and attaches again" wait_until state_is "n$a" attached
kill "$agent"
wait "$agent"
check_equal "... and ends with 0" 0 $?
agent=
# Pins that were removed by hand: what run set is restored all the same, when it sees that or at its end.
for way in seen ended; do
	"$xdd" run "$in" --netns "$rx" --memory 1MiB --quiet >"$tmp/said" 2>&1 &
	agent=$!
	wait_until state_is "$in" attached
	check_equal "run: promiscuous" 1 "$(promiscuity "$in")"
	[ $way = seen ] || kill -STOP "$agent"
	rm -r "${pins:?}/$in"
	[ $way = seen ] || kill "$agent"
	[ $way = seen ] || kill -CONT "$agent"
	wait "$agent"
	agent=
	check_equal "pins removed by hand, $way: promiscuity is restored" 0 "$(promiscuity "$in")"
done
# One that is not there when run starts.
check_command "load: an interface that is not there" 1 '' "late$$: there is no such interface" \
	"$xdd" load "$in" "late$$" --netns "$rx"
check_command "run: not even one that is" 1 '' "late$$: there is no such interface" \
	"$xdd" run "late$$" --netns "$rx"
"$xdd" run "late$$" "$in" --name "$in" --netns "$rx" --memory 1MiB --frags off --quiet >"$tmp/said" 2>&1 &
agent=$!
check "run: one that is not there: the other is attached" wait_until state_is "$in" attached
check_equal "... which is said" "xdp-dedup: run: late$$: there is no such interface: it is attached when it \
comes, and the others now" "$(cat "$tmp/said")"
check_equal "... it is gone" gone "$(state "late$$")"
before=$(program_id "$in")
"$xdd" set "$in" --window 30s --restart --quiet
check "... set --restart" wait_until test "$(program_id "$in")" != "$before"
pair "plate$$" "late$$"
check "... it comes: it is attached" wait_until state_is "late$$" attached
check_equal "... in the mode of the other, promiscuous" "native 1" \
	"$("$xdd" status "$in" --json | json /dev/stdin "j[0]['interfaces'][0]['mode']") $(promiscuity "late$$")"
transmit "$tmp/one.pcap" 20000 "plate$$"
transmit "$tmp/one.pcap"
check_equal "... shares the filter" "500 500 0 500 0 500" \
	"$(counters "$in" 0 | cut -d' ' -f1-3) $(counters "$in" 1 | cut -d' ' -f1-3)"
kill "$agent"
wait "$agent"
check_equal "... and run ends with 0" 0 $?
agent=
check_equal "... no program, no promiscuity is left" "0 0" "$(program_id "late$$") $(promiscuity "late$$")"
check_equal "nothing is left" '' "$(pins_of_ours)"
finish
