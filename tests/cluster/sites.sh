#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Slices of a filter on eight sites behind a NATS server: verdicts are one filter's, messages the closed forms', errors
# those of koloniari-2011 (corrected) when sites are killed; two producers pass each event once; sites come back, the
# server is started anew, and who means no good changes nothing.
# shellcheck disable=SC2317,SC2119 # check calls the functions; the server has no options
. "$(dirname "$0")/lib.sh"

here=(nsenter "--net=/run/netns/$server_ns" --)
nats=nats://127.0.0.1:4222
bloom=(--engine bloom --hashes 4 --slicing vertical)
timer=(--engine timer --hashes 4 --slicing vertical --memory 256KiB --window 10s)
declare -A pid

# site GROUP SLICES OPTION...: what it says goes to $tmp/GROUP.SLICES; its process is ${pid[GROUP.SLICES]}
site() {
	local name=$1.${2//\//_}
	"${here[@]}" "$xdd" site --nats $nats --secret-file "$tmp/secret" --group "$1" --slices "$2" --json "${@:3}" >"$tmp/$name" 2>&1 3>&- &
	pid[$name]=$!
	running+=($!)
}

# sites GROUP SLICES OPTION...: eight of them, each with as many of the SLICES
sites() {
	local i each=$(($2 / 8))
	for i in 0 1 2 3 4 5 6 7; do site "$1" $((i * each))-$(((i + 1) * each - 1))/"$2" "${@:3}"; done
}
serve() { for name in "$tmp/$1".[0-9]*; do says_soon 20 "${name##*/}" 'serving slices'; done; }
says_soon() {
	local i
	for i in $(seq $((20 * $1))); do
		! grep -q "$3" "$tmp/$2" || return 0
		sleep 0.05
	done
	sed 's/^/# /' "$tmp/$2"
	return 1
}

# producer GROUP OPTION...: stdin to stdout; what it says, to $tmp/said
producer() {
	"${here[@]}" "$xdd" stream --sites --nats $nats --secret-file "$tmp/secret" --group "$1" --json --batch 1024 "${@:2}" 2>"$tmp/said"
}
# said EXPRESSION: of the last producer's summary s, and its object `sites` j
said() {
	sed -n '/^{/,$p' "$tmp/said" | python3 -c 'import json, sys
s = json.load(sys.stdin); j = s["sites"]
print(eval(sys.argv[1]))' "$1"
}
one() { "$xdd" stream --quiet --secret-file "$tmp/secret" "$@"; }
# near VALUE MODEL SHARE: they differ by no more than that share
near() { python3 -c "import sys; value, model = $1, ($2); sys.exit(abs(value - model) > $3 * model and f'{value} is not {model}')"; }
# random N OF: N numbers
random() { python3 -c "import random; random.seed($1); [print(random.randrange($2)) for _ in range($1)]"; }
# after N FILE: until the file has N lines
after() { wait_until bash -c "[ \$(wc -l <'$2') -ge $1 ]"; }

# The same keys fall into the same cells each time.
seq 1000 | head -c 64 >"$tmp/secret"
start_server 3>&-
sites a 40 "${bloom[@]}" --memory 32KiB
sites b 8 "${bloom[@]}" --memory 1MiB
sites c 40 "${bloom[@]}" --memory 48KiB
sites d 8 "${timer[@]}"
for group in a b c d; do check "group $group: all slices are served" serve $group; done

# One filter's verdicts, by all protocols; and who disturbs changes none.
random 30000 10000 >"$tmp/numbers"
"${here[@]}" tests/cluster/noise.py 127.0.0.1 4222 a >"$tmp/noise" 2>&1 &
noise=$!
wait_until grep -q ready "$tmp/noise"
for protocol in parallel pipeline one-pass; do
	sed "s/^/$protocol /" "$tmp/numbers" >"$tmp/part"
	cat "$tmp/part" >>"$tmp/stream"
	producer a "${bloom[@]}" --memory 32KiB --slices 40 --protocol $protocol "$tmp/part" >>"$tmp/kept"
	check_equal "$protocol: all sites answer" "0 8" "$(said "j['failures'], len(j['sites'])" | tr -d '(),')"
	[ $protocol != parallel ] || check "what is not theirs is refused by producers" test "$(said "j['refused']")" -gt 100
	[ $protocol != pipeline ] || { kill $noise; wait $noise; }
done
check "many messages were disturbed" test "$(tail -n 1 "$tmp/noise")" -gt 500
one "${bloom[@]}" --memory 32KiB --slices 40 "$tmp/stream" >"$tmp/one"
check "verdicts are one filter's" cmp "$tmp/one" "$tmp/kept"
check "which passes some of them" test "$(wc -l <"$tmp/one")" -gt 25000
kill -USR1 "${pid[a.0-4_40]}"
check "a site tells what it did, when asked" says_soon 5 a.0-4_40 '"loads"'
refused() { sed -n '/^{/,/^}/p' "$tmp/a.0-4_40" | json /dev/stdin "$1"; }
check "and refused" test "$(refused "j['refused']")" -gt 50
check "and answered again" test "$(refused "j['repeats']")" -gt 50
check "which it says" grep -q 'a message is refused: it is damaged, or who sent it has not the same --secret-file' "$tmp/a.0-4_40"

# Messages of a look-up of a key that all have: 1, or S(1 - (1 - 1/S)^k). One at a time.
seq 1500 >"$tmp/some"
for slicing in horizontal vertical; do
	group=b
	if [ $slicing = horizontal ]; then
		group=e
		sites e 8 --engine bloom --hashes 4 --slicing horizontal --memory 1MiB
		serve e
	fi
	producer $group --engine bloom --hashes 4 --slicing $slicing --memory 1MiB --slices 8 "$tmp/some" >/dev/null
	producer $group --engine bloom --hashes 4 --slicing $slicing --memory 1MiB --slices 8 --batch 1 "$tmp/some" >/dev/null
	model=1
	[ $slicing = horizontal ] || model='8 * (1 - (1 - 1 / 8) ** 4)'
	check "$slicing: messages of a look-up" near "$(said "j['messages'] / s['records']")" "$model" 0.01
	check "$slicing: visits" near "$(said "j['visits'] / s['records']")" "$model" 0.01
done
producer b "${bloom[@]}" --memory 1MiB --slices 8 --batch 1 --primitive test-and-set < <(seq 5000 5200) >"$tmp/new"
check "test-and-set: nothing follows" near "$(said "j['messages'] / s['records']")" '8 * (1 - (1 - 1 / 8) ** 4)' 0.05
check_equal "... and all pass" 201 "$(wc -l <"$tmp/new")"

# A filter larger than this machine: who serves a slice of it has that, who asks has none. What is not there is a copy, by
# the policy: keys of which a cell is there pass, once.
huge=(--engine bloom --hashes 4 --memory 200GiB)
site f 399/400 "${huge[@]}" --slicing vertical
wait_until test -e "$tmp/f.399_400"
says_soon 20 f.399_400 "serving slices"
for pass in 1 2; do
	producer f "${huge[@]}" --slicing vertical --slices 400 --fault-policy duplicate --silence 1s <"$tmp/numbers" >"$tmp/passed.$pass"
done
check "a slice of a filter that is larger than the machine" near "$(wc -l <"$tmp/passed.1")" \
	"$(sort -u "$tmp/numbers" | wc -l) * (1 - (1 - 1 / 400) ** 4)" 0.3
check_equal "... knows its keys again" 0 "$(wc -l <"$tmp/passed.2")"
check "... whose size is said" test "$(said "s['memory_bytes']")" -gt 214748000000

# Two producers, the same events in other orders, at once: each passes once.
seq 1000000 1049999 >"$tmp/events"
shuf "$tmp/events" >"$tmp/shuffled"
(producer b "${bloom[@]}" --memory 1MiB --slices 8 --batch 300 "$tmp/shuffled" >"$tmp/second" && said "j['claimed']" >"$tmp/claims") &
second=$!
"${here[@]}" "$xdd" stream --sites --nats $nats --secret-file "$tmp/secret" --group b --quiet --batch 1024 \
	"${bloom[@]}" --memory 1MiB --slices 8 "$tmp/events" >"$tmp/first"
wait $second
check_equal "two producers: no event passes twice" 0 "$(sort "$tmp/first" "$tmp/second" | uniq -d | wc -l)"
check "and none is lost, but for false positives" near "$(cat "$tmp/first" "$tmp/second" | wc -l)" 50000 0.01
check "some were claimed by the other one" test "$(cat "$tmp/claims")" -gt 0

# One of them is held up for longer than its claims last, and the other one goes on: none passes twice.
seq 3000000 3199999 >"$tmp/events"
both() {
	"${here[@]}" "$xdd" stream --sites --nats $nats --secret-file "$tmp/secret" --group d1 --quiet --batch 1024 \
		"${bloom[@]}" --memory 4MiB --slices 8 "$tmp/events"
}
site d1 0-3/8 "${bloom[@]}" --memory 4MiB
site d1 4-7/8 "${bloom[@]}" --memory 4MiB
wait_until test -e "$tmp/d1.4-7_8"
check "group d1: all slices are served" serve d1
for round in 1 2 3; do
	sed -i "s/^./$round/" "$tmp/events"
	rm -f "$tmp/first" # else what is waited for is there from before
	both >"$tmp/first" &
	first=$!
	wait_until test -s "$tmp/first"
	sleep 0.$round
	stopped=$(pgrep -f "$tmp/events" | head -n 1)
	kill -STOP "$stopped"
	both >"$tmp/second" &
	second=$!
	sleep 3
	kill -CONT "$stopped"
	wait $first $second
	check_equal "a producer that was held up: no event passes twice" 0 "$(sort "$tmp/first" "$tmp/second" | uniq -d | wc -l)"
	check "and none is lost, but for false positives" near "$(cat "$tmp/first" "$tmp/second" | wc -l)" 200000 0.01
done

# Two of eight sites are killed while a stream goes on: errors are those of the formulas. r is the fill, q = 2/8; of
# 4 cells 3 decide: FN = 6 q^2 (1-q)^2 + 4 q^3 (1-q) + q^4, FP = 4 p^3 (1-p) + p^4 with p = (1-q) r.
faulty() { producer c "${bloom[@]}" --memory 48KiB --slices 40 --silence 500ms "$@"; }
seq 100001 180000 >"$tmp/load"
head -n 30000 "$tmp/load" >"$tmp/copies"
seq 900001 915000 >"$tmp/distinct"
mkfifo "$tmp/pipe"
faulty --fault-policy vote:3 --site-timeout 300ms "$tmp/pipe" >"$tmp/voted" &
voter=$!
exec 3>"$tmp/pipe"
cat "$tmp/load" >&3
wait_until grep -q 180000 "$tmp/voted"
loaded=$(wc -l <"$tmp/voted")
kill -9 "${pid[c.10-14_40]}" "${pid[c.25-29_40]}"
cat "$tmp/copies" >&3
exec 3>&-
wait $voter
check_equal "killed sites are found out" "2 2" "$(said "j['failures'], len([1 for one in j['sites'] if one['state'] == 'failed'])" | tr -d '(),')"
check_equal "no record is lost" 110000 "$(said "s['records']")"
check "vote: copies that pass" near $(($(wc -l <"$tmp/voted") - loaded)) \
	'30000 * (6 * .25 ** 2 * .75 ** 2 + 4 * .25 ** 3 * .75 + .25 ** 4)' 0.05
faulty --fault-policy distinct "$tmp/copies" >"$tmp/passed"
check "slices that have no site are named" grep -q 'slices 10-14, 25-29 of 40 have no site: --fault-policy distinct answers' "$tmp/said"
check "distinct: copies that pass" near "$(wc -l <"$tmp/passed")" '30000 * (1 - .75 ** 4)' 0.05
faulty --fault-policy duplicate "$tmp/copies" >"$tmp/passed"
check_equal "duplicate: no copy passes" 0 "$(wc -l <"$tmp/passed")"
# The fill: by all of the load, since who is dropped there had all its cells set; and by those that pass now.
model='(lambda n: [n.append(n[-1] + 1 - (lambda p: 4 * p ** 3 * (1 - p) + p ** 4)(.75 * (1 - (1 - 1 / 9728) ** (n[-1] / 10))))
	for _ in range(15000)] and 15000 - (n[-1] - n[0]))([80000])'
