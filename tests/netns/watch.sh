#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Watch sets: what happens to packets of the set and to others, live changes of the set and of what it
# does, what is refused, and writers that are killed or come at once.
# shellcheck disable=SC2317 # check calls the function
. "$(dirname "$0")/lib.sh"

state=/run/xdp-dedup/$in.xdw

watch() { "$xdd" watch "$in" "$@"; }

# keys: how many are in the set
keys() { "$xdd" status "$in" --json | json /dev/stdin 'j[0]["watch"]["keys"]'; }

# ones: bits of level 1 that are set in the kernel
ones() {
	bpftool -j map dump pinned "$pins/$in/watch" | json /dev/stdin \
		'sum(bin(int(b, 16)).count("1") for e in j for b in e["value"])'
}

# sums: what counters() prints has to add up
sums() {
	awk '{ exit !($1 == $2 + $3 + $4 && $1 == $5 + $6 + $7 + $8) }' <<<"$1"
}

# grown BEFORE AFTER: by how much
grown() { paste -d' ' <(echo "$2") <(echo "$1") | awk '{ for (i = 1; i <= 8; i++) printf("%s%d", (i > 1 ? " " : ""), $i - $(i + 8)) }'; }

# seen: "watched others", the packets by number in $tmp/seen.pcap; those of the set are below 100000
seen() {
	python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
at, numbers = 24, []
while at < len(data):
    length = struct.unpack_from("<I", data, at + 8)[0]
    numbers.append(struct.unpack_from("!Q", data, at + 16 + 42)[0])
    at += 16 + length
print(sum(n < 100000 for n in numbers), sum(n >= 100000 for n in numbers))' "$tmp/seen.pcap"
}

number=0
# step NAME COUNTERS SEEN: send 100 watched packets and 100 others, each with a copy
step() {
	local before after
	before=$(counters "$in")
	listen "$tmp/seen.pcap" "$in"
	transmit "$tmp/in.$number.pcap"
	transmit "$tmp/out.$number.pcap"
	listen_end
	number=$((number + 1))
	after=$(counters "$in")
	check_equal "$1: counters" "$2" "$(grown "$before" "$after")"
	check "$1: they add up" sums "$after"
	check_equal "$1: what came through, of the set and of others" "$3" "$(seen)"
}

for i in 0 1 2 3 4 5; do
	"$frames" make "$tmp/in.$i.pcap" --packets 100 --copies 1 --first $((i * 100))
	"$frames" make "$tmp/out.$i.pcap" --packets 100 --copies 1 --first $((100000 + i * 100))
done

check_command "without --watch-action there is no set" 2 '' 'watch-keys .*add --watch-action' \
	"$xdd" load "$in" --netns "$rx" --watch-keys 10
load "$in" --window 60s
check_equal "... and no map" "" "$(ls "$pins/$in/watch" 2>/dev/null)"
check_command "... and no command" 1 '' 'loaded without --watch-action' watch stats
check_command "... nor anything to set" 2 '' 'loaded without a watch set' \
	"$xdd" set "$in" --watch-action drop
"$xdd" unload "$in"
check_command "a set with one key on each interface has no place" 2 '' '--scope interface' \
	"$xdd" load "$in" --netns "$rx" --watch-action only --scope interface

load "$in" --window 60s --watch-action only --watch-keys 1000 || { fail "load"; finish; }
check_equal "the set is empty" "0 0" "$(keys) $(ones)"
step "only, empty: everything passes" "400 0 0 400 400 0 0 0" "200 200"
for i in 1 2 3 4; do
	check_command "load a capture" 0 '100 keys added' '' watch load "$tmp/in.$i.pcap"
done
check_equal "status knows how many" 400 "$(keys)"
check_command "and what it does" 0 '400 of 1000 keys' '' "$xdd" status "$in"
step "only" "400 100 100 200 300 100 0 0" "100 200"
"$xdd" set "$in" --watch-action skip --quiet
step "skip" "400 100 100 200 300 100 0 0" "200 100"
"$xdd" set "$in" --watch-action drop --quiet
step "drop" "400 100 100 200 100 300 0 0" "0 100"
check_command "set says what it does" 0 'watch set: select' '' \
	"$xdd" set "$in" --watch-action select
check_equal "all of that is bypassed, reason watch" 1000 "$("$xdd" status "$in" --json |
	json /dev/stdin 'j[0]["counters"]["total"]["bypassed"]["reasons"]["watch"]["packets"]')"
