#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# watch: what it says to wrong words, before it looks for an instance.
. "$(dirname "$0")/../tap.sh"

refuses() {
	local code=$1 pattern=$2
	shift 2
	check_command "watch $*" "$code" '' "$pattern" "$xdd" watch "$@"
	check_equal "watch $*: one line" 1 "$(wc -l <"$tmp/stderr")"
}

refuses 2 'too few arguments: xdp-dedup watch NAME add'
refuses 2 'too few arguments' tap
refuses 2 'adde: not add, del, load.*did you mean add' tap adde 192.0.2.1
refuses 2 'add what\? give KEY' tap add
refuses 2 'del what\? give KEY' tap del
refuses 2 'load what\? give a FILE' tap load
refuses 2 'save what\? give a FILE' tap save
refuses 2 'b is one argument too many for load' tap load a b
refuses 2 'x is one argument too many for stats' tap stats x
refuses 2 'x is one argument too many for clear' tap clear x
refuses 2 'takes no option --window' tap stats --window 20ms
check_command "load: a word that is none" 2 '' 'not what is done.*did you mean only' \
	"$xdd" load nope --watch-action onyl
check_command "load: no key at all" 2 '' 'watch-keys 0' "$xdd" load nope --watch-action only --watch-keys 0
check_command "help watch" 0 'select +those of the set' '' "$xdd" help watch
check_command "watch --help" 0 'NAME add\|del' '' "$xdd" watch --help
if [ "$(id -u)" = 0 ]; then
	refuses 1 'nope.*no' "nope$$" stats
else
	skip "watch of what is not loaded" "not root"
fi
finish
