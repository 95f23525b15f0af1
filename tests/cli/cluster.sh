#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Options of several hosts: what makes no sense is refused in one line, which shows no password.
. "$(dirname "$0")/../tap.sh"

refuses() {
	local pattern=$1
	shift
	check_command "$*" 2 '' "$pattern" "$xdd" "$@"
	check_equal "$*: one line" 1 "$(wc -l <"$tmp/stderr")"
	check_equal "$*: no password" 0 "$(grep -c geheim "$tmp/stderr")"
}

refuses '--nats: it begins with nats://' agent --nats http://u:geheim@a
refuses '--nats: a host is missing' agent --nats nats://u:geheim@
refuses '--nats: a host is missing' agent --nats nats://u:geheim@a,tls://
refuses '--silence is for several hosts: add --nats' agent --silence 2s
refuses '--push is for several hosts: add --nats' agent --push dirty:10%
refuses '--nats: a port is 1 to 65535' agent --nats nats://u:geheim@a:70000
refuses '--nats: a server has no path' agent --nats nats://u:geheim@a:4222/x
check_command "a wrong URL in the variable is wrong usage" 2 '' 'XDP_DEDUP_NATS: it begins with' env XDP_DEDUP_NATS=http://a "$xdd" agent
refuses '--nats-cert and --nats-key go together' agent --nats nats://a --nats-cert a.pem
refuses 'add --peers N' run eth9 --nats nats://a
refuses 'share-watch is for several hosts: add --nats' agent --share-watch a
refuses 'share-watch a.b.c: not a host' agent --nats nats://a --share-watch a.b.c
refuses 'share-watch .b: not a host' agent --nats nats://a --share-watch .b
refuses 'share-watch: *-x: not a host|share-watch -x' agent --nats nats://a --share-watch -x
refuses 'add --watch-action' run eth9 --nats nats://a --share-watch a
refuses 'host a.b: not a name' agent --nats nats://a --host a.b
refuses 'silence 1ms: ' agent --nats nats://a --silence 1ms
refuses 'max-density 2: ' agent --nats nats://a --max-density 2
refuses 'push every:5: ' agent --nats nats://a --push every:5
check_command "the variable stands for --nats" 2 '' 'silence 1ms' env XDP_DEDUP_NATS=nats://a "$xdd" agent --silence 1ms
check_command "and is checked like it" 2 '' 'XDP_DEDUP_NATS: it begins with' env XDP_DEDUP_NATS=u:geheim@a "$xdd" agent
check_command "certificates that are not there" 1 '' '/nowhere' "$xdd" agent --nats nats://a --nats-ca /nowhere
finish
