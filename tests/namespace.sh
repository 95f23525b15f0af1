# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sourced by lib.sh in tests/netns and tests/cluster, instead of tap.sh, which it sources: what tests with namespaces
# have in common. Skips everything without root.
# shellcheck disable=SC2034,SC2154 # used by, and from, those who source this
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

if [ "$(id -u)" != 0 ]; then
	skip "needs namespaces and BPF" "not root"
	finish
fi

frames=$PWD/tests/netns/frames.py
send=$BUILD/tests/tools/send

# namespace NAME: one without chatter of its own
namespace() {
	ip netns add "$1"
	at_exit ip netns del "$1"
	nsenter --net="/run/netns/$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
}
