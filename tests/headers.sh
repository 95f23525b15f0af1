#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every header of the core compiles alone for both targets, every header of the maps for BPF.
. "$(dirname "$0")/tap.sh"

flags=(-std=gnu11 -O2 -Wall -Wextra -Werror -Iinclude -Imaps -I. -x c -c -o /dev/null)
bpf=(clang -g -target bpf -mcpu=v3 -I"/usr/include/$(gcc -print-multiarch)" "${flags[@]}")

alone() {
	printf '#include "%s"\n' "$1" >"$tmp/alone.c"
}

for header in include/xdd/*.h; do
	alone "$header"
	check "$header compiles alone for the host" gcc -D_GNU_SOURCE "${flags[@]}" "$tmp/alone.c"
	check "$header compiles alone for BPF" "${bpf[@]}" "$tmp/alone.c"
done
for header in maps/*.h; do
	[ -e "$header" ] || continue
	alone "$header"
	check "$header compiles alone for BPF" "${bpf[@]}" "$tmp/alone.c"
done
finish
