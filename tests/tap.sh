# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sourced by the shell tests: `. "$(dirname "$0")/../tap.sh"`. It moves to the top of the tree
# and sets:
#   xdd        the program
#   captures   the folder of captures (may be absent)
#   tmp        a folder of the test's own, removed at its end
# A test calls pass, fail, skip or check once per result, and finish as its last line.
# shellcheck disable=SC2034 # used by those who source this

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
xdd=$BUILD/xdp-dedup
captures=${XDD_CAPTURES:-$PWD/../shared/captures}
tmp=$(mktemp -d)
tap_results=0
tap_failures=0

# What a test has to undo at its end, whatever happens: at_exit COMMAND..., last one first.
tap_undo=()
at_exit() {
	tap_undo=("$(printf '%q ' "$@")" "${tap_undo[@]}")
}

tap_cleanup() {
	local command
	for command in "${tap_undo[@]}"; do
		eval "$command"
	done
	rm -rf "$tmp"
}
trap tap_cleanup EXIT
trap 'exit 143' TERM INT

# pass NAME
pass() {
	echo "ok $((++tap_results)) - $*"
}

# fail NAME [LINE...]: the lines say what was found
fail() {
	echo "not ok $((++tap_results)) - $1"
	tap_failures=$((tap_failures + 1))
	shift
	[ $# = 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}

# skip NAME WHY
skip() {
	echo "ok $((++tap_results)) - $1 # SKIP $2"
}

# check NAME COMMAND...: pass if the command succeeds, else fail with its output
check() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "exit code $? from: $*" "$output"
	fi
}

# check_equal NAME EXPECTED FOUND
check_equal() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "expected: $2" "found: $3"
	fi
}

# check_command NAME CODE STDOUT STDERR COMMAND...: the exit code, and an extended regular
# expression for each stream; an empty one means that the stream stays empty.
check_command() {
	local name=$1 code=$2 out=$3 err=$4 found stream pattern wrong=
	shift 4
	"$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	found=$?
	[ $found = "$code" ] || wrong="exit code $found instead of $code"
	for stream in stdout stderr; do
		[ $stream = stdout ] && pattern=$out || pattern=$err
		if [ -z "$pattern" ]; then
			[ ! -s "$tmp/$stream" ] || wrong="$wrong; $stream is not empty"
		else
			grep -Eq -e "$pattern" "$tmp/$stream" || wrong="$wrong; no $pattern on $stream"
		fi
	done
	if [ -z "$wrong" ]; then
		pass "$name"
	else
		fail "$name" "${wrong#; } from: $*" "$(head -c 2000 "$tmp/stdout")" \
			"$(head -c 2000 "$tmp/stderr")"
	fi
}

# Print the plan; the exit code says whether everything passed.
finish() {
	echo "1..$tap_results"
	exit $((tap_failures > 0))
}

# wait_until COMMAND...: within half a minute, as CI machines may be busy
wait_until() {
	local end=$((SECONDS + 30))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "# in vain: $*"
			return 1
		fi
		sleep 0.05
	done
}
