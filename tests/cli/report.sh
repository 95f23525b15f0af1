#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# report: a page and a picture of each kind of result; a browser finds every text of them in its place and
# readable, by day and by night; and what is no result is refused in words.
# shellcheck disable=SC2317 # a skip ends it
. "$(dirname "$0")/../tap.sh"

"$xdd" simulate --engine bsbf --memory 64KiB --records 200k --domain 200k --every 20k --runs 3 --json >"$tmp/one.json"
"$xdd" simulate --engine tagged --memory 64KiB --window-records 10k --domain 20k --json >"$tmp/two.json"
cat "$tmp/one.json" "$tmp/two.json" >"$tmp/lines.json"
python3 tests/netns/frames.py make "$tmp/in<&>.pcap" --packets 3000 --copies 1
"$xdd" pcap "$tmp/in<&>.pcap" --audit 1/4 --json >"$tmp/pcap.json"
printf 'a\nb\na\n' | "$xdd" stream --json 2>"$tmp/stream.json" >"$tmp/out"
# As bench prints it, which takes minutes.
cat >"$tmp/bench.json" <<'END'
[ {"name": "empty program", "engine": null, "placement": "shared", "keys": 1000, "packet_bytes": 64,
   "hit_ratio": 1.0, "ns": 7.1, "ns_over_baseline": 0.0, "mpps": 140.8, "memory_bytes": 0},
  {"name": "LRU hash of 16 bytes, and more words than there is room for", "engine": "exact",
   "placement": "shared", "keys": 1000, "packet_bytes": 64, "hit_ratio": 1.0, "ns": 90.5,
   "ns_over_baseline": 83.4, "mpps": 11.0, "memory_bytes": 64000},
  {"name": "tagged", "engine": "tagged", "placement": "shared", "keys": 1000, "packet_bytes": 64,
   "hit_ratio": 1.0, "ns": 70.5, "ns_over_baseline": 63.4, "mpps": 14.2, "memory_bytes": 64000},
  {"name": "tagged", "engine": "tagged", "placement": "percpu", "keys": 1000, "packet_bytes": 64,
   "hit_ratio": 1.0, "ns": 60.5, "ns_over_baseline": 53.4, "mpps": 16.5, "memory_bytes": 64000},
  {"name": "tagged", "engine": "tagged", "placement": "shared", "keys": 1000000, "packet_bytes": 64,
   "hit_ratio": 0.5, "ns": 99.5, "ns_over_baseline": 92.4, "mpps": 10.1, "memory_bytes": 64000} ]
END

# check_none NAME ARGUMENT...: grep finds nothing
check_none() { check_equal "$1" "" "$(grep "${@:2}")"; }

ln -s later.svg "$tmp/link.svg"
check_command "behind a link to what is not there yet" 0 '' '' "$xdd" report "$tmp/stream.json" -o "$tmp/link.svg"
check "... which stays a link" test -L "$tmp/link.svg" -a -s "$tmp/later.svg"
rm "$tmp/link.svg" "$tmp/later.svg"
ln -s link.svg "$tmp/link.svg"
check_command "a link to itself" 1 '' 'link.svg.*[Ss]ymbolic links' "$xdd" report "$tmp/stream.json" -o "$tmp/link.svg"
rm "$tmp/link.svg"
for kind in lines pcap bench stream; do
	check_command "$kind: a page" 0 '' '' "$xdd" report "$tmp/$kind.json" -o "$tmp/$kind.html"
	check_command "$kind: a picture" 0 '' '' "$xdd" report "$tmp/$kind.json" -o "$tmp/$kind.svg"
	check_command "$kind: ... that is XML" 0 '' '' python3 -c \
		'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$tmp/$kind.svg"
	check_none "$kind: nothing comes from elsewhere" -Eiq '<script|href=|src=|url\(|@import' \
		"$tmp/$kind.html" "$tmp/$kind.svg"
done
has() { check "$1" grep -q -- "$3" "$tmp/$2"; }
has "the command line, for who wants to repeat it" lines.html \
	'xdp-dedup simulate --engine bsbf --memory 64KiB --records 200k --domain 200k --every 20k --runs 3 --json'
has "axes with their units" lines.html '>share of distinct records called duplicate<'
for what in 'of all so far' 'of all so far, by the model' 'at that point' 'at that point, by the model'; do
	has "a legend: $what" lines.html ">bsbf, 64 KiB: $what<"
