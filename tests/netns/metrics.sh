#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --metrics and --textfile: promtool finds nothing to blame, Debian's Prometheus scrapes what status
# says, counters never go back, and who scrapes badly disturbs nobody.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

port=$((20000 + $$ % 10000))
address=127.0.0.1:$port

# get PATH [ACCEPT [METHOD]]: the page to $tmp/page, the status and the type to stdout
get() {
	python3 - "http://$address$1" "${2:-*/*}" "${3:-GET}" "$tmp/page" <<-'END'
		import sys, urllib.error, urllib.request
		url, accept, method, file = sys.argv[1:]
		try:
		    answer = urllib.request.urlopen(urllib.request.Request(
		        url, headers={"Accept": accept}, method=method,
		        data=b"x" * 100000 if method == "POST" else None), timeout=5)
		except urllib.error.HTTPError as error:
		    answer = error
		open(file, "wb").write(answer.read())
		print(answer.status, answer.headers["Content-Type"].split(";")[0])
	END
}

# sum METRIC LABEL: of the samples on the page that have the label
sum() {
	grep -F "xdp_dedup_$1{" "$tmp/page" | grep -F "$2" | awk '{ n += $NF } END { print n + 0 }'
}

start() {
	"$xdd" "$@" >"$tmp/started" 2>&1 &
	started=$!
}
stop() {
	[ -z "$started" ] || { kill -INT "$started"; wait "$started"; } 2>/dev/null
	started=
}
started=
at_exit stop

served() { get /metrics >/dev/null && [ "$(sum up '')" -ge "${1:-1}" ]; }

"$frames" make "$tmp/frames.pcap" --packets 500 --copies 1
start run "$in" --netns "$rx" --quiet --window 1s --audit 1 --metrics "$address" --textfile "$tmp/x.prom"
check "run serves its instance" wait_until served
transmit "$tmp/frames.pcap"
check_equal "as text" "200 text/plain" "$(get /metrics)"
check "promtool finds nothing to blame" promtool check metrics <"$tmp/page"
cp "$tmp/page" "$tmp/first"
check_equal "packets by verdict" "500 500" \
	"$(sum packets_total 'verdict="distinct"') $(sum packets_total 'verdict="duplicate"')"
check_equal "... their sum is that of the actions" "$(sum packets_total '')" "$(sum actions_total '')"
check_equal "... in bytes, too" "$(sum bytes_total '')" "$(sum action_bytes_total '')"
check_equal "distances of all copies" "500 500" \
	"$(sum copy_distance_seconds_bucket 'le="+Inf"') $(sum copy_distance_seconds_count '')"
check_equal "... none of them beyond the window" 500 "$(sum copy_distance_seconds_bucket 'le="1.048576"')"
# A name that is not UTF-8.
bad=$(printf 'b\377%s' $$)
pair "b$out" "$bad"
"$xdd" set "$in" --add "$bad" --quiet
get /metrics >/dev/null
check "a name that is not UTF-8: promtool finds nothing to blame" promtool check metrics <"$tmp/page"
check_equal "... it is there with a replacement" 1 "$(sum attached "$(printf 'interface="b\357\277\275%s"' $$)")"
check_equal "... in the JSON of status, too" "$(printf 'b\357\277\275%s' $$)" \
	"$("$xdd" status "$in" --json | PYTHONIOENCODING=utf-8 json /dev/stdin 'j[0]["interfaces"][1]["name"]')"
check "... not raw for the terminal" grep -q "b?$$ (attached" <("$xdd" status "$in")
in_rx ip link set "$bad" netns "$tx"
get /metrics >/dev/null
check_equal "one that has moved is attached" 1 "$(sum attached 'state="moved"')"
in_tx ip link set "$bad" netns "$rx"
"$xdd" set "$in" --remove "$bad" --quiet
in_tx ip link del "b$out"
# now_is SECONDS FILE: its numbers were read at most so long ago
now_is() {
	awk -v now="$(date +%s)" -v most="$1" '/^xdp_dedup_read_timestamp_seconds/ { at = $2 }
		END { exit !(at > now - most && at < now + 2) }' "$2"
}
check "read now" now_is 2 "$tmp/page"
check_equal "attached" 1 "$(sum attached 'state="attached"')"
check_equal "the window" 1 "$(sum window_seconds '')"
check_equal "every metric is in help metrics, and nothing else" \
	"$("$xdd" help metrics | grep -o 'xdp_dedup_[a-z_]*' | sort -u)" \
	"$(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$tmp/page" | sort -u)"

