#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Copies on other receive queues, and so on other CPUs: filters per CPU miss them, trees of filters
# find them; status and the maps say where.
. "$(dirname "$0")/lib.sh"

packets=2000
if [ "$(nproc)" = 1 ]; then
	skip "two CPUs" "there is one"
	finish
fi
"$frames" make "$tmp/in.pcap" --packets $packets --copies 0

# show ARGUMENT...: load, and send the packets on CPU 0, twice on CPU 1, and on CPU 0 again
show() {
	load "$in" --memory 64MiB "$@" || fail "load $*" "$(cat "$tmp/load")"
	for cpu in 0 1 1 0; do
		in_tx taskset -c $cpu "$send" "$out" "$tmp/in.pcap" 20000 >"$tmp/sent"
	done
	sleep 0.2
	sums=$(counters "$in")
	"$xdd" status "$in" --json >"$tmp/status"
}

# level N FIELD: of the tree
level() { json "$tmp/status" "j[0]['tree']['levels'][$1]['$2']"; }

show --placement percpu --window 30s
check_equal "percpu: a copy on the other CPU passes" $((2 * packets)) "$(echo "$sums" | cut -d' ' -f2)"
check_equal "percpu: status knows no tree" None "$(json "$tmp/status" 'j[0]["tree"]')"
"$xdd" unload "$in"

for engine in tagged timer bloom; do
	for tree in sparse dense; do
		window=(--window 30s)
		[ $engine != bloom ] || window=()
		show --engine $engine --placement tree --tree $tree "${window[@]}"
		check_equal "$engine, $tree: one of each passed" "$packets $((3 * packets))" \
			"$(echo "$sums" | cut -d' ' -f2,3)"
		[ $tree = dense ] && root=$packets || root=$((2 * packets))
		check_equal "$engine, $tree: duplicates found at the root, and by their CPU" \
			"$root $((3 * packets - root))" "$(level 0 hits) $(level 1 hits)"
		"$xdd" unload "$in"
	done
done
finish