faulty --fault-policy vote:3 "$tmp/distinct" >"$tmp/passed"
check "vote: distinct ones that are dropped" near $((15000 - $(wc -l <"$tmp/passed"))) "$model" 0.05

# A site that comes back is recovering for a window, and then as good as the others: keys at the times given.
keys() { for at in "${@:2}"; do seq "$1" $(($1 + 499)) | sed "s/^/$at\t/"; done; }
ask() { printf '%s\n' "$1" >&3 && wait_until grep -q "$1" "$tmp/came"; }
killed_and_back() {
	producer d "${timer[@]}" --slices 8 --time-field 1 --field 2 --fault-policy distinct --site-timeout 300ms "$tmp/pipe" >"$tmp/came" &
	local producer=$! last
	exec 3>"$tmp/pipe"
	keys "$1" "$1" >&3
	ask "$1	loaded $1"
	kill -9 "${pid[d.3-3_8]}"
	ask "$1	killed $1"
	site d 3-3/8 "${timer[@]}"
	says_soon 10 d.3-3_8 'serving slices'
	ask "$1	back $1"
	for last in "${@:2}"; do keys 9000 "$last" >&3; done
	exec 3>&-
	wait $producer
}
killed_and_back 1 5
check_equal "a site that is back is recovering" "recovering 1 7" \
	"$(said "j['sites'][3]['state'], j['failures'], [one['state'] for one in j['sites']].count('ok')" | tr -d "(),'")"
