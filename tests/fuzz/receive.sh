#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3700
#
# libFuzzer on what other hosts say, FUZZ_SECONDS (30) long. What it found interesting is kept in the
# build folder, for the next run; what broke it is reported.
. "$(dirname "$0")/lib.sh"

# To begin with: a FULL of one bit, a DELTA of another and a HEARTBEAT; a DELTA that makes all bits
# ones; a FULL of two parts.
printf '\0\0\6\0\5\1\0\1\5\0\0\6\2\11\2\0\1\7\0\0\4\6\15\2\0' | seed receive first
printf '\0\0\6\0\5\1\0\1\5\0\0\10\2\11\2\0\2\0\200\10' | seed receive ones
printf '\0\0\6\0\5\21\0\1\5\0\0\6\0\11\21\1\1\5' | seed receive parts
fuzz receive "what other hosts say" -max_len=2048 -- user/cluster/{wire,epochs,receiver,sender,delta,update}.c \
	user/model/replica.c user/words.c -lm

# An empty set as a FULL, a DELTA of one key that leads from it, a BEAT, and a WANT.
{
	printf '\20\101\61\0'
	head -c 48 /dev/zero
	printf '\4\102\60\0\0\0\0\1'
	head -c 43 /dev/zero
	printf '\10\103\0\40\377\0'
} | seed follow first
fuzz follow "what the owner of a watch set says" -max_len=4096 -- user/cluster/{wire,watch_wire,epochs,watch_follower,watch_owner}.c \
	user/watch/{acbf,file,journal,string,trust}.c user/capture/{checked,sink}.c user/{message,utf8,words}.c user/model/*.c -lm -lz -ljansson
finish