check_equal "OpenMetrics where it is asked for" "200 application/openmetrics-text" \
	"$(get /metrics 'application/openmetrics-text; version=1.0.0')"
check_equal "... which has an end" "# EOF" "$(tail -n 1 "$tmp/page")"
check_equal "... not where it is refused" "200 text/plain" \
	"$(get /metrics 'application/openmetrics-text; q=0, text/plain;version=0.0.4')"
check_equal "another page" "404 text/plain" "$(get /other)"
check_equal "a POST with a long body" "405 text/plain" "$(get /metrics '*/*' POST)"

# One that connects and says nothing, 80 times, from another address of this host.
silent() {
	python3 - "$port" >"$tmp/refused" <<-'END' &
		import select, socket, sys, time
		held = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), source_address=("127.0.0.2", 0))
		        for _ in range(80)]
		held[0].send(b"GET /metrics HTTP/1.1\r\nHost:")
		time.sleep(1)
		print(len(select.select(held, [], [], 0)[0]), flush=True)
		time.sleep(60)
	END
	silent=$!
}
silent
check "one address can hold some connections" wait_until grep -q . "$tmp/refused"
check_equal "... but not all" 56 "$(cat "$tmp/refused")"
check "those who connect and say nothing hold up nobody" served
kill "$silent"

# One that sends a byte of its header now and then; how long it may.
trickle() {
	timeout 30 python3 - "$port" <<-'END'
		import socket, sys, time
		slow = socket.create_connection(("127.0.0.1", int(sys.argv[1])), source_address=("127.0.0.3", 0))
		slow.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
		slow.settimeout(0.5)
		began = time.monotonic()
		while True:
		    try:
		        slow.sendall(b"a")
		        if not slow.recv(1):
		            break
		    except TimeoutError:
		        continue
		    except OSError:
		        break
		print(8 < time.monotonic() - began < 20)
	END
}
check_equal "who sends its header a byte at a time has 10 seconds" True "$(trickle)"

# lower BEFORE AFTER: counters that went back
lower() {
	python3 - "$@" <<-'END'
		import sys
		before, after = ({line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in open(file)
		                  if "_total{" in line} for file in sys.argv[1:])
		print(*[name for name, value in before.items() if after.get(name, -1) < value])
	END
}
# Walks that do not begin in time.
kill -STOP "$started"
sleep 2.5
kill -CONT "$started"
missed() { get /metrics >/dev/null && [ "$(sum ager_missed_total '')" -ge 1 ]; }
check "a walk that is late is counted" wait_until missed
cp "$tmp/page" "$tmp/first"
"$xdd" set "$in" --window 500ms --action count --quiet
transmit "$tmp/frames.pcap"
get /metrics >/dev/null
check_equal "set: no counter goes back" "" "$(lower "$tmp/first" "$tmp/page")"
"$xdd" set "$in" --window 30s --restart --quiet
transmit "$tmp/frames.pcap"
check "served after set --restart" wait_until served
check_equal "set --restart: no counter goes back" "" "$(lower "$tmp/first" "$tmp/page")"
check_equal "... and they go on" 3000 "$(sum packets_total '')"

check "the file is there" promtool check metrics <"$tmp/x.prom"
check_equal "... under its own name only" x.prom "$(cd "$tmp" && echo *x.prom*)"

