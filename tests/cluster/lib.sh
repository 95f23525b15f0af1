# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sourced by the tests with several hosts, instead of tap.sh, which it sources. Hosts a, b, c, each with
# namespaces of its own: network, mounts (so pins are its own), processes. `tap` of a host takes what is
# `feed` to it, `bus` leads to a NATS server in a network namespace of the server's. Names hold the process id.
# shellcheck disable=SC2034,SC2154 # used by, and from, those who source this
. "$(dirname "${BASH_SOURCE[0]}")/../namespace.sh"

PATH=$PATH:/usr/sbin:/sbin
server_ns=xdd$$s
declare -A keeper number agents
running=()

# End what was started here: pids.
end_all() {
	[ ${#running[@]} = 0 ] || kill -9 "${running[@]}" 2>/dev/null
	wait 2>/dev/null
}

namespace $server_ns
ip -n $server_ns link set lo up

# host NAME: a namespace that is up, with address 10.77.N.2; the server is 10.77.N.1 to it
host() {
	local ns=xdd$$$1 n=$((${#number[@]} + 1))
	number[$1]=$n
	namespace "$ns"
	ip -n "$ns" link set lo up
	ip link add "to_$1" netns $server_ns type veth peer name bus netns "$ns"
	ip -n $server_ns addr add 10.77."$n".1/24 dev "to_$1"
	ip -n "$ns" addr add 10.77."$n".2/24 dev bus
	ip -n $server_ns link set "to_$1" up
	ip -n "$ns" link set bus up
	ip link add feed netns "$ns" type veth peer name tap netns "$ns"
	ip -n "$ns" link set feed up
	ip -n "$ns" link set tap up
	nsenter --net="/run/netns/$ns" unshare --mount --uts --pid --fork --kill-child --mount-proc \
		sh -c "hostname $1; mount -t bpf bpf /sys/fs/bpf; mount -t tmpfs run /run; exec sleep infinity" &
	running+=($!)
	wait_until pgrep -P $! -x sleep
	keeper[$1]=$(pgrep -P $! -x sleep)
}

# on HOST COMMAND...
on() {
	local host=$1
	shift
	nsenter --target "${keeper[$host]}" --net --mount --uts --pid -- "$@"
}

# start_server [OPTION...]: nats-server, at 10.77.N.1:4222
start_server() {
	nsenter --net=/run/netns/$server_ns nats-server -a 0.0.0.0 -p 4222 "$@" \
		-l "$tmp/nats.log" >/dev/null 2>&1 &
	server=$!
	running+=("$server")
}
stop_server() {
	kill -9 "$server"
	wait "$server" 2>/dev/null
}

# url HOST: of the server
url() { echo "nats://${login-}10.77.${number[$1]}.1:4222"; }

# load HOST OPTION...: an instance called `tap`
load() {
	local host=$1
	shift
	on "$host" "$xdd" load tap --quiet --secret-file "$tmp/secret" "$@" >"$tmp/$host.load" 2>&1 && return
	sed 's/^/# /' "$tmp/$host.load"
	return 1
}

# metrics HOST: what its agent serves with --metrics 127.0.0.1:9435
metrics() { on "$1" python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9435/metrics').read().decode())"; }

# launch HOST FILE COMMAND...: in the background, as process $launched; what it says goes to FILE
launch() {
	local host=$1 to=$2
	shift 2
	nsenter --target "${keeper[$host]}" --net --mount --uts --pid -- "$@" >>"$to" 2>&1 &
	running+=($!)
	wait_until pgrep -P $!
	launched=$(pgrep -P $!)
}

# start HOST COMMAND...: the program as its agent, which says what it says in $tmp/HOST.agent
start() {
	launch "$1" "$tmp/$1.agent" "${@:2}"
	agents[$1]=$launched
}

# agent HOST OPTION...: what it says goes to $tmp/HOST.agent
agent() {
	local host=$1
	shift
	start "$host" "$xdd" agent --nats "$(url "$host")" "$@"
}

# end_agent HOST SIGNAL
end_agent() {
	kill "-$2" "${agents[$1]}"
	wait_gone "${agents[$1]}"
}
wait_gone() {
	local i
	for i in $(seq 200); do
		[ -d "/proc/$1" ] || return 0
		sleep 0.02
	done
	return 1
}

# feed HOST FILE [RATE]
feed() { on "$1" "$send" feed "$2" "${3:-20000}" >"$tmp/$1.sent"; }

# json FILE EXPRESSION: Python over the file's content j
json() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# says HOST EXPRESSION, is HOST EXPRESSION, soon SECONDS HOST EXPRESSION: see look.py; what is said, whether it is
# true, and whether it becomes so
says() { tests/cluster/look.py "$xdd" "${keeper[$1]}" 0 "$2" 2>/dev/null; }
is() { soon 0 "$@"; }
soon() { tests/cluster/look.py "$xdd" "${keeper[$2]}" "$1" "$3"; }

# believes SECONDS HOST PEER: it becomes so
believes() { soon "$1" "$2" "p['$3']['state'] == 'live'"; }

# seen SECONDS HOST PEER N: N live keys of the peer become known
seen() { soon "$1" "$2" "p['$3']['keys'] >= $4 and p['$3']['state'] == 'live'"; }

# told HOST PEER: all that the peer has let pass is known, where windows are longer than the test
told() { seen 15 "$1" "$2" "$(count "$2" distinct)"; }

# log_has SECONDS HOST PATTERN: what its agent said
log_has() {
	local i
	for i in $(seq $((20 * $1))); do
		! grep -qi "$3" "$tmp/$2.agent" || return 0
		sleep 0.05
	done
	return 1
}

# packets FILE FIRST N: N different packets
packets() { "$frames" make "$1" --copies 0 --packets "$3" --first "$2"; }

# count HOST VERDICT
count() { says "$1" "i['counters']['total']['$2']['packets']"; }

# passed HOST FILE: how many of the packets in FILE pass at HOST
passed() {
	local before
	before=$(count "$1" distinct)
	feed "$1" "$2"
	echo $(($(count "$1" distinct) - before))
}

head -c 64 /dev/urandom >"$tmp/secret"
chmod 600 "$tmp/secret"
at_exit end_all
