#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Hosts whose agents speak other versions of the messages: with a later minor one they understand each other, another major
# one is refused, counted, and keeps nobody else from talking.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

# of_make VARIABLE: a word each
of_make() { make -s BUILD="$BUILD" --eval="print: ; @echo \$($1)" print; }
# speaks MAJOR MINOR: $tmp/MAJOR.MINOR is the program with another version of the messages
speaks() {
	# shellcheck disable=SC2046 # words
	cc $(of_make USER_CFLAGS) -O2 -DWIRE_MAJOR="$1" -DWIRE_MINOR="$2" -c -o "$tmp/wire.o" user/cluster/wire.c &&
		cc -o "$tmp/$1.$2" "$BUILD/user/main.o" "$tmp/wire.o" "$BUILD/libuser.a" $(of_make LIBS)
}
check "a later minor version is built" speaks 1 7
check "another major version is built" speaks 2 0

# refuses HOST: messages of another version, so far
refuses() {
	metrics "$1" | grep -q 'replica_refused_total{name="tap",why="version"} [1-9]'
}
for h in a b c; do host $h; done
start_server -js -sd "$tmp/js"
for h in a b c; do
	load $h --peers 8 --window 10min --memory 1MiB --placement shared || { fail "load"; finish; }
done
agent b --silence 1s --false-rate-target 0.0001 --check-every 50ms --metrics 127.0.0.1:9435
ours=$xdd
xdd=$tmp/1.7 agent a --silence 1s --false-rate-target 0.0001 --check-every 50ms
xdd=$tmp/2.0 agent c --silence 1s --false-rate-target 0.0001 --check-every 50ms --metrics 127.0.0.1:9435
xdd=$ours
check "the later minor version is believed" believes 10 b a
check "... and believes" believes 10 a b
packets "$tmp/one" 0 300
packets "$tmp/two" 1000 300
feed a "$tmp/one"
feed b "$tmp/two"
check "what it has seen is known" told b a
check_equal "... and dropped" 0 "$(passed b "$tmp/one")"
check "what it is told it knows" told a b
check_equal "... and drops" 0 "$(passed a "$tmp/two")"

packets "$tmp/three" 2000 300
feed c "$tmp/three"
check "the other major version is refused, and counted" wait_until refuses b '{name="tap",why="version"} [1-9]'
check "... here and there" wait_until refuses c
check_equal "what it has seen passes" 300 "$(passed b "$tmp/three")"
check "it is nobody's peer" is b "p.get('c', {}).get('state') != 'live'"
check "the others go on" is b "p['a']['state'] == 'live'"
finish
