#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Replicas in the kernel, without a network between hosts: instance A sees packets, what it has seen is
# made a replica of instance B, and B takes them for copies, until nobody keeps the replica alive.
# shellcheck disable=SC2317 # wait_until calls functions
. "$(dirname "$0")/lib.sh"

replicate=$BUILD/tests/tools/replicate
a=$in
b=b$$
pair "p$$" "$b"
"$frames" make "$tmp/seen.pcap" --packets 200 --copies 0
head -c 64 /dev/urandom >"$tmp/secret"
chmod 600 "$tmp/secret"

# both OPTION...: load A and B alike
both() {
	local window=(--window 30s)
	[ "${2:-}" != bloom ] || window=()
	load "$a" "${window[@]}" --secret-file "$tmp/secret" --peers 8 "$@" &&
		load "$b" "${window[@]}" --secret-file "$tmp/secret" --peers 8 "$@"
}
neither() { "$xdd" unload "$a" >/dev/null && "$xdd" unload "$b" >/dev/null; }
# copy_to_b PEER SECONDS: what A has seen becomes a replica of B's
copy_to_b() { "$replicate" "$a" "$b" "$@" >"$tmp/copied"; }
word() { tr ' ' '\n' <"$tmp/copied" | grep -A1 "^$1$" | tail -n 1; }
of_b() { "$xdd" status "$b" --json | json /dev/stdin "j[0]$1"; }
seen_at_a() { transmit "$tmp/seen.pcap" 20000 "$out"; }
seen_at_b() { transmit "$tmp/seen.pcap" 20000 "p$$"; }
b_has() { [ "$(of_b '["counters"]["total"]["received"]["packets"]')" = "$1" ]; }

for row in "tagged --placement shared" "tagged --placement percpu" "timer --placement shared" \
	"timer --placement percpu" "timer --slicing none" "bloom --placement shared" "exact"; do
	# shellcheck disable=SC2086 # options
	both --engine $row --memory 1MiB || { fail "$row: load"; continue; }
	seen_at_a
	check "$row: A's filter becomes a replica" copy_to_b 3 60
	check_equal "$row: loaded alike" 1 "$(word alike)"
	check "$row: its keys are known" test "$(word keys)" -ge 185 -a "$(word keys)" -le 215
	seen_at_b
	check "$row: B has them" wait_until b_has 200
	check_equal "$row: all of them are copies" "0 200 200" \
		"$(of_b '["counters"]["total"]["distinct"]["packets"]') $(of_b '["counters"]["total"]["duplicate"]["packets"]') $(of_b '["counters"]["total"]["dropped"]["packets"]')"
	check_equal "$row: of the peer" "200 test.$a" \
		"$(of_b '["peers"][0]["hits"]["packets"]') $(of_b '["peers"][0]["name"]')"
	check "$row: its replica ends" copy_to_b 3 0.001
	seen_at_b
	check_equal "$row: then they pass, once: B's own filter had not taken them" "200 200" \
		"$(of_b '["counters"]["total"]["distinct"]["packets"]') $(of_b '["counters"]["total"]["passed"]["packets"]')"
	neither
done

# What is done, and what is told.
both
seen_at_a
copy_to_b 5 60
check_command "set --replica-action count" 0 '' '' "$xdd" set "$b" --replica-action count --quiet
seen_at_b
check_equal "count: the own filter decides, and they are counted" "200 0 200 200" \
	"$(of_b '["counters"]["total"]["distinct"]["packets"]') $(of_b '["counters"]["total"]["dropped"]["packets"]') $(of_b '["counters"]["total"]["elsewhere"]') $(of_b '["peers"][0]["hits"]["packets"]')"
neither
both
seen_at_a
copy_to_b 5 60
"$xdd" set "$b" --replica-action mark >/dev/null
listen "$tmp/marked.pcap" "$b"
seen_at_b
listen_end
check_equal "mark: passed, and marked" "200 200" \
	"$(of_b '["counters"]["total"]["passed"]["packets"]') $(tcpdump -n -v -r "$tmp/marked.pcap" 2>/dev/null | grep -c 'tos 0xfc')"
"$xdd" set "$b" --replica-action drop >/dev/null
"$xdd" events "$b" --json --count 3 --rate 100 --verdict duplicate >"$tmp/events" 2>/dev/null & pid=$!
wait_until test "$(bpftool -j map dump pinned "$pins/$b/config" | json /dev/stdin 'j[0]["formatted"]["value"]["event_kinds"] > 0')" = True
sleep 0.5
seen_at_b
wait $pid
check_equal "events name the peer" "3 test.$a" \
	"$(wc -l <"$tmp/events") $(head -n 1 "$tmp/events" | json /dev/stdin 'j["peer"]')"
check_command "status names it" 0 "peers  .*1 believed" '' "$xdd" status "$b"
check_command "... and its keys" 0 "test.$a live, 200 keys" '' "$xdd" status "$b"
check_command "top shows it" 0 "test.$a live" '' "$xdd" top "$b" --once
check_equal "sums hold" True "$("$xdd" status "$b" --json | json /dev/stdin '(lambda t:
	t["received"]["packets"] == t["distinct"]["packets"] + t["duplicate"]["packets"] + t["bypassed"]["packets"] ==
	sum(t[n]["packets"] for n in ("passed", "dropped", "redirected", "redirect_errors")))(j[0]["counters"]["total"])')"
neither

# The packets of keys in the audit's sample, and no false verdict of the own filter among them.
both --audit 1
seen_at_a
copy_to_b 0 60
seen_at_b
check_equal "the audit of the own filter leaves out what it was not asked" 0 "$(of_b '["audit"]["sampled"]')"
neither

# Hosts that are loaded otherwise.
load "$a" --peers 8 && load "$b" --peers 8
copy_to_b 0 0
check_equal "another secret: not alike" 0 "$(word alike)"
neither
load "$a" --peers 8 --secret-file "$tmp/secret" && load "$b" --peers 8 --secret-file "$tmp/secret" --ignore ipid
copy_to_b 0 0
check_equal "another key: not alike" 0 "$(word alike)"
neither
load "$a" --peers 8 --secret-file "$tmp/secret"
load "$b" --peers 64 --window 1s --secret-file "$tmp/secret" --action count
copy_to_b 0 0
check_equal "room for more peers, another window and action: alike" 1 "$(word alike)"
check_equal "the action follows --action" count "$(of_b '["replicas"]["action"]')"
neither
check_equal "without --peers there is none" "None []" "$(load "$a"; "$xdd" status "$a" --json | json /dev/stdin '"%s %s" % (j[0]["replicas"], j[0]["peers"])')"
"$xdd" unload "$a" >/dev/null
finish
