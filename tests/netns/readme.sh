#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# README.md is true: every command that it shows works, in a namespace and a folder that have what it
# names. Commands that install or build are there; what they do has tests of its own.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

readme=README.md
for name in eth1 taps tap; do
	if [ -e "$pins/$name" ]; then
		skip "README" "$name is loaded on this machine"
		finish
	fi
done
unload_all() {
	local name
	for name in eth1 taps tap; do
		[ ! -e "$pins/$name" ] || "$xdd" unload "$name" --quiet
	done
}
at_exit unload_all

# The interfaces that the README names. What is redirected to a veth arrives if its peer has gro.
pair "1$out" eth1
pair "2$out" eth2
pair "t$out" tool0
in_tx ethtool -K "t$out" gro on
in_rx ip link set lo up # for a server of NATS

# And the files.
mkdir "$tmp/files" "$tmp/bin"
gencap=$BUILD/tests/tools/gencap
"$gencap" --frames 500 --ttl -o "$tmp/files/in.pcap" 2>/dev/null
"$gencap" --frames 500 --ttl --format pcapng -o "$tmp/files/in.pcapng" 2>/dev/null
"$gencap" --frames 500 --seed 2 -o "$tmp/files/tap1.pcap" 2>/dev/null
gzip -c "$tmp/files/tap1.pcap" >"$tmp/files/tap2.pcap.gz"

# The program is in the path, `run` gets its Ctrl-C, and root needs no sudo.
cat >"$tmp/bin/xdp-dedup" <<END
#!/bin/sh
[ "\$1" != run ] || exec timeout -s INT --preserve-status 3 "$xdd" "\$@"
exec "$xdd" "\$@"
END
printf '#!/bin/sh\nexec "$@"\n' >"$tmp/bin/sudo"
chmod +x "$tmp/bin/xdp-dedup" "$tmp/bin/sudo"

# run BLOCK: its commands, with traffic that they can see
run() {
	transmit "$tmp/files/in.pcap" 20000 "1$out"
	cd "$tmp/files" && in_rx env PATH="$tmp/bin:$PATH" bash -e -o pipefail "$1"
}

# is_there COMMAND-LINE: the script, or the target of make
is_there() {
	local words
	read -ra words <<<"${1#sudo }"
	case ${words[0]} in
	make) make -n "${words[@]:1}" BUILD="$BUILD" ;;
	*) test -x "${words[0]}" ;;
	esac
}

# The commands of each ```sh block, in $tmp/block.NN
awk -v to="$tmp/block." '/^```/ { n += ($0 == "```sh"); on = ($0 == "```sh"); next }
	on { print > sprintf("%s%02d", to, n) }' $readme
check "there are commands" test "$(find "$tmp" -name 'block.*' | wc -l)" -gt 15

for block in "$tmp"/block.*; do
	if ! grep -Eqv '^(sudo )?(scripts/|make)' "$block"; then
		while read -r line; do
			check "$line: is there" is_there "$line"
		done <"$block"
	else
		check "$(head -n 1 "$block")" run "$block"
	fi
done
check_equal "the README unloads what it loads" "" \
	"$(find "$pins" -mindepth 1 -maxdepth 1 \( -name eth1 -o -name taps -o -name tap \) 2>/dev/null)"

# Every option that the text names is one.
for command in check run load unload set status top fault watch pcap explain learn stream site joint simulate plan bench report agent events; do
	"$xdd" $command --help
done | grep -Eo -e '--[a-z][a-z-]*' | sort -u >"$tmp/options"
printf "%s\n" --no-install --now --preserve-status >>"$tmp/options" # of scripts/demo, systemctl, timeout
grep -Eo -e '--[a-z][a-z-]*' $readme | sort -u | grep -vxF -f "$tmp/options" >"$tmp/unknown"
check_equal "options that are none" "" "$(cat "$tmp/unknown")"

# heading ANCHOR: whether the README has a heading that is called so in links.
heading() {
	sed -n 's/^#* //p' "$readme" | tr 'A-Z ' 'a-z-' | grep -qx -e "$1"
}

# And every file, folder and heading.
for path in $(grep -Eo '\]\([^)]*\)' $readme | tr -d '()]') \
	$(grep -Eo '(^|[ `=("])(include|maps|bpf|user|tests|scripts)/[a-z_/.-]*' $readme | tr -d ' `=("'); do
	case $path in
	"#"*) heading "${path#"#"}" ;;
	*) [ -e "$path" ] ;;
	esac || echo "$path"
done >"$tmp/absent"
check_equal "files that are absent" "" "$(cat "$tmp/absent")"
finish
