#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A tree of filters on sites behind a NATS server (koloniari-2011 section 6): a root and four leaves decide as one
# filter, a dense and a sparse tree, with and without windows; of two producers at two leaves one passes an event; the
# root is killed and comes back; a tree of three levels looks down; who does not fit is refused.
# shellcheck disable=SC2317,SC2119 # check calls the functions; the server has no options
. "$(dirname "$0")/lib.sh"

here=(nsenter "--net=/run/netns/$server_ns" --)
nats=nats://127.0.0.1:4222
bloom=(--engine bloom --hashes 4 --memory 32KiB)
timer=(--engine timer --hashes 4 --memory 256KiB --window 10s)
declare -A pid

# node GROUP NAME OPTION...: what it says goes to $tmp/GROUP.NAME; its process is ${pid[GROUP.NAME]}
node() {
	"${here[@]}" "$xdd" site --nats $nats --secret-file "$tmp/secret" --group "$1" --name "$2" --json \
		--site-timeout 300ms "${@:3}" >>"$tmp/$1.$2" 2>&1 &
	pid[$1.$2]=$!
	running+=($!)
}

# tree GROUP OPTION...: a root and four leaves
tree() {
	node "$1" root "${@:2}"
	for leaf in a b c d; do node "$1" $leaf --parent root "${@:2}"; done
}
# says FILE PATTERN [TIMES]: soon
says() {
	for _ in $(seq 200); do
		[ "$(grep -c "$2" "$tmp/$1")" -lt "${3:-1}" ] || return 0
		sleep 0.05
	done
	sed 's/^/# /' "$tmp/$1"
	return 1
}
up() { for name in "${@:2}"; do says "$1.$name" "serving as $name, " || return 1; done; }

# producer GROUP LEAF OPTION...: stdin to stdout; what it says, to $tmp/said.LEAF
producer() {
	"${here[@]}" "$xdd" stream --nats $nats --secret-file "$tmp/secret" --group "$1" --leaf "$2" --json \
		--site-timeout 300ms "${@:3}" 2>"$tmp/said.$2"
}
# said LEAF EXPRESSION: of the summary s of the last producer there, and its object `tree` j
said() {
	sed -n '/^{/,$p' "$tmp/said.$1" | python3 -c 'import json, sys
s = json.load(sys.stdin); j = s["tree"]
print(eval(sys.argv[1]))' "$2"
}
one() { "$xdd" stream --quiet --secret-file "$tmp/secret" "$@"; }
# counts GROUP NAME EXPRESSION: of what the node says it did so far, j
counts() {
	local before
	before=$(grep -c '^}' "$tmp/$1.$2")
	kill -USR1 "${pid[$1.$2]}"
	says "$1.$2" '^}' $((before + 1))
	tac "$tmp/$1.$2" | awk '/^}/ { on = 1 } on { print } on && /^{/ { exit }' | tac | python3 -c 'import json, sys
j = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$3"
}
# near VALUE MODEL SHARE: they differ by no more than that share
near() { python3 -c "import sys; sys.exit(abs($1 - ($2)) > $3 * ($2) and f'{$1} is not {$2}')"; }

head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$tmp/secret"
start_server
tree dense "${bloom[@]}" --tree dense
tree sparse "${bloom[@]}" --tree sparse
tree window "${timer[@]}" --tree dense
for group in dense sparse window; do check "group $group: all nodes serve" up $group root a b c d; done

