#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Help, version, and what is said about a command line that makes no sense.
. "$(dirname "$0")/../tap.sh"

names_of() {
	sed -n "/^$1/,/^$/p" | awk '/^  [a-z]/ { print $1 }'
}

check_command "--help is on stdout" 0 '^usage: xdp-dedup' '' "$xdd" --help
check_command "-h is --help" 0 '^usage: xdp-dedup' '' "$xdd" -h
check_command "help is --help" 0 '^usage: xdp-dedup' '' "$xdd" help
check_command "--version" 0 '^xdp-dedup [0-9]+\.[0-9]+' '' "$xdd" --version
check_command "no command: help on stderr" 2 '' '^usage: xdp-dedup' "$xdd"

commands=$("$xdd" --help | names_of Commands)
options=$("$xdd" --help | grep -cE '^  (-.,|   ) --')
check "--help names commands" test -n "$commands"
check "--help names at most ten commands" test "$(wc -w <<<"$commands")" -le 10
check_equal "--help shows fifteen options" 15 "$options"
check_equal "no line of --help is wider than 100" "" "$("$xdd" --help | grep -E '.{101}')"
for topic in engines cluster detection sites trees plan papers faults; do
	check_command "help $topic" 0 '.' '' "$xdd" help $topic
done
for engine in tagged timer exact bloom sbf rsbf bsbf bsbfsd rlbsbf; do
	check_command "help engines explains $engine" 0 "^  $engine +[A-Za-z]" '' "$xdd" help engines
done
for command in $commands explain bench simulate joint site fault top; do
	check_command "$command --help" 0 "^usage: xdp-dedup $command" '' "$xdd" "$command" --help
	check_equal "help $command is $command --help" "$("$xdd" "$command" --help)" \
		"$("$xdd" help "$command")"
	check_command "$command refuses an unknown option" 2 '' "$command: .*--jsno.*--json" \
		"$xdd" "$command" --jsno
	check_equal "no line of $command --help is wider than 100" "" \
		"$("$xdd" "$command" --help | grep -E '.{101}')"
done

check_command "an unknown command names the nearest" 2 '' 'unknown command pcpa.*pcap' "$xdd" pcpa
check_command "an unknown topic names the nearest" 2 '' 'unknown topic engine.*engines' \
	"$xdd" help engine
check_command "an empty command" 2 '' "unknown command ''" "$xdd" ''
check_command "an option before the command" 2 '' 'the command comes first' "$xdd" --json pcap
# shellcheck disable=SC2016 # the inner shell expands it
check_command "output that cannot be written is a failure" 1 '' 'cannot write to stdout' \
	bash -c '"$0" --help >/dev/full' "$xdd"
check_command "help --help" 0 '^usage: xdp-dedup COMMAND' '' "$xdd" help --help
finish
