#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on what sites and producers say, FUZZ_SECONDS (60) long. What it found interesting is kept in the build
# folder, for the next run; what broke it is reported.
. "$(dirname "$0")/lib.sh"

# To begin with: questions, one again; an answer to one; two sites of which the second one has the first one's slices.
printf '\0\5\1\1\10\0\3\10\5\1\1\10\0\3\0\6\1\1\14\0\5\3\0\11\2\1\21\0\1\2\12\0\177' | seed sites questions
printf '\2\2\0\0\2\2\17\0\22\2\0\1' | seed sites answers
printf '\4\34\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\10\0\0\0\0\0\4\34\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\4\0\0\0\10\0\0\0' |
	seed sites here
fuzz sites "what sites and producers say" -max_len=1024 -- user/sites/{call,repeats,producer,roster,site,wire}.c \
	user/cluster/wire.c
finish