step "select" "400 100 100 200 100 300 0 0" "100 0"
before=$(counters "$in")
in_tx python3 -c 'import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
s.send(bytes.fromhex("ffffffffffff020000000001" "0806") + bytes(46))' "$out"
sleep 0.2
check_equal "select: a frame without a key passes" "1 0 0 1 1 0 0 0" \
	"$(grown "$before" "$(counters "$in")")"
id=$(program_id "$in")
"$xdd" set "$in" --window 2s --restart --watch-action only --quiet
check "another program after --restart" test "$id" != "$(program_id "$in")"
check_equal "... with the same set" "400 $(ones)" \
	"$(keys) $(watch stats --json | json /dev/stdin 'j["level1_ones"]')"

# Refusals.
ones=$(ones)
check_command "delete what is in no set" 1 '' 'key 1 of .*in.0.pcap: is not in the set' \
	watch unload "$tmp/in.0.pcap"
check_equal "... changes nothing" "400 $ones" "$(keys) $(ones)"
"$frames" make "$tmp/many.pcap" --packets 700 --copies 0 --first 5000
check_command "more than the set has room for" 1 '' 'key 601 of .*is full.* 1000 keys.*nothing' \
	watch load "$tmp/many.pcap"
check_equal "... changes nothing" "400 $ones" "$(keys) $(ones)"
check_command "what is no key of packets" 2 '' 'only a packet shows the key' watch add 192.0.2.1

# A packet as events shows it.
"$xdd" events "$in" --count 1 --seconds 10 --snaplen 2048 --verdict watch --json >"$tmp/event" 2>/dev/null &
reader=$!
sleep 1
transmit "$tmp/in.0.pcap"
wait $reader
frame=$(head -n 1 "$tmp/event" | json /dev/stdin 'j["bytes"]')
check_equal "an event names the reason, and what was done" "watch pass" \
	"$(head -n 1 "$tmp/event" | json /dev/stdin 'j["reason"] + " " + j["action"]')"
check_command "add a frame by its bytes" 0 '1 key added; 401' '' watch add "$frame"
before=$(counters "$in")
transmit "$tmp/in.0.pcap"
sleep 0.2
check_equal "its packet alone is now de-duplicated" "200 1 1 198 199 1 0 0" \
	"$(grown "$before" "$(counters "$in")")"
check_command "add it again" 0 '402' '' watch add "$frame"
check_command "and delete it" 0 '401' '' watch del "$frame"
check_command "... twice, as it was added" 0 '400' '' watch del "$frame"
check_command "... but not once more" 1 '' 'not in the set' watch del "$frame"
check_equal "its bits are gone" "$ones" "$(ones)"

# Saved, and loaded again.
check_command "save" 0 '' '' watch save "$tmp/saved.xdw" --quiet
check_command "a saved set is no filter for stream" 2 '' "packets' keys" \
	"$xdd" stream --filter "$tmp/saved.xdw"
check_command "clear" 0 '0 of 1000' '' watch clear
check_equal "nothing is watched" "0 0" "$(keys) $(ones)"
check_command "load what was saved" 0 '400 keys added' '' watch load "$tmp/saved.xdw"
check_equal "all of it is back" "400 $ones" "$(keys) $(ones)"
check_command "load it from a pipe, once more" 0 '800 of 1000' '' \
	bash -c "cat '$tmp/saved.xdw' | '$xdd' watch '$in' load -"
check_command "a third time it does not fit" 1 '' 'is full' watch load "$tmp/saved.xdw"
for i in 1 2 3 4 1 2 3 4; do
	watch unload "$tmp/in.$i.pcap" --quiet || fail "unload $i"
done
check_equal "what was added twice is deleted twice" "0 0" "$(keys) $(ones)"
"$xdd" unload "$in"
check_equal "the state goes with the instance" "" "$(ls "$state" 2>/dev/null)"
load "$in" --window 60s --watch-action only --watch-keys 1000
check_command "a set of another secret is refused" 1 '' 'another secret' watch load "$tmp/saved.xdw"
"$xdd" unload "$in"

