#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Pins of another version, and who may change them when several want to.
. "$(dirname "$0")/lib.sh"

# another_version: the instance on `in` says that it is of a version that we do not know
another_version() {
	local bytes
	bytes=$(bpftool -j map dump pinned "$pins/$in/meta" |
		json /dev/stdin '" ".join(["0xff"] + j[0]["value"][1:])')
	# shellcheck disable=SC2086 # a word each
	bpftool map update pinned "$pins/$in/meta" key 0 0 0 0 value $bytes
}

load "$in" || { fail "load"; finish; }
id=$(program_id "$in")
objects "$id" >"$tmp/objects"
another_version
check_command "status of another version says what to do" 1 '' "xdp-dedup unload $in" \
	"$xdd" status "$in"
check_command "set, too" 1 '' "xdp-dedup unload $in" "$xdd" set "$in" --window 1s
check_command "load, too" 1 '' "xdp-dedup unload $in" "$xdd" load "$in" --netns "$rx" --quiet
check_equal "its program stays" "$id" "$(program_id "$in")"
check_command "unload removes it" 0 '' '' "$xdd" unload "$in"
check_equal "... and detaches" 0 "$(program_id "$in")"
check "... and leaves nothing" wait_until all_gone "$tmp/objects"
in_rx ip link set "$in" promisc off
load "$in"
another_version
check "load --force replaces it" load "$in" --force
"$xdd" unload "$in"
in_rx ip link set "$in" promisc off

# Several at once.
pair "k$$" "l$$"
load "$in" &
first=$!
load "l$$" &
second=$!
wait $first
codes=$?
wait $second
check_equal "two loads at once wait for each other" "0 0" "$codes $?"
check "both are there" test "$(program_id "$in")" != 0 -a "$(program_id "l$$")" != 0
"$xdd" unload "l$$" &
"$xdd" unload "$in"
wait
check_equal "two unloads, too" "0 0" "$(program_id "$in") $(program_id "l$$")"
for i in 1 2 3; do
	"$xdd" load "$in" --netns "$rx" --quiet 2>"$tmp/error$i" &
done
wait
check_equal "of three loads of one interface, two are told" 2 \
	"$(cat "$tmp"/error? | grep -c "xdp-dedup unload $in")"

# What somebody else put beside the instances.
mkdir "$pins/other$$"
check_equal "a folder without pins is no instance" 0 "$("$xdd" status --json | grep -c "other$$")"
check_command "... to unload" 1 '' "other$$: no such instance" "$xdd" unload "other$$"
check_command "... nor its name free" 1 '' "other$$ is there, and is no instance's" \
	"$xdd" load "$in" --netns "$rx" --name "other$$" --force
"$xdd" unload --all --quiet
check "unload --all leaves it" test -d "$pins/other$$"
rmdir "$pins/other$$" "$pins"

# A signal while it loads: it has loaded, and says so.
"$xdd" load "$in" --netns "$rx" >"$tmp/loaded" &
wait_until test -e "$pins/~$in"
kill -TERM $!
wait $!
check_equal "SIGTERM to load: it says what it did" "0 1" "$? $(grep -c "^$in: $in" "$tmp/loaded")"
check "... which it did" test "$(program_id "$in")" != 0

# What a killed command leaves: that is a folder that was not yet, or is no longer, called as the instance is.
kill_leaves() { mv "$pins/$in" "$pins/$1$in"; }
half="$in: a killed unload left it half removed, and it still filters $in: xdp-dedup unload $in removes it"
kill_leaves +
check_command "half removed: status tells it" 0 '' "$half" "$xdd" status
check_command "... asked for it" 1 '' "$half" "$xdd" status "$in"
"$xdd" status --json >"$tmp/half.json"
check_equal "... as JSON" "unload $in attached $half" "$(json "$tmp/half.json" '[" ".join((i["left_by"],
	i["interfaces"][0]["name"], i["interfaces"][0]["state"], i["warnings"][0])) for i in j if "left_by" in i][0]')"
check_command "... top, too" 1 "$in: a killed unload" "$half" "$xdd" top --once
"$xdd" agent --textfile "$tmp/half.prom" >"$tmp/agent" 2>&1 &
agent=$!
check "... the agent, too" wait_until grep -q "agent: $half" "$tmp/agent"
check "... and its metrics" wait_until grep -q "^xdp_dedup_up{name=\"$in\"} 0" "$tmp/half.prom"
kill $agent
wait $agent
check_equal "... once" 1 "$(grep -c "$half" "$tmp/agent")"
flock "$pins" sleep 1 &
sleep 0.2
check_equal "... nobody while another command is at work" 0 "$("$xdd" status 2>&1 | grep -c "killed.*$in")"
wait $!
check_command "unload removes it, and says so" 0 '' "removed what a killed unload left of $in" "$xdd" unload "$in"
check_equal "... and detaches" 0 "$(program_id "$in")"
check_command "... once" 1 '' "$in: no" "$xdd" unload "$in"
load "$in"
kill_leaves '~'
check_command "half made: status tells it" 0 '' \
	"$in: a killed load left it half made, and it still filters $in: xdp-dedup unload $in removes it" "$xdd" status
check_command "unload of its interface removes it" 0 '' "removed what a killed load left of $in" \
	"$xdd" unload "$in"
mkdir -p "$pins/~$in"
check_command "before it was attached: told, too" 0 '' "half made, attached to no interface" "$xdd" status
check "load goes on from there" load "$in"
mkdir "$pins/~$in"
check_command "beside what is loaded: told, but not to unload that" 0 "$in" \
	"$in: a killed load or set left a second set of its maps: the next load" "$xdd" status
check_command "... cleared by the next change" 0 "$in" "removed what a killed load or set left of $in" \
	"$xdd" set "$in" --window 100ms

# A bpffs that cannot be written, of these commands alone.
# shellcheck disable=SC2317 # check_command calls it
read_only() { unshare -m sh -c 'mount -t bpf -o ro bpf /sys/fs/bpf && exec "$@"' sh "$@"; }
check_command "load where bpffs is read-only says what to do" 1 '' \
	'Read-only file system: mount -o remount,rw /sys/fs/bpf' \
	read_only "$xdd" load "l$$" --netns "$rx" --quiet --force

# Somebody who does not give the lock back.
flock "$pins" sleep 60 &
holder=$!
sleep 0.2
check_command "status does not need the lock" 0 "$in" '' "$xdd" status "$in"
check_command "set gives up, and says why" 1 '' 'another xdp-dedup.*fuser' \
	"$xdd" set "$in" --window 1s
kill $(pgrep -P $holder) $holder
wait $holder 2>/dev/null
check "unload afterwards" "$xdd" unload "$in"
finish
