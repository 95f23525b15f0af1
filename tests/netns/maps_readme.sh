#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# maps/README.md is true: every command that it shows works on an instance of each kind, it names
# every pin and every field, and what its commands add up is what status says.
. "$(dirname "$0")/lib.sh"

readme=maps/README.md

# The commands of each ```sh block, in $tmp/block.N
awk -v to="$tmp/block." '/^```/ { n += ($0 == "```sh"); on = ($0 == "```sh"); next }
	on { print > (to n) }' $readme
blocks=$(find "$tmp" -name 'block.*' | wc -l)
check "there are commands" test "$blocks" -gt 10

# undocumented FILE: those words in it that do not stand in the README as code
undocumented() {
	local word
	while read -r word; do
		grep -Eq -e "\`([a-z_]+\.)?$word\`" $readme || echo "$word"
	done <"$1"
}

# run_all NAME: every block, in the folder of pins
run_all() {
	local block failed=
	for block in "$tmp"/block.*; do
		if ! (cd "$pins/$1" && bash -e "$block") >"$tmp/out" 2>"$tmp/err" ||
			[ -s "$tmp/err" ]; then
			failed="$failed $(head -n 1 "$block"): $(head -c 300 "$tmp/err")"
		fi
		cp "$tmp/out" "$tmp/out.${block##*.}"
	done
	echo "$failed"
}

# output PATTERN: of the block that has PATTERN
output() {
	local block
	block=$(grep -l -e "$1" "$tmp"/block.* | head -n 1)
	cat "$tmp/out.${block##*.}"
}

# kind NAME OPTION...
kind() {
	local name=$1
	shift
	load "$in" "$@" || { fail "$name: load"; return; }
	transmit "$tmp/frames.pcap"
	"$xdd" status "$in" --json >"$tmp/status"
	check_equal "$name: every command works" "" "$(run_all "$in")"
	find "$pins/$in" -mindepth 1 -printf '%f\n' | sed 's/^link_.*/link_*/' >"$tmp/pins"
	sed -i 's/\*/./' "$tmp/pins"
	check_equal "$name: every pin is described" "" "$(undocumented "$tmp/pins")"
	check_equal "$name: the sums are those of status" \
		"$(json "$tmp/status" '"%d packets %d bytes" % tuple(
			j[0]["counters"]["total"]["duplicate"][k] for k in ("packets", "bytes"))')" \
		"$(output 'print("slot"' | sed -n 's/^ *duplicate //p' | head -n 1)"
}

"$frames" make "$tmp/frames.pcap" --packets 300 --copies 2
kind "tagged, a CPU's own" --window 10s --placement percpu
for map in config meta ager top; do
	bpftool -j map dump pinned "$pins/$in/$map" | json /dev/stdin \
		'"\n".join(k for e in j for v in [e["formatted"]] for k in
			(v["value"] if "value" in v else v["values"][0]["value"])
			if k not in ("pad", "fill"))' |
		sort -u >"$tmp/fields"
	check "$map has fields" test -s "$tmp/fields"
	check_equal "every field of $map is described" "" "$(undocumented "$tmp/fields")"
done
"$xdd" unload "$in"
kind "tagged, shared" --window 10s --placement shared
check_equal "the rate is that of status" \
	"$(json "$tmp/status" '"%.3g" % j[0]["fpr_model"]')" \
	"$(output 'rate' | sed 's/.*rate //' | xargs printf '%.3g\n')"
"$xdd" unload "$in"
kind "timer, slices" --window 10s --engine timer --slices 16 --memory 1MiB
"$xdd" unload "$in"
kind "timer, growing" --window 10s --engine timer --memory 1MiB --grow density --slices 4
bpftool -j map dump pinned "$pins/$in/chains" | json /dev/stdin \
	'"\n".join(k for e in j for k in e["formatted"]["value"] if not k.startswith("pad"))' |
	sort -u >"$tmp/fields"
check_equal "every field of chains is described" "" "$(undocumented "$tmp/fields")"
check_equal "the filters are those of status" \
	"$(json "$tmp/status" '"\n".join(map(str, j[0]["growth"]["filters_live_of"]))')" \
	"$(output 'asks' | sed 's/.*asks //; s/ filters//')"
"$xdd" unload "$in"
for placement in shared percpu; do
	kind "rlbsbf, $placement" --engine rlbsbf --key src --placement $placement --memory 1MiB
	check_equal "rlbsbf, $placement: the loads are those of status" \
		"$(json "$tmp/status" '"\n".join("loads " + " ".join(f"{n:.3g}" for n in cpu)
			for cpu in j[0]["loads"] if any(cpu))')" "$(output 'print("loads"')"
	check "... above zero" grep -Eq '^loads( [1-9][0-9.]*e-0[4-9]){2}$' <(output 'print("loads"')
	"$xdd" unload "$in"
done
kind "exact, digests" --window 10s --engine exact
check_equal "the most often suppressed are those of status" \
	"$(json "$tmp/status" '"\n".join(str(k["packets"]) for k in j[0]["top_suppressed"])')" \
	"$(output 'suppressed {n}' | sed 's/.*suppressed //')"
check "digests are shown" grep -q time_ns <(output 'digests')
"$xdd" unload "$in"
kind "tagged, with peers" --window 10s --peers 8 --memory 1MiB --collect 1000
for map in peers peer_gate peer_hits collecting; do
	bpftool -j map dump pinned "$pins/$in/$map" | json /dev/stdin \
		'"\n".join(k for e in j[:1] for v in [e["formatted"]] for k in
			(v["value"] if "value" in v else v["values"][0]["value"]) if not k.startswith("pad"))' |
		sort -u >"$tmp/fields"
	check "$map has fields" test -s "$tmp/fields"
	check_equal "every field of $map is described" "" "$(undocumented "$tmp/fields")"
done
"$xdd" unload "$in"
kind "exact, flows" --window 10s --engine exact --key flow
"$xdd" unload "$in"

printf '%s\n' '#include "xdd/counters.h"' '#include "xdd/audit.h"' '#define P(name, help) NAME name' \
	'#define C(name, word, help) NAME ambiguous_##name' \
	'XDD_VERDICTS(P) XDD_BYPASSES(P) XDD_ACTIONS(P) XDD_CLASSES(C) XDD_NOTES(P) XDD_AUDIT_COUNTS(P) NAME received' |
	gcc -E -P -Iinclude -x c - | grep -o 'NAME [a-z_]*' | sed 's/NAME //' >"$tmp/names"
check "counters.h has names" test "$(wc -l <"$tmp/names")" -gt 15
check_equal "every counter is described" "" "$(undocumented "$tmp/names")"
finish
