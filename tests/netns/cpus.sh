#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The same packets at the same time on two interfaces, by two CPUs: none passes twice.
. "$(dirname "$0")/lib.sh"

packets=40000
rate=40000
pair "k$$" "l$$"
"$frames" make "$tmp/in.pcap" --packets $packets --copies 0

# both ARGUMENT...: load both interfaces as one instance, and send on both
both() {
	load "$in" "l$$" --window 10s --memory 64MiB "$@" || return
	listen "$tmp/a.pcap" "$in"
	listen "$tmp/b.pcap" "l$$"
	in_tx taskset -c 0 "$send" "$out" "$tmp/in.pcap" $rate >"$tmp/sent0" &
	in_tx taskset -c 1 "$send" "k$$" "$tmp/in.pcap" $rate >"$tmp/sent1"
	wait $!
	listen_end
	"$frames" read "$tmp/a.pcap" "$tmp/b.pcap" >"$tmp/seen"
	sums=$(counters "$in")
	"$xdd" unload "$in"
}

# field NUMBER: of $sums
field() { echo "$sums" | cut -d' ' -f"$1"; }

if [ "$(nproc)" = 1 ]; then
	skip "two CPUs" "there is one"
	finish
fi
for engine in tagged exact timer; do
	both --engine $engine --placement shared
	check "$engine: both CPUs' packets arrived, nearly all" \
		test "$(field 1)" -gt $((2 * packets * 9 / 10))
	check_equal "$engine: none passed twice" 0 "$(json "$tmp/seen" 'j["twice"]')"
	check_equal "$engine: what is distinct has passed" "$(field 2)" "$(field 5)"
	# tcpdump loses some where the machine is busy.
	seen=$(json "$tmp/seen" 'j["frames"]')
	check "$engine: what passed is what was counted" \
		test "$seen" -le "$(field 5)" -a "$seen" -gt $(($(field 5) * 8 / 10))
	check_equal "$engine: the sums" "$(field 1) $(field 1)" \
		"$(($(field 2) + $(field 3) + $(field 4))) $(($(field 5) + $(field 6)))"
done
finish
