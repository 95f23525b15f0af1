#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Updates of the accurate counting Bloom filter beside a plain counting filter's: see acbf.c.
. "$(dirname "$0")/../tap.sh"

for keys in 100000 1000000 10000000; do
	"$BUILD/tests/bench/acbf" $keys || exit 1
done
"$BUILD/tests/bench/acbf" 100000000 2 1m
