#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What one NATS server, and one host of a group, can do: see bus.c. Server, sender and receivers share this machine.
. "$(dirname "$0")/../tap.sh"

port=$((20000 + $$ % 20000))
PATH=$PATH:/usr/sbin
nats-server -a 127.0.0.1 -p $port -l /dev/null &
server=$!
trap 'kill $server' EXIT
for at in "120 1" "120 8" "4096 8" "65536 8" "500000 8"; do
	# shellcheck disable=SC2086 # two numbers
	"$BUILD/tests/bench/bus" nats://127.0.0.1:$port $at || exit 1
done
for shift in 20 23 26; do
	"$BUILD/tests/bench/bus" take $shift || exit 1
done