# A port that is taken keeps no tap unprotected.
pair "y$out" "y$in"
"$xdd" run "y$in" --netns "$rx" --quiet --metrics "$address" >"$tmp/out" 2>&1 &
second=$!
check "a port that is taken: loaded all the same" wait_until test -d "$pins/y$in"
stop
served_second() { get /metrics >/dev/null && grep -q "xdp_dedup_up{name=\"y$in\"} 1" "$tmp/page"; }
check "... served when the port is free" wait_until served_second
check_equal "... which is said, once" "xdp-dedup: cannot serve metrics on $address, it is tried again: Address already in use
xdp-dedup: metrics are served on $address now" "$(cat "$tmp/out")"
kill $second
wait $second
check_equal "... and run ends with 0" 0 $?
mkfifo "$tmp/pipe.fifo"
check_command "a pipe that nobody reads as the file: exit 1" 1 '' 'pipe.fifo: nobody reads from that pipe' \
	timeout 5 "$xdd" run "$in" --netns "$rx" --name "y$in" --textfile "$tmp/pipe.fifo"
check_equal "the file is gone with who wrote it" "" "$(find "$tmp" -name "*prom*")"
mknod "$tmp/null" c 1 3
mkdir "$tmp/linked"
touch "$tmp/linked/x.prom"
ln -s "$tmp/linked/x.prom" "$tmp/link.prom"
for file in null link.prom; do
	"$xdd" run "$in" --netns "$rx" --quiet --seconds 1 --textfile "$tmp/$file"
done
check "a device as the file stays a device" test -c "$tmp/null"
check "behind a link the file goes, the link stays" \
	test -L "$tmp/link.prom" -a ! -e "$tmp/linked/x.prom"
rm "$tmp/link.prom"
# Never a file that something else made, nor that of another process.
echo precious >"$tmp/precious"
ln -s precious "$tmp/link.prom"
check_command "a file that something else made: exit 1" 1 '' 'precious: what is there was not made by xdp-dedup' \
	"$xdd" run "$in" --netns "$rx" --quiet --seconds 1 --textfile "$tmp/precious"
check_command "... behind a link, too" 1 '' 'link.prom: what is there was not made by xdp-dedup' \
	"$xdd" run "$in" --netns "$rx" --quiet --seconds 1 --textfile "$tmp/link.prom"
check_equal "... it stays" precious "$(cat "$tmp/precious")"
rm "$tmp/link.prom"
start run "$in" --netns "$rx" --quiet --textfile "$tmp/x.prom"
wait_until grep -q "xdp_dedup_up{name=\"$in\"} 1" "$tmp/x.prom"
cp "$tmp/x.prom" "$tmp/left.prom"
"$xdd" run "y$in" --netns "$rx" --quiet --seconds 2 --textfile "$tmp/x.prom" >"$tmp/out" 2>&1
check_equal "a file that another process writes: loaded all the same" 0 $?
check_equal "... which is said, once" "xdp-dedup: cannot write metrics to $tmp/x.prom, it is tried again: \
another process writes to it: name another file" "$(cat "$tmp/out")"
check "... and the file stays the other's" grep -q "xdp_dedup_up{name=\"$in\"} 1" "$tmp/x.prom"
echo mine >"$tmp/mine"
mv "$tmp/mine" "$tmp/x.prom"
stop
check_equal "what was put in its place stays at the end" mine "$(cat "$tmp/x.prom")"
is_old() { now_is 60 "$1" && ! now_is 1 "$1"; }
check "one that a run left which was killed says how old it is" is_old "$tmp/left.prom"
"$xdd" run "y$in" --netns "$rx" --quiet --seconds 1 --textfile "$tmp/left.prom"
check "one that a run left which was killed is replaced, and removed" test ! -e "$tmp/left.prom"
rm "$tmp/x.prom" "$tmp/precious"
check_command "a file that cannot be written: exit 1, nothing is loaded" 1 '' \
	'cannot write metrics to /none/x.prom: No such file' \
	"$xdd" run "$in" --netns "$rx" --textfile /none/x.prom
check "nothing was loaded" test ! -e "$pins/$in"

