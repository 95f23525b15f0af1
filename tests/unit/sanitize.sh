#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1500
#
# The core's unit tests again, through a build that stops at any access outside of an object,
# any undefined operation and any leak.
. "$(dirname "$0")/../tap.sh"

clean=$BUILD/sanitize
tests="fields parse key hash line tagged timer slices exact store store_file records mark secret trace"
programs=
for test in $tests; do
	programs="$programs $clean/tests/unit/test_$test"
done
# shellcheck disable=SC2086 # a list of words
check "build" make -s -j"$(nproc)" BUILD="$clean" WARNINGS="-Wall -Wextra" \
	CFLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover" $programs
for test in $tests; do
	check "$test" "$clean/tests/unit/test_$test"
done
finish
