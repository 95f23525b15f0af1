#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# load and unload: what is pinned, what is left behind, what is refused and how that is said.
. "$(dirname "$0")/lib.sh"

promisc() { in_rx ip -j -d link show "$1" | json /dev/stdin 'j[0]["promiscuity"]'; }

# refuses NAME CODE PATTERN ARGUMENT...: load fails with one line, and leaves nothing
refuses() {
	local name=$1 code=$2 pattern=$3 before
	shift 3
	before=$(ls "$pins" 2>/dev/null)
	check_command "$name" "$code" '' "$pattern" "$xdd" load --quiet "$@"
	check_equal "$name: one line" 1 "$(wc -l <"$tmp/stderr")"
	check_equal "$name: no pin is left" "$before" "$(ls "$pins" 2>/dev/null)"
	check_equal "$name: no program is attached" 0 "$(program_id "$in")"
}

check_equal "not promiscuous before" 0 "$(promisc "$in")"
check_command "load" 0 '' '' "$xdd" load "$in" --netns "$rx" --quiet
check_equal "a pin for each map, program and link" \
	"ager ager_program audit audit_counts config counters distances ethertypes event_budget event_copy events lines link_ locks meta owner program reader rodata scratch targets top" \
	"$(for pin in "$pins/$in"/*; do basename "$pin"; done | grep -v -e tally -e slices |
		sed 's/link_[0-9]*/link_/' | paste -sd' ')"
check_equal "promiscuous while loaded" 1 "$(promisc "$in")"
id=$(program_id "$in")
objects "$id" >"$tmp/objects"
check_command "a second load names the instance, and unload" 1 '' "$in.*xdp-dedup unload $in" \
	"$xdd" load "$in" --netns "$rx" --quiet
check_command "another instance cannot have the interface" 1 '' "belongs to instance $in" \
	"$xdd" load "$in" --netns "$rx" --quiet --name "other$$" --force
check_equal "the program is still the same" "$id" "$(program_id "$in")"
check_command "--force replaces the instance" 0 '' '' \
	"$xdd" load "$in" --netns "$rx" --quiet --force
check "all objects of the old one are gone" wait_until all_gone "$tmp/objects"
check_equal "promiscuous after that" 1 "$(promisc "$in")"
objects "$(program_id "$in")" >"$tmp/objects"
check_command "unload" 0 '' '' "$xdd" unload "$in"
check_equal "unload: no pin is left" '' "$(pins_of_ours)"
check_equal "unload: no program is left at the interface" 0 "$(program_id "$in")"
check "unload: no map and no program is left" wait_until all_gone "$tmp/objects"
check_equal "unload: not promiscuous any more" 0 "$(promisc "$in")"
check_command "unload of what is not loaded" 1 '' "$in: no" "$xdd" unload "$in"

in_rx ip link set "$in" promisc on
load "$in"
"$xdd" unload "$in"
check_equal "promiscuous mode that was there before stays" 1 "$(promisc "$in")"
in_rx ip link set "$in" promisc off
load "$in" --promisc off
check_equal "--promisc off" 0 "$(promisc "$in")"
"$xdd" unload "$in"

in_rx ip link set "$in" name "$in.5"
load "$in.5"
check "the name of the instance has '_' for '.'" test -d "$pins/${in}_5"
check_command "unload takes the interface's name" 0 '' '' "$xdd" unload "$in.5"
in_rx ip link set "$in.5" name "$in"
load "$in" --name "tap-$$"
check_command "unload by interface finds the instance" 0 '' '' "$xdd" unload "$in"
check_equal "... of another name" '' "$(pins_of_ours)"

for engine in tagged timer exact; do
	for placement in shared percpu; do
		[ $engine-$placement != exact-percpu ] || continue
		for window in 1ms 20ms 2s; do
			check "load --engine $engine --placement $placement --window $window" \
				load "$in" --engine $engine --placement $placement --window $window
			"$xdd" unload "$in"
		done
	done
done
for key in frame flow srcdst offset:20@14; do
	for hash in keyed siphash xxh64; do
		check "load --key $key --hash $hash" load "$in" --key $key --hash $hash --window 1s
		"$xdd" unload "$in"
	done
done