killed_and_back 1000 1030 1031 1032
check_equal "and after a window as the others" "ok 8" \
	"$(said "j['sites'][3]['state'], [one['state'] for one in j['sites']].count('ok')" | tr -d "(),'")"
check_equal "so that no copy passes" 500 "$(grep -c '^103' "$tmp/came")"

# One that was killed and came back while nobody asked, and one that is back after it had failed: asked in the next batch.
came_back() {
	producer d "${timer[@]}" --slices 8 --time-field 1 --field 2 --fault-policy distinct "$tmp/pipe" >"$tmp/came" &
	local producer=$!
	exec 3>"$tmp/pipe"
	ask "2000	first $1"
	kill "-$1" "${pid[d.3-3_8]}"
	if [ "$1" = KILL ]; then
		site d 3-3/8 "${timer[@]}"
		wait_until grep -q 'connected' "$tmp/d.3-3_8"
		says_soon 10 d.3-3_8 'serving slices'
	else
		keys 2000 2000 >&3
		ask "2000	second $1"
		kill -CONT "${pid[d.3-3_8]}"
		sleep 0.3
	fi
	keys 7000 2000 >&3
	ask "2000	third $1"
	"${here[@]}" "$xdd" stream --sites --nats $nats --secret-file "$tmp/secret" --group d --quiet "${timer[@]}" --slices 8 \
		--time-field 1 --field 2 --fault-policy distinct < <(keys 7000 2000) >"$tmp/again"
	exec 3>&-
	wait $producer
}
for signal in KILL STOP; do
	came_back $signal
	check_equal "SIG$signal: a site that is back is asked in the next batch" 0 "$(wc -l <"$tmp/again")"
	check_equal "... which is said" "recovering 1" "$(said "j['sites'][3]['state'], j['failures']" | tr -d "(),'")"
