#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# More members than there are places: as many as fit are believed, the others are counted, and go on to be refused
# until one of the first is silent for long.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

rogue=$BUILD/tests/tools/rogue
host b
host c
start_server -js -sd "$tmp/js"
for h in b c; do
	load $h --peers 64 --window 10min --memory 1MiB --placement shared || { fail "load"; finish; }
done
agent b --silence 3s --false-rate-target 0.0001 --check-every 50ms --metrics 127.0.0.1:9435
no_place() { metrics b | awk '/^xdp_dedup_replica_refused_total.*no_place/ { n = $2 } END { exit !(n > 0) }'; }
packets "$tmp/new" 0 500

launch c "$tmp/rogue" "$rogue" crowd 10.77.2.1:4222 default 300
check "64 of 70 are believed" soon 20 b "sum(one['state'] == 'live' for one in p.values()) == 64"
check "the others are counted" wait_until no_place
check "... and no peers" is b "len(p) == 64"
check_equal "what nobody has seen passes" 500 "$(passed b "$tmp/new")"
check_equal "... and what has passed does not again" 0 "$(passed b "$tmp/new")"
kill -9 "$launched"
check "who is silent is not believed" soon 20 b "not any(one['state'] == 'live' for one in p.values())"
check "the agent goes on" kill -0 "${agents[b]}"
finish
