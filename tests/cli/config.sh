#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --config: what the file says is as if it stood on the command line, which goes before it; what it
# should not say is refused with its line.
. "$(dirname "$0")/../tap.sh"

# conf LINE...: $tmp/tap.conf
conf() { printf '%s\n' "$@" >"$tmp/tap.conf"; }

# refused NAME PATTERN [ARGUMENT...]
refused() {
	local name=$1 pattern=$2
	shift 2
	check_command "$name" 2 '' "$pattern" "$xdd" load --config "$tmp/tap.conf" "$@"
}

conf '# of a tap' 'interface = none0' '  window = 50ms   # a comment' 'refresh = yes' '' 'name=tap#1'
refused "a name with a # in it is no comment" 'load: .*tap.conf:6: --name tap#1: not'
conf 'interface = none0' 'refresh = no' 'memory = 1MiB'
check_command "the interface is the file's" 1 '' 'none0: there is no such interface' \
	"$xdd" load --config "$tmp/tap.conf"
check_command "... unless the command line has one" 1 '' '^xdp-dedup: load: none9: [^0]*$' \
	"$xdd" load "--config=$tmp/tap.conf" none9
refused "the file and the command line are checked together" \
	'tap.conf:3: --memory and --capacity both set the size' --capacity 1000
conf 'engine = nonsense'
refused "a wrong value" 'tap.conf:1: --engine nonsense: not an engine' lo
check_command "... that the command line has a right one for does not save" 2 '' 'tap.conf:1' \
	"$xdd" load --config "$tmp/tap.conf" --engine timer lo
conf 'window = 20ms' 'windw = 20ms'
refused "an unknown name, with its line" 'tap.conf:2: unknown option --windw.*--window' lo
conf 'write = out.pcap'
refused "an option of another command" 'takes no option -w: it is for pcap' lo
conf 'refresh = maybe'
refused "neither yes nor no" 'tap.conf:1: refresh is yes or no, not maybe' lo
for value in yes no; do
	conf "anything = $value"
	refused "an unknown name that is $value" 'tap.conf:1: unknown option --anything' lo
done
conf 'window = yes' 'memory = 1MiB'
refused "yes is no window" 'tap.conf:1: --window yes: not a time' lo
conf 'promisc = no' 'frags = yes' 'name = x#1'
refused "yes and no are on and off" 'tap.conf:3: --name x#1' lo
conf 'promisc = maybe'
refused "... and nothing else is" 'tap.conf:1: --promisc maybe: not on or off' lo
printf '\357\273\277window = 5\n' >"$tmp/tap.conf"
refused "a byte order mark is no part of the name" 'tap.conf:1: --window 5: ' lo
printf 'name = x\nwindow = 20ms\0#\n' >"$tmp/tap.conf"
refused "a byte 0" 'tap.conf:2: a byte 0: not a text file' lo
conf "$(printf 'na\033[2Jme = x')"
refused "an escape sequence does not reach the terminal" 'tap.conf:1: unknown option --na[?][[]2Jme' lo
for line in window '= 20ms' 'window =' '--window = 20ms'; do
	conf "$line"
	refused "'$line'" 'tap.conf:1: not .name = value' lo
done
conf 'queit = yes'
refused "a name with two letters exchanged" 'did you mean --quiet' lo
conf 'window = 20ms' 'memory = 1MiB' '' 'window = 30ms'
refused "a name that is there twice" 'tap.conf:4: window is in line 1 already' lo
conf 'refresh = no' 'refresh = yes'
refused "... be it yes and no" 'tap.conf:2: refresh is in line 1 already' lo
conf 'config = other.conf'
refused "a file in a file" 'tap.conf:1: config has no place in a file' lo
conf "window = $(printf '%5000s' 1)"
refused "a line of 5000 characters" 'tap.conf:1: a line too long' lo
head -c 100000 /dev/urandom >"$tmp/tap.conf"
refused "noise" 'tap.conf:' lo
mkfifo "$tmp/fifo"
check_command "a pipe without a writer" 2 '' "load: $tmp/fifo: not a regular file" \
	timeout 5 "$xdd" load --config "$tmp/fifo" lo
check_command "an endless file" 2 '' 'load: /dev/zero: longer than a file' \
	timeout 5 "$xdd" load --config /dev/zero lo
yes '# x' | head -c 2000000 >"$tmp/tap.conf"
refused "a file of 2 MB" 'tap.conf: longer than a file of options can be' lo
check_command "/dev/null is a file without options" 1 '' 'none0: there is no such interface' \
	"$xdd" load --config /dev/null none0
check_command "no such file" 2 '' 'load: /none/tap.conf: No such file' \
	"$xdd" load --config /none/tap.conf lo
check_command "a folder" 2 '' 'load: /: Is a directory' "$xdd" load --config / lo
check_command "another command has no --config" 2 '' 'status: takes no option --config' \
	"$xdd" status --config "$tmp/tap.conf"
finish