done

# The server is started anew in the middle of a stream.
sed 's/^/anew /' "$tmp/numbers" >"$tmp/part"
cat "$tmp/part" >>"$tmp/stream"
rm -f "$tmp/came"
producer a "${bloom[@]}" --memory 32KiB --slices 40 "$tmp/pipe" >"$tmp/came" &
asking=$!
exec 3>"$tmp/pipe"
head -n 15000 "$tmp/part" >&3
wait_until test -s "$tmp/came"
stop_server
(sleep 0.5 && tail -n +15001 "$tmp/part") >&3 &
feeding=$!
start_server 3>&-
wait $feeding
exec 3>&-
wait $asking
check_equal "the server was started anew: none has failed" "0 30000" "$(said "j['failures'], s['records']" | tr -d '(),')"
one "${bloom[@]}" --memory 32KiB --slices 40 "$tmp/stream" | tail -n +$(($(wc -l <"$tmp/kept") + 1)) >"$tmp/one"
check "and the verdicts are one filter's" cmp "$tmp/one" "$tmp/came"

# Who contradicts others, and who is none of them.
site=("${here[@]}" "$xdd" site --nats "$nats" --secret-file "$tmp/secret" --group a --quiet)
check_command "a slice is served once" 1 '' 'site .* has slices 5-9/40: these are 9-9: no slice is served twice' \
	timeout 20 "${site[@]}" --slices 9/40 "${bloom[@]}" --memory 32KiB
