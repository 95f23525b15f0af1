#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on what other hosts say, FUZZ_SECONDS (60) long. What it found interesting is kept in the
# build folder, for the next run; what broke it is reported.
. "$(dirname "$0")/lib.sh"

fuzz receive "what other hosts say" -max_len=2048 -- user/cluster/{wire,receiver,sender,delta,update}.c \
	user/model/replica.c -lm
finish
