#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on the parser and the keys, FUZZ_SECONDS (30) long. What it found interesting is kept in
# the build folder, for the next run; what broke it is reported.
. "$(dirname "$0")/lib.sh"

fuzz parse "the parser" -max_len=400 -dict=tests/fuzz/parse.dict -- user/identity.c
finish