check_command "sites of a group have one filter" 1 '' 'of group a has another filter .* give the same options' \
	timeout 20 "${site[@]}" --slices 9/40 "${bloom[@]}" --memory 64KiB
stream=("${here[@]}" timeout 20 "$xdd" stream --sites --nats "$nats" --group a --silence 1s "${bloom[@]}" --slices 40)
check_command "a producer of another filter" 1 '' 'has another filter .* it is not asked' "${stream[@]}" --secret-file "$tmp/secret" --memory 64KiB
check "what differs is said" grep -q 'another filter ([^,]*; here: [^,]*): it is not asked' "$tmp/stderr"
check_equal "once, by whichever of its eight sites is heard first" 1 "$(grep -c 'another filter' "$tmp/stderr")"
head -c 64 /dev/urandom >"$tmp/other"
chmod 600 "$tmp/other"
check_command "a producer with another secret is not answered" 1 '' 'no site of group a answers' "${stream[@]}" --secret-file "$tmp/other" --memory 32KiB
check "which sites count" says_soon 1 a.5-9_40 'a message is refused'
check_command "... nor one of another group" 1 '' 'no site of group b answers' "${stream[@]}" --group b --slices 8 --secret-file "$tmp/other" --memory 1MiB
check_equal "who asked several times is told of once" 1 "$(grep -c 'a message is refused' "$tmp/b.0-0_8")"
kill -USR1 "${pid[b.0-0_8]}"
check "and counted each time" says_soon 5 b.0-0_8 '"refused": [2-9]'

# The end: of a producer by a signal, with what it came to; of a site.
for signal in TERM INT; do
	"${here[@]}" "$xdd" stream --sites --nats $nats --group a --secret-file "$tmp/secret" "${bloom[@]}" --slices 40 --memory 32KiB \
		--batch 1024 --json "$tmp/pipe" >"$tmp/came" 2>"$tmp/said" &
	asking=$!
	exec 3>"$tmp/pipe"
	check "a record is decided at once, however large a batch could be" ask "last $signal"
	kill -$signal $asking
	wait $asking
	check_equal "SIG$signal ends it" 0 $?
	exec 3>&-
	check_equal "with a summary" "True 1" "$(said "s['interrupted'], s['records']" | tr -d '(),')"
done

# What is decided is written before the rest of what was read at once is.
rm -f "$tmp/came"
"${here[@]}" timeout 60 "$xdd" stream --sites --nats $nats --group b --secret-file "$tmp/secret" "${bloom[@]}" --slices 8 --memory 1MiB \
	--batch 1 --quiet >"$tmp/came" < <(seq 2000000 2030000) &
asking=$!
wait_until test -s "$tmp/came"
check "verdicts come while others are asked for" kill -INT $asking
wait $asking
check "... and are not all" test "$(wc -l <"$tmp/came")" -lt 30001
kill "${pid[a.0-4_40]}"
wait "${pid[a.0-4_40]}"
check_equal "SIGTERM ends a site" 0 $?
"${stream[@]}" --secret-file "$tmp/secret" --memory 32KiB --json "$tmp/some" >/dev/null 2>"$tmp/said"
check_equal "which others then lack" 5 "$(said "j['missing_slices']")"
finish
