#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Bad values and absurd sizes: one line on stderr, exit code 2 (usage) or 1, nothing written.
. "$(dirname "$0")/../tap.sh"

# An Ethernet capture without a frame.
capture=$tmp/in.pcap
printf '\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0' >"$capture"

# refuses CODE PATTERN ARGUMENT...
refuses() {
	local code=$1 pattern=$2
	shift 2
	check_command "pcap $*" "$code" '' "$pattern" "$xdd" pcap "$capture" "$@"
	check_equal "pcap $*: one line" 1 "$(wc -l <"$tmp/stderr")"
}

refuses 2 'window 12abc.*--window 20ms' --window 12abc
refuses 2 "window ''" --window ''
refuses 2 'window -5' --window -5
refuses 2 'window 20:' --window 20
refuses 2 'window 99999999999999999999s' --window 99999999999999999999s
refuses 2 '-w 0.05: .*editcap.*--window 50ms' -w 0.05
refuses 2 '-w 5: .*editcap' -w 5
refuses 2 'memory 64Mi:' --memory 64Mi
refuses 2 'memory 99999999999TiB' --memory 99999999999TiB
refuses 1 'TiB.*are free.*--memory' --memory 16000000TiB
refuses 1 'are free.*--capacity' --engine timer --capacity 18000000000G
refuses 2 'ticks 120.*1 to 119' --ticks 120
refuses 2 'did you mean exact' --engine exat
refuses 2 'one packet per key and window' --key flow
refuses 2 'takes no option --action' --action drop
refuses 2 'needs a value: TIME' --window
refuses 2 'json takes no value' --json=1
refuses 2 'only|timer' --engine tagged --hashes 3
check_command "pcap without an input" 2 '' 'too few arguments: xdp-dedup pcap IN' "$xdd" pcap
check_equal "nothing was written beside the input" in.pcap \
	"$(cd "$tmp" && ls -d -- *.pcap 0.05 5 2>/dev/null)"
check_command "a good command line" 0 '' '' "$xdd" pcap "$capture" -w "$tmp/out.pcap" --quiet
check "an empty capture stays as it is" cmp "$capture" "$tmp/out.pcap"
finish
