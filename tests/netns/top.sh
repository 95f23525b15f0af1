#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# top: as text, as JSON, and live under tmux on terminals of several sizes and kinds; what is loaded may come and go,
# and the terminal is left as it was.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

"$frames" make "$tmp/in.pcap" --packets 10000 --copies 1
load "$in" --window 1s --audit 1 --memory 1MiB --fault-policy distinct
check_command "no packets" 0 "^$in +NO PACKETS " '' "$xdd" top "$in" --once --interval 100ms
transmit "$tmp/in.pcap"
"$xdd" status "$in" --json >"$tmp/json"
check_equal "each copy has its distance" 10000 "$(json "$tmp/json" 'j[0]["copy_distance"]["sampled"]')"
check_equal "... in one bucket" 10000 \
	"$(json "$tmp/json" 'sum(b["copies"] for b in j[0]["copy_distance"]["buckets"])')"
check_command "status says so in words" 0 'apart +half of the copies came within .* of the first one' '' \
	"$xdd" status "$in"
"$xdd" set "$in" --window 900ms --restart --quiet
check_equal "they are kept through set --restart" 10000 \
	"$("$xdd" status "$in" --json | json /dev/stdin 'j[0]["copy_distance"]["sampled"]')"

# The same packets again and again, each time long after the window, until they are told to end.
in_tx bash -c 'trap "kill \$!; exit" TERM; while "$@" & wait $!; do :; done' flow \
	"$send" "$out" "$tmp/in.pcap" 2000 >"$tmp/sent" &
at_exit kill $!
half() { grep -Eq "^$in .* (49\.[5-9]|50\.[0-4]) %" "$tmp/stdout"; }
flows() { "$xdd" top "$in" --once --interval 500ms >"$tmp/stdout" && half; }
check "under traffic, half of the packets are copies" wait_until flows
check "... all is well" grep -Eq "^$in +OK " "$tmp/stdout"
check "... distances" grep -Eq '^apart .*[0-9]k? copies, one key in 1' "$tmp/stdout"
check "... are short, as far as the clock can tell" grep -Eq '^  up to .* (99\.[0-9]|100\.0) %  #' "$tmp/stdout"
check "... slices" grep -Eq '^slices +\[\.+\] [0-9]+ slices ok' "$tmp/stdout"
check "... losses" grep -Eq '^ +FPR measured below [0-9.e-]+ \(0 of' "$tmp/stdout"
check_equal "... no line is wider than 80" "" "$(grep -E '.{81}' "$tmp/stdout")"
"$xdd" top "$in" --json --interval 500ms >"$tmp/json"
check_equal "JSON: what status has, and rates" "ok True True True" "$(json "$tmp/json" \
	'"%s %s %s %s" % (j[0]["state"], j[0]["rates"]["total"]["received"] > 0,
	j[0]["rates"]["interfaces"][0]["interface"] == "'"$in"'", j[0]["counters"]["total"]["distinct"]["packets"] > 0)')"

"$xdd" fault "$in" --slice 0 --fail >/dev/null
check_command "a failed slice" 0 "^$in +1 WARNING " '' "$xdd" top "$in" --once --interval 100ms
check "... in words" grep -q '^! 1 of 512 slices failed: ' "$tmp/stdout"
check "... and in its place" grep -Eq '^slices +\[X\.+\]' "$tmp/stdout"
"$xdd" fault "$in" --slice 0 --recover >/dev/null
healed() { [ "$("$xdd" status "$in" --json | json /dev/stdin 'len(j[0]["warnings"])')" = 0 ]; }
check "... which comes back" wait_until healed
check_command "one that is not loaded" 1 '' "top: none$$: no such instance; loaded: $in" \
	"$xdd" top "none$$" --once
pair "x$out" "x$in"
load "x$in" --memory 64KiB
mv "$pins/x$in/counters" "$pins/x$in/counters_away"
check_command "one that cannot be read: the others are shown" 1 "(^|[ >*])$in " "top: .*Bad file descriptor" \
	"$xdd" top --once --interval 100ms
check_command "... as JSON" 1 "\"$in\"" "top: .*Bad file descriptor" "$xdd" top --json --interval 100ms
mv "$pins/x$in/counters_away" "$pins/x$in/counters"
check_command "... it can be read again" 0 "x$in " '' "$xdd" top --once --interval 100ms
"$xdd" unload "x$in"
in_tx ip link del "x$out"
check_command "an interval that is none" 2 '' 'interval 1ms: not a time from 100ms to 1h' "$xdd" top --interval 1ms

# Live. The shell in the terminal says how it was before and after.
tm() { tmux -L "xdd$$" -f /dev/null "$@" 2>/dev/null; }
at_exit tm kill-server
# live COMMAND-LINE [TERM]: top in a new terminal of 80x24
live() {
	cat >"$tmp/live" <<-END
		stty -g >$tmp/before
		env ${3:-} TERM=${2:-screen} sh -c 'echo \$\$ >$tmp/pid; exec $xdd $1 --interval 200ms'
		echo "code \$?"
		stty -g >$tmp/after
		exec sleep 1000
	END
	rm -f "$tmp/after" "$tmp/pid"
	tm kill-session
	# The server ends with its last session, and while it does takes no new one.
	wait_until tm new-session -d -x 80 -y 24 "sh $tmp/live"
}
screen() { tm capture-pane -p "$@" >"$tmp/screen"; }
shows() { screen && grep -Eq -e "$1" "$tmp/screen"; }
seen() { # NAME PATTERN
	if wait_until shows "$2"; then
		pass "$1"
	else
		fail "$1" "no $2 on the screen" "$(cat "$tmp/screen")"
	fi
}
restored() { [ -s "$tmp/after" ] && cmp -s "$tmp/before" "$tmp/after"; }