# To read a large bit filter takes long: that is not done for each of many who ask at once.
cpu() { awk '{ print $14 + $15 }' "/proc/$started/stat"; }
start run "$in" --netns "$rx" --quiet --engine bsbf --memory 64MiB --metrics "$address"
wait_until test -d "$pins/$in"
sleep 0.5
before=$(cpu)
get /metrics >/dev/null
after=$(cpu)
for i in $(seq 20); do curl -s -o "$tmp/many$i" "http://$address/metrics" & asked[i]=$!; done
wait "${asked[@]}"
check "twenty at once cost less than five alone" test $(($(cpu) - after)) -lt $((5 * (after - before) + 5))
check_equal "... and each has its page" 20 "$(grep -l "^xdp_dedup_up{name=\"$in\"} 1" "$tmp"/many* | wc -l)"
transmit "$tmp/frames.pcap"
counted() { get /metrics >/dev/null && [ "$(sum packets_total '')" = 1000 ]; }
check "... which is made anew after a while" wait_until counted
stop

# Prometheus itself, of an agent with two instances.
query() {
	python3 - "$((port + 1))" "$1" <<-'END'
		import json, sys, urllib.parse, urllib.request
		answer = json.load(urllib.request.urlopen(
		    f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?query=" + urllib.parse.quote(sys.argv[2])))
		print(*[sample["value"][1] for sample in answer["data"]["result"]])
	END
}
query_is() { [ "$(query "$1" 2>/dev/null)" = "$2" ]; }
pair "x$out" "x$in"
load "$in" --window 60s --memory 1MiB --fault-policy distinct
load "x$in" --window 60s --memory 1MiB --engine timer --placement percpu
start agent --metrics "$address"
check "agent serves all instances" wait_until served 2
cat >"$tmp/prometheus.yml" <<-END
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [rules.yml]
	scrape_configs:
	  - job_name: xdp-dedup
	    static_configs: [{targets: ['$address']}]
END
# The rules as they are delivered, but that they wait a second, not minutes.
sed 's/for: .*/for: 1s/' scripts/monitoring/xdp-dedup.rules.yml >"$tmp/rules.yml"
mkdir "$tmp/data"
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
	--web.listen-address="127.0.0.1:$((port + 1))" >"$tmp/prometheus" 2>&1 &
prometheus=$!
at_exit kill "$prometheus"
transmit "$tmp/frames.pcap"
check "Prometheus scrapes it" wait_until query_is 'up{job="xdp-dedup"}' 1
check "... and has what was sent" \
	wait_until query_is "xdp_dedup_packets_total{name=\"$in\",verdict=\"duplicate\"}" 500
check "... of both instances" wait_until query_is "count(xdp_dedup_up{name=~\"x?$in\"} == 1)" 2
check "the share of live keys" \
	wait_until query_is "round(xdp_dedup_capacity_used_ratio{name=\"$in\"} * \
xdp_dedup_capacity_keys{name=\"$in\"})" 500

# alert_is ALERT N: N is 1 while it fires for our instance, else 0
alert_is() {
	query_is "count(ALERTS{alertname=\"XdpDedup$1\",alertstate=\"firing\",name=\"$in\"}) or vector(0)" "$2"
}
check "no alert of a failed slice" alert_is SliceFailed 0
"$xdd" fault "$in" --slice all --fail --quiet
check "slices fail: the alert fires" wait_until alert_is SliceFailed 1
transmit "$tmp/frames.pcap"
get /metrics >/dev/null
check_equal "... the first 256 of them are named" "512 256" \
	"$(sum slices_by_state 'state="failed"') $(sum slice_state "name=\"$in\",slice=")"
check "look-ups that they leave unanswered: the alert fires" wait_until alert_is SliceUnanswered 1
"$xdd" fault "$in" --slice all --recover --quiet
check "... they recover: the alert ends" wait_until alert_is SliceFailed 0
"$xdd" unload "x$in"
check "one that is unloaded is gone from the page" \
	wait_until query_is "count(xdp_dedup_up{name=~\"x?$in\"})" 1
kill -TERM "$started"
wait "$started"
check_equal "agent ends with 0" 0 $?
started=
finish