# A stream in twelve parts, at one leaf after the other: verdicts are one filter's.
python3 -c 'import random
random.seed(7)
for i in range(24000): print(random.randrange(3000) * random.randrange(3000) // 200, 1000 + i / 400, sep="\t")' >"$tmp/records"
split -n l/12 "$tmp/records" "$tmp/part."
for group in dense sparse window; do
	filter=("${bloom[@]}" --field 1)
	[ $group != window ] || filter=("${timer[@]}" --field 1 --time-field 2)
	kind=$group
	[ $group != window ] || kind=dense
	: >"$tmp/kept"
	leaves=(a b c d)
	i=0
	for part in "$tmp"/part.*; do
		producer $group "${leaves[i++ % 4]}" --tree $kind "${filter[@]}" "$part" >>"$tmp/kept"
	done
	one "${filter[@]}" "$tmp/records" >"$tmp/one"
	check "$group: verdicts are one filter's" cmp "$tmp/one" "$tmp/kept"
	check "$group: which passes some of them" test "$(wc -l <"$tmp/one")" -gt 5000
	check_equal "$group: the root passed them" "$(wc -l <"$tmp/one")" "$(counts $group root "j['distinct']")"
	check "$group: a leaf found some" test "$(counts $group a "j['hits']")" -gt 100
done
check "dense: the root is asked less often than in a sparse tree" test "$(counts dense root "j['accesses']")" -lt "$(counts sparse root "j['accesses']")"

# Two producers, the same events in other orders, at two leaves at once: each passes once.
seq 1000000 1002999 >"$tmp/events"
shuf "$tmp/events" >"$tmp/shuffled"
for group in dense sparse; do
	producer $group a --tree $group "${bloom[@]}" --batch 300 "$tmp/shuffled" >"$tmp/second" &
	second=$!
	producer $group b --tree $group "${bloom[@]}" --batch 200 "$tmp/events" >"$tmp/first"
	wait $second
	check_equal "$group, two producers: no event passes twice" 0 "$(sort "$tmp/first" "$tmp/second" | uniq -d | wc -l)"
	check "$group: and none is lost, but for false positives" near "$(cat "$tmp/first" "$tmp/second" | wc -l)" 3000 0.05
done

# The root is killed: leaves decide alone, which they say; it comes back, empty, and decides again.
kill -9 "${pid[window.root]}"
ask() { producer window "$1" --tree dense "${timer[@]}" --field 1 --time-field 2; }
printf '%s\t2000\n' k1 k2 k3 >"$tmp/keys"
check_equal "without its root a leaf passes what it has not" 3 "$(ask a <"$tmp/keys" | wc -l)"
check "which it says" says window.a 'parent root does not answer: what is not found here is distinct until it does'
check_equal "and knows it then" 0 "$(ask a <"$tmp/keys" | wc -l)"
check_equal "which another leaf does not" 3 "$(ask b <"$tmp/keys" | wc -l)"
check_equal "leaves count what they decided alone" 3 "$(counts window a "j['alone']")"
check_equal "and that the parent has failed" failed "$(counts window a "j['parent_state']")"
node window root "${timer[@]}" --tree dense
for leaf in a b; do check "leaf $leaf: the root is back" says window.$leaf 'parent root is back'; done
printf '%s\t2000\n' k4 k5 >"$tmp/keys"
check_equal "new keys pass at one leaf" 2 "$(ask a <"$tmp/keys" | wc -l)"
check_equal "and not at another" 0 "$(ask b <"$tmp/keys" | wc -l)"
check_equal "nobody was alone in that" 3 "$(counts window a "j['alone']")"

# A leaf that does not answer: its producer passes all but copies that come together, and says so.
kill -STOP "${pid[window.c]}"
printf '%s\t2000\n' k6 k6 >"$tmp/keys"
producer window c --tree dense "${timer[@]}" --field 1 --time-field 2 --silence 500ms <"$tmp/keys" >"$tmp/kept"
code=$?
kill -CONT "${pid[window.c]}"
check_equal "a leaf that is not there is an error" "1 0" "$code $(wc -l <"$tmp/kept")"
check "in words" grep -q 'no site c of group window answers: start it with xdp-dedup site --tree' "$tmp/said.c"

# One that was away for longer than a question waits is asked again in the same stream.
sleep 0.5
for i in $(seq 24); do
	printf 'back%s\t2000\n' "$i"
	[ "$i" != 4 ] || kill -STOP "${pid[window.c]}"
	[ "$i" != 10 ] || kill -CONT "${pid[window.c]}"
	sleep 0.2
done | producer window c --tree dense "${timer[@]}" --field 1 --time-field 2 >"$tmp/kept"
check_equal "all of its records pass" 24 "$(wc -l <"$tmp/kept")"
check "a leaf that is back is asked again" test "$(said c 'j["alone"]')" -le 16
check "... which was away" test "$(said c 'j["alone"]')" -ge 2

# Three levels: what only the root falsely has is looked for below.
deep=("${bloom[@]}" --tree sparse --top-down 2 --memory 2KiB)
node deep root "${deep[@]}"
for middle in left right; do node deep $middle --parent root "${deep[@]}"; done
for leaf in a b; do node deep $leaf --parent left "${deep[@]}"; done
for leaf in c d; do node deep $leaf --parent right "${deep[@]}"; done
check "three levels serve" up deep root left right a b c d
check_equal "a leaf knows its level" 2 "$(counts deep d "j['level']")"
seq 12000 | split -n r/4 - "$tmp/quarter."
cat "$tmp"/quarter.* >"$tmp/all"
i=0
for part in "$tmp"/quarter.*; do producer deep "${leaves[i++]}" "${deep[@]}" "$part"; done >"$tmp/kept"
one "${bloom[@]}" --memory 2KiB "$tmp/all" >"$tmp/one"
check "top-down testing loses fewer distinct ones than one filter" test "$(wc -l <"$tmp/kept")" -gt "$(($(wc -l <"$tmp/one") + 500))"
check "since matches are refuted" test "$(counts deep root "j['refuted']")" -gt 300
head -n 500 "$tmp/kept" >"$tmp/again"
check_equal "and misses no copy" 0 "$(producer deep d "${deep[@]}" "$tmp/again" | wc -l)"

# Above the leaf the root fails: the leaf waits for it as long as its producer does for the leaf, and is heard meanwhile.
# What the root has said is said again meanwhile: it is no more for that.
tall=("${bloom[@]}" --tree dense)
"${here[@]}" tests/cluster/replay.py 127.0.0.1 4222 xdd.tall.trees >"$tmp/replay" 2>&1 &
replay=$!
running+=("$replay")
wait_until grep -q ready "$tmp/replay"
node tall root "${tall[@]}"
node tall left --parent root "${tall[@]}"
for leaf in a b; do node tall $leaf --parent left "${tall[@]}"; done
check "a tree of three levels" up tall root left a b
kill -9 "${pid[tall.root]}"
seq -f 'far%g' 3 >"$tmp/keys"
check_equal "below a dead root two levels down" 3 "$(producer tall a "${tall[@]}" "$tmp/keys" | wc -l)"
check_equal "no producer takes its leaf for dead" 0 "$(said a 'j["alone"]')"
check_equal "nor a leaf its parent" "0 ok" "$(counts tall a "j['alone'], j['parent_state']" | tr -d "(',)")"
check_equal "which decides alone" 3 "$(counts tall left "j['alone']")"
check "and says so" says tall.left 'parent root does not answer: what is not found here is distinct until it does'
check_equal "so both know the keys then" "0 0" "$(producer tall a "${tall[@]}" "$tmp/keys" | wc -l) $(producer tall b "${tall[@]}" "$tmp/keys" | wc -l)"
sleep 3 # an answer to who is there is believed for so long
kill -USR1 $replay
wait_until grep -q again "$tmp/replay"
check "what was said comes again" test "$(sed -n 's/again //p' "$tmp/replay")" -gt 10
sleep 1
check_equal "a dead root is not back for that" "failed 0" "$(counts tall left "j['parent_state'], j['refused']" | tr -d "(',)")"
check "nor did a node end" kill -0 "${pid[tall.left]}" "${pid[tall.a]}" "${pid[tall.b]}"
node tall root "${tall[@]}"
check "until the root is back" says tall.left 'parent root is back'
kill -USR1 $replay
wait_until bash -c "[ \$(grep -c again '$tmp/replay') = 2 ]"
seq -f 'near%g' 40 >"$tmp/keys"
check_equal "what its first life said changes nothing" "40 0" "$(producer tall a "${tall[@]}" "$tmp/keys" | wc -l) $(producer tall b "${tall[@]}" "$tmp/keys" | wc -l)"
check_equal "and the new one is asked" "ok 3" "$(counts tall left "j['parent_state'], j['alone']" | tr -d "(',)")"

# What can never work is said in words, soon: nobody has the name, a circle of two and of three, and itself.
node lost alone --parent nobody "${bloom[@]}" --tree dense
node lost x --parent y "${bloom[@]}" --tree dense
node lost y --parent x "${bloom[@]}" --tree dense
for way in "u v" "v w" "w u"; do node lost "${way% *}" --parent "${way#* }" "${bloom[@]}" --tree dense; done
node lost below --parent alone "${bloom[@]}" --tree dense
check "nobody has the parent's name" says lost.alone 'site: no site nobody of group lost answers'
check "the parent waits for its own" says lost.below 'site: site alone is there, but waits for its own parent nobody'
for name in x y u v w; do check "$name: a circle" says lost.$name "parent . is itself below $name: no root is above them"; done
check_equal "which the state tells" "circle not found not open" \
	"$(for name in x alone below; do counts lost $name "j['parent_state']"; done | xargs)"
node lost nobody "${bloom[@]}" --tree dense
check "until somebody has it" up lost nobody alone below
check_equal "said once" "1 1 1" "$(for name in alone below x; do grep -c 'again and again' "$tmp/lost.$name"; done | xargs)"
kill -9 "${pid[lost.nobody]}"
node lost nobody --parent below "${bloom[@]}" --tree dense
check "a root that comes back below its own children says so" says lost.nobody 'parent below is itself below nobody'

# A root whose filter is sliced over two sites: verdicts are one filter's; a site is killed.
cut=("${bloom[@]}" --slicing vertical)
# serve GROUP NAME SLICES
serve() {
	"${here[@]}" "$xdd" site --nats $nats --secret-file "$tmp/secret" --group "$1" "${cut[@]}" --slices "$3" \
		--name "$2" --json >>"$tmp/$1.$2" 2>&1 &
	pid[$1.$2]=$!
	running+=($!)
}
cut -f 1 "$tmp/records" | one "${cut[@]}" --slices 8 >"$tmp/one"
for kind in sparse dense; do
	group=$kind-cut
	options=("${cut[@]}" --slices 8 --tree "$kind" --site-timeout 4s)
	serve $group low 0-3/8
	serve $group high 4-7/8
	for name in low high; do check "slices of a $kind root are served: $name" says $group.$name 'serving slices'; done
	node $group root "${options[@]}" --sites
	for leaf in a b; do node $group $leaf --parent root "${options[@]}"; done
	check "a $kind tree above them" up $group root a b
	: >"$tmp/kept"
	leaves=(a b)
	i=0
	for part in "$tmp"/part.*; do
		cut -f 1 "$part" | producer $group "${leaves[i++ % 2]}" "${options[@]}" >>"$tmp/kept"
	done
	check "$kind: verdicts are one filter's" cmp "$tmp/one" "$tmp/kept"
	check_equal "$kind: the root passed them" "$(wc -l <"$tmp/one")" "$(counts $group root "j['distinct']")"
	check "$kind: its sites were asked" test "$(counts $group root "j['sites']['visits']")" -gt 40000
done
kill -9 "${pid[dense-cut.high]}"
wait "${pid[dense-cut.high]}" 2>/dev/null
seq -f 'new%g' 40 >"$tmp/keys"
check_equal "without a site what its slices would decide passes" "40 0" \
	"$(producer dense-cut a "${options[@]}" "$tmp/keys" | wc -l) $(said a 'j["alone"]')"
check_equal "as the root decides, whom nobody takes for dead" "0 failed" "$(counts dense-cut a "j['alone']") $(
	counts dense-cut root "[s['state'] for s in j['sites']['sites'] if 'high' in s['site']][0]")"

# Who does not fit.
# refused COMMAND OPTION...
refused() { timeout 20 "${here[@]}" "$xdd" "$@" --nats "$nats" --secret-file "$tmp/secret"; }
check_command "a node is not its own parent" 2 '' '--parent e: is this site itself' refused site --group dense --name e --parent e --tree dense "${bloom[@]}"
check_command "a name is had once" 1 '' 'there is a site a in group dense already' refused site --group dense --name a --parent root --tree dense "${bloom[@]}"
check_command "a second root is a --parent that was forgotten" 1 '' 'there is a root root of group dense already: give --parent' refused site --group dense --name e --tree dense "${bloom[@]}"
check_command "a name that no --parent and --leaf could say" 2 '' 'longer than the 30 characters' refused site --group dense --name abcdefghijklmnopqrstuvwxyz01234 --tree dense "${bloom[@]}"
check_command "another tree" 1 '' 'site root of group dense has another tree .*tree dense.*tree sparse' refused site --group dense --name e --parent root --tree sparse "${bloom[@]}"
check_command "another filter" 1 '' 'site a of group dense has another tree' refused stream --group dense --leaf a "${bloom[@]}" --hashes 5 "$tmp/events"
check_command "slices and a tree" 2 '' 'give --slices 0-9/40, or --tree, --parent' "$xdd" site --nats $nats --tree dense --slicing vertical --slices 0-1/2 "${bloom[@]}"
check_command "--sites below a parent" 2 '' '--sites is for the root of a tree' "$xdd" site --nats $nats --tree dense --parent root --sites "${bloom[@]}"
check_command "--sites of one slice" 2 '' 'there is nothing to spread' "$xdd" site --nats $nats --tree dense --sites "${bloom[@]}"
check_command "a dense tree of timers above sites" 2 '' 'give --tree sparse' "$xdd" site --nats $nats --tree dense --sites "${timer[@]}" --slicing vertical --slices 8
check_command "a root whose sites are not there" 1 '' 'no site of group nowhere answers' refused site --group nowhere --tree dense --sites "${bloom[@]}" --slicing vertical --slices 8
node nowhere root --tree dense --sites --silence 1min "${bloom[@]}" --slicing vertical --slices 8
sleep 1
kill "${pid[nowhere.root]}"
check "... is ended while it looks for them" wait_gone "${pid[nowhere.root]}"
wait "${pid[nowhere.root]}"
check_equal "... without an error" 0 $?
check_command "--silence of a site that looks for none" 2 '' '--silence is how long the root' "$xdd" site --nats $nats --tree dense --silence 1min "${bloom[@]}"
check_command "--leaf and --sites" 2 '' '--sites asks who has slices of a filter' "$xdd" stream --nats $nats --leaf a --sites "${bloom[@]}"
check_command "--tree without --leaf" 2 '' 'add --leaf SITE' "$xdd" stream --tree dense "${bloom[@]}"
check_command "--top-down without --tree" 2 '' 'are for trees: add --tree' "$xdd" site --nats $nats --top-down 1 --slicing vertical --slices 0-1/2 "${bloom[@]}"
kill "${pid[dense.d]}"
wait "${pid[dense.d]}"
check_equal "a signal ends a node, which says what it did" "0 d" "$? $(tac "$tmp/dense.d" | awk '/^}/ { on = 1 } on { print } on && /^{/ { exit }' | tac | json /dev/stdin "j['site']")"
finish