live "top $in"
seen "a screen" "^$in +OK .*[0-9]:[0-9]"
seen "... with keys in its last row" '^q quit'
seen "... and rates" "^$in +[1-9][0-9.]*k? .* (49\.[5-9]|50\.[0-4]) %"
tm resize-window -x 60 -y 20
narrow() { screen && [ "$(sed -n 20p "$tmp/screen" | cut -c 1-6)" = "q quit" ] && ! grep -q bypassed "$tmp/screen"; }
check "60x20: fewer columns, keys in row 20" wait_until narrow
tm resize-window -x 30 -y 6
seen "30x6: words" '^30x6 is too small: 40x8'
tm resize-window -x 120 -y 40
wide() { screen && [ "$(sed -n 40p "$tmp/screen" | cut -c 1-6)" = "q quit" ] && grep -q '^$' "$tmp/screen"; }
check "120x40: keys in row 40, and space between parts" wait_until wide
tm send-keys h
seen "h: what the words mean" 'missed: copies that passed'
tm send-keys h p
seen "p: paused" 'paused  '
tm send-keys p q
seen "q: it ends well" '^code 0'
check "... and leaves the terminal as it was" wait_until restored

live "top $in" vt100
seen "vt100" "^$in +OK "
screen -e
check_equal "... without a colour" "" "$(grep -E $'\e\\[[0-9;]*[34][0-8]m' "$tmp/screen")"
kill -TERM "$(cat "$tmp/pid")"
seen "SIGTERM: it ends well" '^code 0'
check "... and leaves the terminal as it was" wait_until restored
live "top $in" screen-256color
seen "a terminal with colours" "^$in +OK "
screen -e
check "... has some" grep -Eq $'\e\\[[0-9;]*3[0-9]m' "$tmp/screen"
live "top $in" screen-256color NO_COLOR=1
seen "NO_COLOR" "^$in +OK "
screen -e
check_equal "... has none" "" "$(grep -E $'\e\\[[0-9;]*[34][0-8]m' "$tmp/screen")"
live "top $in" nonsense
seen "a terminal that nobody knows" 'TERM=nonsense is no terminal that is known'
seen "... is a failure" '^code 1'

# Sides beyond 16 bits, from the start and later.
# huge FROM TO: rows of the terminal at first and then; prints what top exits with
huge() {
	python3 - "$xdd" "$in" "$@" <<'END'
import fcntl, os, pty, signal, struct, sys, termios, time, threading
program, instance, *rows = sys.argv[1:]
pid, terminal = pty.fork()
def size(number, of):
    fcntl.ioctl(of, termios.TIOCSWINSZ, struct.pack("HHHH", int(number), 80, 0, 0))
if pid == 0:
    size(rows[0], 0)
    os.environ["TERM"] = "screen"
    os.execv(program, [program, "top", instance])
def drain():
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
threading.Thread(target=drain, daemon=True).start()
time.sleep(0.5)
size(rows[1], terminal)
time.sleep(1.5)
os.write(terminal, b"q")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}
check_equal "40000 rows" 0 "$(huge 40000 40000)"
check_equal "... from 24" 0 "$(huge 24 40000)"
check_equal "... and to 1" 0 "$(huge 40000 1)"

# Several; they come and go.
pair "2$out" "2$in"
load "2$in" --window 1s --memory 1MiB
live top
seen "a list of what is loaded" "^$in .* ok"
seen "... of both" "^2$in .* no packets"
tm send-keys Enter
seen "Enter shows the chosen one" "^(2?$in) .* 1 of "
first=$(sed -n '1s/ .*//p' "$tmp/screen")
tm send-keys Tab
other() { screen && [ "$(sed -n '1s/ .*//p' "$tmp/screen")" != "$first" ] && grep -q ' 2 of ' "$tmp/screen"; }
check "tab shows the next one" wait_until other
pair "z$out" "z$in"
load "z$in" --window 1s --memory 1MiB
in_tx ip link set dev "z$out" down
tm send-keys l
seen "a third one, without a carrier, is counted" "^xdp-dedup: 3 instances, 1 with warnings"
check "... and first in the list" grep -q "^z$in .*no carrier" <(sed -n 3p "$tmp/screen")
tm send-keys End Enter
seen "End, Enter: the last one of the list" "^2?$in .* 3 of 3"
tm send-keys Home
seen "Home: the first one" "^z$in +1 WARNING .* 1 of 3"
tm send-keys PageDown
seen "PageDown: not beyond the last one" " 3 of 3"
"$xdd" unload "z$in"
tm kill-session
live "top 2$in"
seen "one by its name" "^2$in +NO PACKETS"
"$xdd" unload "2$in"
seen "unloaded while it is shown: said in words" "2$in: no such instance; loaded: .*$in"
load "2$in" --window 1s --memory 1MiB
seen "loaded again: it is shown again" "^2$in +NO PACKETS"
tm kill-session
finish