refuses "an interface that is missing" 1 "nope$$.*no such interface" "nope$$"
refuses "one that is missing beside one that is not" 1 'no such interface' \
	"$in" "nope$$" --netns "$rx"
refuses "an interface given twice" 2 "$in is given twice" "$in" "$in" --netns "$rx"
refuses "a namespace that is missing" 1 "nope$$.*ip netns list" "$in" --netns "nope$$"
refuses "17 interfaces" 2 'at most 16' $(seq -f 'x%g' 17)
refuses "a filter beyond the memory" 1 'are free.*--memory' "$in" --netns "$rx" --memory 900TiB
refuses "options that contradict each other" 2 'exact' \
	"$in" --netns "$rx" --engine exact --placement percpu
refuses "a missing target" 1 'no such interface to send to' \
	"$in" --netns "$rx" --forward "nope$$"
if in_rx ip link add "d$$" type dummy 2>/dev/null; then
	refuses "a dummy device" 1 "d$$.*dummy" "d$$" --netns "$rx"
else
	skip "a dummy device" "the kernel has none"
fi
check_command "the loopback device" 1 '' 'lo' "$xdd" load lo --netns "$rx" --quiet
check_command "without capabilities" 1 '' 'CAP_BPF.*CAP_NET_ADMIN' \
	setpriv --bounding-set -all --inh-caps -all --reuid 65534 --regid 65534 --clear-groups \
	"$xdd" load lo
check_equal "without capabilities: one line" 1 "$(wc -l <"$tmp/stderr")"
check_command "root without one of them: only that is named" 1 '' 'lacks CAP_NET_ADMIN:' \
	setpriv --bounding-set -net_admin --inh-caps -net_admin "$xdd" load "$in"
check_command "unload without a name" 2 '' '--all' "$xdd" unload

# A mount namespace of `ip netns exec`: its bpffs ends with the command.
check_command "load inside ip netns exec is refused" 1 '' '--netns NAME' \
	ip netns exec "$rx" "$xdd" load "$in" --quiet
check_equal "... and attaches nothing" 0 "$(program_id "$in")"
check_command "load inside nsenter --net is not" 0 '' '' in_rx "$xdd" load "$in" --quiet
check_command "nor is unload from outside" 0 '' '' "$xdd" unload "$in"

# A signal in the middle waits for the end.
wrong=
for moment in $(seq 10); do
	"$xdd" load "$in" --netns "$rx" --quiet 2>"$tmp/error" &
	pid=$!
	sleep "0.$(printf %03d $((RANDOM % 200)))"
	kill -INT $pid 2>/dev/null
	wait $pid
	for pin in $(pins_of_ours); do
		[ "$pin" = "$pins/$in" ] || wrong="$wrong $moment:$pin"
		"$xdd" unload "$in" || wrong="$wrong $moment:unload"
	done
	[ "$(program_id "$in")" = 0 ] || wrong="$wrong $moment:attached"
done
check_equal "SIGINT during load: all or nothing" "" "$wrong"

# A loader that was killed while it made an instance.
load "$in"
mv -T "$pins/$in" "$pins/~$in"
check "what a killed loader left is cleared by the next one" load "$in"
check "... which takes its place" test ! -e "$pins/~$in"
mv -T "$pins/$in" "$pins/+$in"
check_command "what a killed unload left is cleared by the next one" 0 '' "removed what a killed unload left of $in" \
	"$xdd" unload "$in"
check_equal "... and detached" 0 "$(program_id "$in")"
check_equal "... and not promiscuous" 0 "$(promisc "$in")"

# In a bpffs of its own, so that nobody else's instance goes.
cat >"$tmp/all" <<-END
	umount -l /sys/fs/bpf
	"$xdd" load "$in" --netns "$rx" --quiet && exit 1
	"$xdd" load "$in" --netns "$rx" --quiet --force || exit
	"$xdd" load "$out" --netns "$tx" --quiet --force || exit
	"$xdd" unload --all --json
	ls -A /sys/fs/bpf/xdp-dedup && exit 1
	exit 0
END
check_command "unload --all; --force loads into a bpffs that ends with us, mounted if need be" 0 \
	"\\[\"$in\", \"$out\"\\]" 'ip netns exec' unshare -m sh "$tmp/all"
check_equal "... and detached" 0 "$(program_id "$in")"
finish
