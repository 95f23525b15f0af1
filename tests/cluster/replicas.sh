#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Three hosts and a NATS server: what one has seen is dropped at the others, who can tell whose it was; a host that
# comes late knows it after one fetch; a server, an agent and a link that go away and come back leave nothing
# wrong behind.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

host a
host b
host c
start_server -js -sd "$tmp/js"
options=(--peers 8 --window 10min --memory 1MiB --placement shared)
for h in a b; do
	load $h "${options[@]}" || { fail "load"; finish; }
	agent $h --silence 1s --false-rate-target 0.0001 --check-every 50ms --metrics 127.0.0.1:9435
done
check "hosts believe each other" believes 10 b a
check "both ways" believes 10 a b

# next COUNT: $tmp/new has packets that nobody has seen
first=0
next() {
	packets "$tmp/new" $first "$1"
	first=$((first + $1))
}

next 200
feed a "$tmp/new"
check "what one has seen is told" told b a
check_equal "and dropped at the other" 0 "$(passed b "$tmp/new")"
check "which counts whose it was" is b "p['a']['hits']['packets'] == 200"
next 100
check_equal "what nobody has seen passes" 100 "$(passed b "$tmp/new")"
check "the own filter does not learn what is known elsewhere" is b "i['counters']['total']['distinct']['packets'] == 100"

next 200
feed a "$tmp/new"
told b a
on b timeout 20 "$xdd" events tap --verdict duplicate --count 3 --json >"$tmp/events" 2>&1 &
events=$!
sleep 1
feed b "$tmp/new" 100
wait $events
check "events name the host" grep -q '"peer": *"a.tap"' "$tmp/events"
check_command "and so does status" 0 'a\.tap.*live' '' on b "$xdd" status tap

asked() { metrics "$1" | awk '/^xdp_dedup_replica_wanted_total{/ { print $2 }'; }

# A host that comes late: one fetch, and nobody had to send anything anew.
next 200
feed a "$tmp/new"
told b a
before="$(asked a) $(asked b)"
load c "${options[@]}"
agent c --false-rate-target 0.0001 --check-every 50ms
check "a late host is told everything" told c a
check_equal "by what the server kept" 0 "$(passed c "$tmp/new")"
check_equal "so nobody was asked to send it" "$before" "$(asked a) $(asked b)"
check "and nothing was missing" is c "all(one['updates']['gaps'] == 0 for one in i['peers'])"

# The agent of a is killed: after --silence what only a had seen passes. It returns, and is believed again.
next 200
feed a "$tmp/new"
told b a
end_agent a KILL
check "an agent that is killed is silent" soon 15 b "p['a']['state'] == 'failed'"
check_equal "and what only it had seen passes" 200 "$(passed b "$tmp/new")"
agent a --silence 1s --false-rate-target 0.0001 --check-every 50ms
check "it returns, and is believed" believes 10 b a
next 200
feed a "$tmp/new"
told b a
check_equal "and what it sees is dropped again" 0 "$(passed b "$tmp/new")"

# The server is killed: everything passes once everyone is silent. It comes back, without what it had kept.
stop_server
check "without a server nobody is believed" soon 15 b "all(one['state'] != 'live' for one in i['peers'])"
next 100
feed a "$tmp/new"
check_equal "and everything passes" 100 "$(passed b "$tmp/new")"
start_server -js -sd "$tmp/js2"
check "with a new one they are, all" soon 15 b "sum(one['state'] == 'live' for one in i['peers']) == 2"
next 200
feed a "$tmp/new"
told b a
check_equal "and it goes on" 0 "$(passed b "$tmp/new")"

# The link of a breaks, without a word to anyone, and heals.
ip -n $server_ns link set to_a down
check "a host that is cut off is not believed" soon 15 b "p['a']['state'] == 'failed'"
check "nor believes others" soon 15 a "all(one['state'] != 'live' for one in i['peers'])"
next 200
feed a "$tmp/new"
check_equal "both sides pass everything" 200 "$(passed b "$tmp/new")"
ip -n $server_ns link set to_a up
check "healed, they believe each other" believes 30 b a
check "both ways" believes 30 a b
next 200
feed a "$tmp/new"
told b a
check_equal "and it goes on" 0 "$(passed b "$tmp/new")"

# A clean end is no silence: the peer is gone at once.
end_agent a TERM
check "an agent that ends says so" soon 10 b "p['a']['state'] == 'left'"
check "the agent of b lived through it all" kill -0 "${agents[b]}"
check "and told what happened, once" test "$(grep -c 'a.tap is silent' "$tmp/b.agent")" -le 8
finish
