#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on what monitors and coordinators of joint detection say, FUZZ_SECONDS (30) long, as receive.sh.
# shellcheck disable=SC2059 # the inputs are bytes, as octal numbers, some of them varied
. "$(dirname "$0")/lib.sh"

# To begin with: a monitor that has collected is told to begin; monitors that have started, ended and count.
for algorithm in 0 1 2 3 4 5; do
	printf "\\11\\$algorithm\\44\\0\\0\\4\\1\\2\\1\\2" | seed joint "ask$algorithm"
	printf "\\0\\$algorithm\\41\\0\\2\\7\\100\\41\\0\\2\\7\\100\\41\\0\\2\\7\\100$(
	)\\43\\0\\2\\2\\0\\43\\0\\2\\2\\0\\43\\0\\2\\2\\0\\4\\0\\1\\0\\4\\0\\1\\0\\4\\0\\1\\0" | seed joint "say$algorithm"
done
# A monitor that has said nothing yet is told what is common: that was a division by zero.
printf '\11\2\3\0\30\0\301\13\0\1\0\3019' | seed joint early
fuzz joint "what takes part in joint detection" -max_len=2048 -- user/joint/{council,coordinator,host,monitor}.c \
	user/joint/{orders,parts,bytes,set,gaps,plan}.c user/{message,utf8,words}.c -lz -ljansson -lm
finish