# With a seed it fits again, if the key is the same; a state that was left over does not count.
load "$in" --window 60s --watch-action only --watch-keys 1000 --seed 7
watch load "$tmp/in.1.pcap" --quiet
watch save "$tmp/seeded.xdw" --quiet
cp "$state" "$tmp/state.xdw"
"$xdd" unload "$in"
load "$in" --window 60s --watch-action only --watch-keys 1000 --seed 7
mkdir -p "$(dirname "$state")"
cp "$tmp/state.xdw" "$state"
check_equal "the state of an instance before is none of this one" "0 0" "$(keys) $(ones)"
check_command "the same seed: a saved set fits" 0 '100 keys added; 100 of' '' \
	watch load "$tmp/seeded.xdw"
cp "$state" "$tmp/state.xdw.100"
for mode in 666 620; do
	chmod $mode "$state"
	check_command "a state that others can write, mode $mode, is not believed" 1 '' 'is not believed: others than root' watch add "$frame"
	check_command "... and status says so" 0 'is not believed, as others than root can change it' '' "$xdd" status "$in"
	chmod 600 "$state"
done
chown nobody "$state"
check_command "nor one of somebody else" 1 '' 'is not believed: others than root' watch stats
mv "$state" "$tmp/theirs.xdw"
ln -s "$tmp/theirs.xdw" "$state"
check_command "nor a link to it" 1 '' 'is not believed: others than root' watch stats
check_command "... until the set is cleared" 0 '0 of 1000' '' watch clear
check_equal "... by a file in its place" "regular file 600 root" "$(stat -c '%F %a %U' "$state")"
check "... and what the link led to is as it was" cmp "$tmp/theirs.xdw" "$tmp/state.xdw.100"
watch load "$tmp/seeded.xdw" --quiet
chmod 777 "$(dirname "$state")"
check_command "nothing in a folder that others can write is believed" 1 '' '/run/xdp-dedup: others than root can write there' watch del "$frame"
check_command "... nor made there" 1 '' '/run/xdp-dedup: others than root can write there' watch clear
chmod 700 "$(dirname "$state")"
check_equal "with the folder put right all is as it was" 100 "$(keys)"
rm "$state"
check_command "a lost state is a warning" 0 'state of the watch set.*lost.*clear' '' \
	"$xdd" status "$in"
check_command "... and refuses changes" 1 '' 'is lost.*clear' watch add "$frame"
check_command "... until the set is cleared" 0 '0 of 1000' '' watch clear
check_equal "... and its bits" 0 "$(ones)"
"$xdd" unload "$in"
load "$in" --window 60s --watch-action only --watch-keys 999 --seed 7
check_command "a saved set of another size" 1 '' 'another size' watch load "$tmp/seeded.xdw"
"$xdd" unload "$in"

# Addresses and flows.
load "$in" --key src --window 60s --watch-action only
check_command "an address" 0 '1 key added' '' watch add 192.0.2.1
check_command "no address" 2 '' 'no key of --key src: write an ADDRESS' watch add 192.0.2.300
transmit "$tmp/in.5.pcap"
sleep 0.2
check_equal "packets from it are de-duplicated" "200 1 199 0" "$(counters "$in" | cut -d' ' -f1-4)"
check_command "lines of addresses, with comments" 0 '2 keys added' '' bash -c "
	printf '# ours\n10.0.0.1\n\n 2001:db8::1 # too\r\n10.0.0.1\n' | '$xdd' watch '$in' load -"
check_command "a line that is none is named" 2 '' 'watch: standard input:2: nonsense: no key' bash -c "
	printf '10.0.0.2\nnonsense\n' | '$xdd' watch '$in' load -"
check_command "... also of a pipe with a name" 2 '' 'watch: /dev/fd/[0-9]*:1: nonsense: no key' \
	watch load <(echo nonsense)
check_equal "... and nothing of the file is taken" 3 "$(keys)"
check_command "an IPv4 address that is written as one of IPv6 is the IPv4 address" 0 '1 key deleted; 2' '' \
	watch del ::ffff:10.0.0.1
check_command "a list without keys is told" 0 '0 keys added' 'has no keys: nothing changes' watch load /dev/null
check_command "a list without an end is refused" 1 '' '512 MiB at most' watch load /dev/zero
check_command "... and one that is no text, with its line" 1 '' ':2: a byte 0: not a list of keys' bash -c "
	printf '10.0.0.2\n10.0\0.0.3\n' | '$xdd' watch '$in' load -"
