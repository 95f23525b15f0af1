#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The units: systemd has nothing against them, and what they start works with the capabilities that they
# leave, says when it is ready, that it is alive and that it ends. There is no systemd here to start
# them: the command, the capabilities and the watchdog are read from the unit.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

check "there is systemd-analyze" command -v systemd-analyze
for unit in xdp-dedup xdp-dedup@tap; do
	sed "s|/usr/sbin/xdp-dedup|$xdd|" "scripts/service/${unit%tap}.service" >"$tmp/$unit.service"
	check_equal "systemd has nothing against $unit" "" \
		"$(systemd-analyze verify --man=no "$tmp/$unit.service" 2>&1 | grep -F "$unit")"
done

# field UNIT KEY: what the unit has for it
field() { sed -n "s/^$2=//p" "scripts/service/$1.service"; }

# hear FILE: a service manager's socket, $NOTIFY_SOCKET; what it hears goes to FILE
hear() {
	export NOTIFY_SOCKET=$tmp/notify
	rm -f "$NOTIFY_SOCKET"
	python3 -u - "$NOTIFY_SOCKET" >"$1" <<-'END' &
		import socket, sys
		heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		heard.bind(sys.argv[1])
		while True:
		    print(heard.recv(4096).decode())
	END
	heard=$!
	at_exit kill "$heard"
	wait_until test -S "$NOTIFY_SOCKET"
}

# start UNIT: as it would be started
start() {
	local caps
	caps=$(field "$1" CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	export WATCHDOG_USEC=2000000
	# shellcheck disable=SC2046 # a command line
	nsenter --net="/run/netns/$rx" setpriv --no-new-privs --bounding-set="-all,$caps" --inh-caps="-all,$caps" \
		$(field "$1" ExecStart | sed "s|/usr/sbin/xdp-dedup|$xdd|; s|/etc/xdp-dedup/%i|$tmp/$in|; s|%i|$in|;
			s|:9435|:$port|") >"$tmp/started" 2>&1 &
	started=$!
}
end_started() { [ -z "$started" ] || kill -9 "$started" 2>/dev/null; }
started=
at_exit end_started
in_rx ip link set lo up
port=$((20000 + $$ % 10000))

# stop: as systemd does
stop() {
	kill -TERM "$started"
	wait "$started"
	check_equal "... and ends with 0" 0 $?
	started=
	check "... which it says before" grep -q STOPPING=1 "$tmp/heard"
}
beats() { [ "$(grep -c WATCHDOG=1 "$tmp/heard")" -ge 3 ]; }

printf 'interface = %s\n' "$in" >"$tmp/$in.conf"
sed '/^interface/d; /^metrics/d' scripts/service/example.conf >>"$tmp/$in.conf"
"$frames" make "$tmp/frames.pcap" --packets 100 --copies 1
hear "$tmp/heard"
start xdp-dedup@
check "xdp-dedup@ says that it is ready" wait_until grep -q READY=1 "$tmp/heard"
check "... when it is attached" test "$(program_id "$in")" != 0
check "... is alive" wait_until beats
transmit "$tmp/frames.pcap"
check_equal "... works: the example counts duplicates and passes them" "200 100 100 0 200 0 0 0" \
	"$(counters "$in")"
check_equal "... with the window and the memory of the example" "20000000 33554432" \
	"$("$xdd" status "$in" --json | json /dev/stdin \
		'"%d %d" % (j[0]["config"]["window_ns"], j[0]["config"]["memory_bytes"])')"
check_equal "... and says nothing" "" "$(cat "$tmp/started")"

# reload [LINE...]: as systemd does, with what the file says now; waits until it is done, with what was said in $tmp/said
reload() {
	local line
	cp "$tmp/example.conf" "$tmp/$in.conf"
	for line in "$@"; do sed -i "/^${line%% *} /d" "$tmp/$in.conf"; done
	printf '%s\n' "interface = $in" "$@" >>"$tmp/$in.conf"
	reload_as_is
}
reload_as_is() {
	local before
	before=$(grep -c READY=1 "$tmp/heard")
	: >"$tmp/started"
	# shellcheck disable=SC2046,SC2091 # a command line
	$(field xdp-dedup@ ExecReload | sed "s/\$MAINPID/$started/")
	wait_until ready_after "$before"
	cp "$tmp/started" "$tmp/said"
}
ready_after() { [ "$(grep -c READY=1 "$tmp/heard")" -gt "$1" ]; }
configured() { "$xdd" status "$in" --json | json /dev/stdin "j[0]['config']['$1']"; }
id=$(program_id "$in")
pair "p$out" "x$in"
sed '/^interface/d; /^metrics/d; /^action/d' scripts/service/example.conf >"$tmp/example.conf"
reload 'action = drop' "interface = x$in"
check "reload: it says so, and when" grep -Eq 'MONOTONIC_USEC=[0-9]+$' "$tmp/heard"
check_equal "... what changed is applied" "drop" "$(configured action)"
check_equal "... an interface that came is attached, all to the same program" "$id $id" \
	"$(program_id "$in") $(program_id "x$in")"
check_equal "... which is logged, also with --quiet" "xdp-dedup: reload: $in: changed: --action, +x$in" "$(cat "$tmp/said")"
reload 'action = count' 'memory = 1MiB' 'max-suppress = 3'
check "what takes a restart is told" grep -q -- '--memory has changed, which takes a restart' "$tmp/said"
check_equal "... and the rest is applied" "count 3 33554432" \
	"$(configured action) $(configured max_suppress) $(configured memory_bytes)"
check_equal "... an interface that went is detached" "$id 0" "$(program_id "$in") $(program_id "x$in")"
reload 'action = nonsense' 'max-suppress = 9'
check "a file with an error is told" grep -q "reload: $tmp/$in.conf:[0-9]*: --action nonsense" "$tmp/said"
check_equal "... and changes nothing" "count 3" "$(configured action) $(configured max_suppress)"
cp "$tmp/example.conf" "$tmp/$in.conf"
reload_as_is
check "a file without an interface is told" grep -q "reload: $in: the file names no interface: it goes on" "$tmp/said"
reload 'action = redirect:none0'
check "what set refuses is told" grep -q "reload: none0: there is no such interface" "$tmp/said"
check_equal "... and changes nothing" "count 3" "$(configured action) $(configured max_suppress)"
reload
check_equal "what is no longer there goes back to its default" "drop 0" \
	"$(configured action) $(configured max_suppress)"
check "... by the same program, which goes on" test "$id" = "$(program_id "$in")"
stop
check "nothing is loaded then" test ! -e "$pins/$in"

load "$in" --memory 1MiB
: >"$tmp/heard"
start xdp-dedup
check "xdp-dedup says that it is ready" wait_until grep -q READY=1 "$tmp/heard"
check "... is alive" wait_until beats
swept() { [ "$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["ager"]["pid"]')" = "$started" ]; }
check "... ages what is loaded" wait_until swept
check "... serves metrics" wait_until in_rx python3 -c "import urllib.request
assert b'xdp_dedup_up' in urllib.request.urlopen('http://127.0.0.1:$port/metrics').read()"
stop
finish