done
# What is drawn beside each other is of one kind: in a filter that only fills, a mean is below the last rate.
"$xdd" simulate --engine bsbf --memory 64KiB --records 200k --domain 100M --every 5k --json >"$tmp/mean.json"
"$xdd" report "$tmp/mean.json" -o "$tmp/mean.svg"
ends() {
	python3 - "$tmp/mean.svg" "$tmp/mean.json" <<-'END'
		import json, re, sys
		lines = re.findall(r'<path class="l s( d)?" d="[^"]*L[0-9.]+ ([0-9.]+)"', open(sys.argv[1]).read())
		rates = json.load(open(sys.argv[2]))
		(_, measured), (dashed, model) = lines[:2]
		print(rates["fpr_model"] > 1.5 * rates["fpr"], dashed, abs(float(measured) - float(model)) < 5)
	END
}
check_equal "the model's mean so far ends where the measured one does" "True  d True" "$(ends)"
has "verdicts over time" pcap.html 'Verdicts over time: in&lt;&amp;&gt;.pcap'
has "the numbers" pcap.html '<th>duplicates</th><td class="n">3000</td>'
has "one picture for each load of bench" bench.html '1000000 keys, 64 bytes, 50 % duplicates'
has "... whose bars say what is unusual of them" bench.html '>tagged, percpu<'
check_equal "a point for each row of the series and for the end, in three plots" 30 \
	"$(grep -c '<circle' "$tmp/lines.svg")"
check_command "several files, as JSON" 0 '"inputs": 4' '' \
	"$xdd" report "$tmp/lines.json" "$tmp/pcap.json" "$tmp/bench.json" -o "$tmp/all.html" --json
"$xdd" report "$tmp"/{lines,pcap,bench}.json -o "$tmp/all.svg"
printf "%s" "$(<"$tmp/one.json")" | "$xdd" report - -o "$tmp/stdin.html"
check "from stdin" cmp -s "$tmp/stdin.html" <("$xdd" report "$tmp/one.json" -o "$tmp/file.html" && cat "$tmp/file.html")

refused() {
	check_command "$1" "$2" '' "$3" "$xdd" report "${@:4}"
}
echo '{"packets": 1}' >"$tmp/other.json"
echo '{"packets": ' >"$tmp/cut.json"
: >"$tmp/empty.json"
printf '[1, 2]' >"$tmp/numbers.json"
cp "$tmp/one.json" "$tmp/one.svg"
refused "onto its input: exit 2" 2 'is an input, too' "$tmp/one.svg" -o "$tmp/one.svg"
check "... which stays" cmp "$tmp/one.json" "$tmp/one.svg"
for kind in other empty numbers; do
	refused "$kind: refused" 1 "$kind.json: not what pcap, stream, simulate or bench print" \
		"$tmp/$kind.json" -o "$tmp/no.html"
done
refused "cut: refused" 1 'cut.json: not JSON' "$tmp/cut.json" -o "$tmp/no.html"
refused "one good and one bad" 1 'other.json' "$tmp/one.json" "$tmp/other.json" -o "$tmp/no.html"
refused "no such file" 1 'none.json: No such file' "$tmp/none.json" -o "$tmp/no.html"
check "... leave no file" test ! -e "$tmp/no.html"
refused "no output" 2 '-o report.html' "$tmp/one.json"
refused "an output that is neither" 2 '-o report.html' "$tmp/one.json" -o "$tmp/no.png"
refused "no file" 2 'too few arguments' -o "$tmp/no.html"
refused "an output that cannot be written" 1 'cannot be written' "$tmp/one.json" -o /none/no.html
# Nothing that is in a file may become a part of the page.
sed 's/"tagged"/"<script>alert(1)<\/script>"/' "$tmp/two.json" >"$tmp/script.json"
"$xdd" report "$tmp/script.json" -o "$tmp/script.html"
check_none "markup in a file stays text" '<script' "$tmp/script.html"
# Numbers that no command prints.
sed 's/"fpr": *[0-9.e-]*/"fpr": 1e308/g' "$tmp/two.json" >"$tmp/vast.json"
"$xdd" report "$tmp/vast.json" -o "$tmp/vast.html"
check_none "a vast number is left out" '[^a-z]inf[^a-z]\|nan' "$tmp/vast.html"

if ! chromium=$(command -v chromium); then
	skip "a browser shows every text, readable" "no chromium"
	finish
fi
looked() { HOME=$tmp python3 tests/cli/report.py "$chromium" "$tmp" "$@" 2>&1; }
check_equal "a browser shows every text in its place and readable, by day and by night" "" \
	"$(looked "$tmp"/{lines,pcap,bench,all}.{html,svg})"
# Where it is not so, it says so.
cat >"$tmp/bad.html" <<'END'
<!DOCTYPE html><style>:root{--page:#fff}</style><body><svg width="200" height="50">
<text x="10" y="20">one</text><text x="12" y="22">two</text><text x="190" y="20">beyond</text>
<text x="10" y="45" fill="#eee">pale</text></svg></body>
END
check_equal "... which it would say" "cannot be read: pale;leaves its picture: beyond;lies on one: two;" \
	"$(looked "$tmp/bad.html" | sed 's/^bad[^:]*: //' | sort -u | tr '\n' ';')"
check_command "-o -: it is told that it cannot be stdout" 2 '' 'cannot be stdout: -o report.html' \
	"$xdd" report -o - "$0"
finish
