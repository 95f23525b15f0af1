#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on the parser and the keys, FUZZ_SECONDS (60) long. What it found interesting is kept in
# the build folder, for the next run; what broke it is reported.
. "$(dirname "$0")/../tap.sh"

seconds=${FUZZ_SECONDS:-60}
fuzzer=$BUILD/fuzz/parse
corpus=$BUILD/fuzz/corpus
flags=(-std=gnu11 -O1 -g -D_GNU_SOURCE -Iinclude -I. -fno-strict-aliasing
	-fsanitize=fuzzer -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

mkdir -p "$corpus"
if ! echo 'int LLVMFuzzerTestOneInput(void){return 0;}' |
	clang -fsanitize=fuzzer -x c -o "$tmp/probe" - 2>/dev/null; then
	skip "fuzz the parser" "clang has no libFuzzer runtime (libclang-rt-dev)"
	finish
fi
check "the fuzzer builds" clang "${flags[@]}" -o "$fuzzer" tests/fuzz/parse.c user/identity.c
check "$seconds s of fuzzing the parser" "$fuzzer" -max_total_time="$seconds" -max_len=400 \
	-dict=tests/fuzz/parse.dict -timeout=5 -artifact_prefix="$BUILD/fuzz/" "$corpus"
finish