head -c 1100000 /dev/zero | tr '\0' x >"$tmp/long"
check_command "... and a line that no key is" 1 '' ':1: a line too long' watch load "$tmp/long"
check_equal "... and nothing of them is taken" 2 "$(keys)"
"$xdd" unload "$in"
load "$in" --key biflow --window 60s --watch-action skip
check_command "a flow, from either end" 0 '1 key added' '' watch add udp,192.0.2.2,9,192.0.2.1,9
transmit "$tmp/in.5.pcap"
sleep 0.2
check_equal "its packets pass" "200 0 0 200" "$(counters "$in" | cut -d' ' -f1-4)"
check_command "and can be deleted by the other end's words" 0 '1 key deleted; 0' '' \
	watch del UDP,192.0.2.1,9,192.0.2.2,9
"$xdd" unload "$in"

# A writer that is killed just before, or just after, the state becomes the new one.
cat >"$tmp/kill.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
	const char *when = getenv("KILL_RENAME");
	int rc;
	if (!strcmp(when, "before"))
		kill(getpid(), SIGKILL);
	rc = real(from, to);
	kill(getpid(), SIGKILL);
	return rc;
}
END
gcc -shared -fPIC -o "$tmp/kill.so" "$tmp/kill.c" -ldl
killed() {
	(KILL_RENAME=$1 LD_PRELOAD=$tmp/kill.so "$xdd" watch "$in" "${@:2}"; true) >/dev/null 2>&1
}
load "$in" --key src --window 60s --watch-action only --watch-keys 1000
watch add 10.0.0.1 10.0.0.2 --quiet
ones=$(ones)
killed before add 10.0.0.3
check_equal "killed before: the map has more than the state" "2 $((ones + 3))" "$(keys) $(ones)"
check_command "what was not added cannot be deleted" 1 '' 'not in the set' watch del 10.0.0.3
check_equal "... and the map is put right" "$ones" "$(ones)"
killed after add 10.0.0.3
check_equal "killed after: it is in both" "3 $((ones + 3))" "$(keys) $(ones)"
killed before del 10.0.0.3
check_equal "killed before a deletion: nothing is deleted" "3 $((ones + 3))" "$(keys) $(ones)"
killed after del 10.0.0.3
check_equal "killed after: the map is behind" "2 $((ones + 3))" "$(keys) $(ones)"
check_command "... and the next command puts it right" 0 '3 of' '' watch add 10.0.0.4
check_equal "no file is left over" "$in.xdw" "$(find /run/xdp-dedup -name "$in*" -printf "%f" -o -name "*.tmp" -printf "%f")"
watch del 10.0.0.1 10.0.0.2 10.0.0.4 --quiet
check_equal "all that was added can be deleted" "0 0" "$(keys) $(ones)"
check "kill -9 at any moment" bash -c "
	for i in \$(seq 30); do
		printf '10.1.%d.1\n' \$(seq \$((i % 7 + 1)) | xargs) >'$tmp/some'
		'$xdd' watch '$in' load '$tmp/some' --quiet & pid=\$!
		sleep 0.0\$((RANDOM % 40 + 10))
		kill -KILL \$pid; wait \$pid
		n=\$('$xdd' status '$in' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0][\"watch\"][\"keys\"])')
		[ \$n = 0 ] || [ \$n = \$((i % 7 + 1)) ] || exit 1
		[ \$n = 0 ] || '$xdd' watch '$in' unload '$tmp/some' --quiet || exit 1
	done 2>/dev/null"
watch stats --quiet
check_equal "... leaves nothing that is not in the set" "0 0" "$(keys) $(ones)"

# Two at once.
writers=()
for i in $(seq 20); do
	watch add "10.2.0.$i" --quiet &
	writers+=($!)
done
wait "${writers[@]}"
check_equal "20 writers at once: nothing is lost" 20 "$(keys)"
check "... and all of it can be deleted" watch del $(seq -f '10.2.0.%g' 20)
check_equal "... to the last bit" "0 0" "$(keys) $(ones)"
watch add 10.0.0.1 --quiet
"$xdd" agent --textfile "$tmp/metrics" --quiet &
agent=$!
check "metrics: keys, capacity, rate" wait_until bash -c "for line in 'keys 1' 'capacity_keys 1000' 'fpr .*e-'; do
	grep -Eq \"^xdp_dedup_watch_\${line% *}{name=.*} \${line#* }\" '$tmp/metrics' || exit 1; done"
kill $agent
wait $agent
"$xdd" unload "$in"
finish
