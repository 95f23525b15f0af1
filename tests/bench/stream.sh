#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# stream against `awk '!s[$0]++'` (Debian's awk is mawk) on ten million lines of 8 to 15 characters,
# four fifths of them distinct, from a file to /dev/null. Least of 3 for each, taken in turns.
. "$(dirname "$0")/../tap.sh"

in=$tmp/in
"$BUILD/tests/tools/genlines" 10000000 20000000 >"$in" 2>"$tmp/distinct" || exit 1
echo "stream: 10000000 lines, $(cat "$tmp/distinct") distinct, against $(readlink -f "$(command -v awk)")"

# taken NAME COMMAND...: append run time and peak memory to the lists of NAME
taken() {
	local name=$1
	shift
	if ! python3 - "$tmp/$name" "$in" "$@" <<'END'; then
import resource, subprocess, sys, time
start = time.monotonic()
code = subprocess.call(sys.argv[3:], stdin=open(sys.argv[2]), stdout=subprocess.DEVNULL)
seconds = time.monotonic() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{seconds:.3f} {peak:.0f}", file=open(sys.argv[1], "a"))
sys.exit(code)
END
		echo "stream: failed: $*"
		exit 1
	fi
}

names=(awk sort exact rlbsbf bloom tagged records)
cat "$in" >/dev/null
for _ in 1 2 3; do
	# shellcheck disable=SC2016 # awk's
	taken awk awk '!s[$0]++'
	taken sort env LC_ALL=C sort -u
	taken exact "$xdd" stream --quiet
	taken rlbsbf "$xdd" stream --quiet --engine rlbsbf --memory 64MiB
	taken bloom "$xdd" stream --quiet --engine bloom --memory 64MiB
	taken tagged "$xdd" stream --quiet --engine tagged --memory 64MiB --window-records 1M
	taken records "$xdd" stream --quiet --window-records 1M
done

least() {
	sort -n "$tmp/$1" | head -n 1
}
read -r baseline _ <<<"$(least awk)"
label() {
	case $1 in
	awk) echo "awk '!s[\$0]++'" ;;
	sort) echo "sort -u (in another order)" ;;
	exact) echo "exact, for ever" ;;
	rlbsbf | bloom) echo "$1, 64 MiB" ;;
	tagged) echo "tagged, 64 MiB, last 1M records" ;;
	records) echo "exact, last 1M records" ;;
	esac
}
for name in "${names[@]}"; do
	read -r seconds peak <<<"$(least "$name")"
	awk -v label="$(label "$name")" -v s="$seconds" -v b="$baseline" -v p="$peak" 'BEGIN {
		printf "%-33s %7.3f s %5d MiB %6.1f times as fast as awk\n", label, s, p, b / s }'
done
