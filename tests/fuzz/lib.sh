# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# For the tests in this folder to source: libFuzzer on one target.
# shellcheck source-path=SCRIPTDIR/..
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

# seed TARGET NAME: stdin is an input to begin with.
seed() {
	mkdir -p "$BUILD/fuzz/corpus-$1"
	cat >"$BUILD/fuzz/corpus-$1/seed-$2"
}

# fuzz TARGET WHAT OPTION... -- SOURCE...: FUZZ_SECONDS of TARGET.c, linked with SOURCE.
fuzz() {
	local target=$1 what=$2 seconds=${FUZZ_SECONDS:-30} option options=()
	local fuzzer=$BUILD/fuzz/$target corpus=$BUILD/fuzz/corpus-$target
	local flags=(-std=gnu11 -O1 -g -D_GNU_SOURCE -Iinclude -Imaps -I. -Iuser -fno-strict-aliasing
		-fsanitize=fuzzer -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

	for option in "${@:3}"; do
		[ "$option" = -- ] && break
		options+=("$option")
	done
	mkdir -p "$corpus"
	if ! echo 'int LLVMFuzzerTestOneInput(void){return 0;}' |
		clang -fsanitize=fuzzer -x c -o "$tmp/probe" - 2>/dev/null; then
		skip "fuzz $what" "clang has no libFuzzer runtime (libclang-rt-dev)"
		return
	fi
	check "the fuzzer builds" clang "${flags[@]}" -o "$fuzzer" "tests/fuzz/$target.c" \
		"${@:$((${#options[@]} + 4))}"
	check "$seconds s of fuzzing $what" "$fuzzer" -max_total_time="$seconds" -timeout=5 \
		-artifact_prefix="$BUILD/fuzz/" "${options[@]}" "$corpus"
}
