#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1500
#
# Tests of what reads records and counts in memory again, through a build that stops at any access outside of an object, any undefined
# operation and any leak.
. "$(dirname "$0")/../tap.sh"

clean=$BUILD/sanitize
check "build" make -s -j"$(nproc)" BUILD="$clean" WARNINGS="-Wall -Wextra" \
	CFLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover" \
	"$clean/xdp-dedup" "$clean/tests/tools/genlines"
export ASAN_OPTIONS=allocator_may_return_null=1 # as any other malloc()
for test in stream join acbf replicas; do
	check "$test" env BUILD="$clean" "tests/cli/$test.sh"
done
finish
