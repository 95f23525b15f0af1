#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make install and uninstall; the manual page and the completion that are made from the tables.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/../tap.sh"

root=$tmp/root
install() { make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr "$1"; }
check "make install" install install
program=$root/usr/sbin/xdp-dedup
check "the program runs from there" "$program" --version
page=$root/usr/share/man/man8/xdp-dedup.8
check_equal "roff has nothing to warn of" "" "$(groff -man -Tutf8 -ww -z "$page" 2>&1)"
man -l "$page" 2>"$tmp/err" | col -bx >"$tmp/page"
check_equal "man has nothing to say" "" "$(cat "$tmp/err")"
commands=$("$xdd" --help | sed -n '/^Commands/,/^$/p' | awk '/^  [a-z]/ { print $1 }')
missing=
for command in $commands; do
	grep -q "^ *$command\b" "$tmp/page" || missing="$missing $command"
	for option in $("$xdd" "$command" --help | grep -o '^ .*--[a-z-]*' | grep -o -e '--[a-z-]*$'); do
		grep -q -e "^ .*$option\b" "$tmp/page" || missing="$missing $option"
	done
done
check_equal "every command and every option is in it" "" "$missing"
for topic in engines metrics records; do
	line=$("$xdd" help $topic | sed -n 3p)
	check "help $topic is in it, a line as it is" grep -qF -e "$line" "$tmp/page"
done

completion=$root/usr/share/bash-completion/completions/xdp-dedup
check "shellcheck has nothing against the completion" shellcheck -s bash "$completion"
# complete WORD...: what the last one may become
complete_words() {
	bash -c '. "$1"; shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_xdp_dedup xdp-dedup "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	echo ${COMPREPLY[*]}' complete "$completion" "$@"
}
check_equal "commands" "status stream" "$(complete_words xdp-dedup st)"
check_equal "options" "--window --window-records" "$(complete_words xdp-dedup pcap --win)"
check_equal "values" "xxh64" "$(complete_words xdp-dedup pcap --hash x)"
check_equal "auto is one" "auto" "$(complete_words xdp-dedup load --mode a)"
check_equal "interfaces" "lo" "$(complete_words xdp-dedup load lo)"
check_equal "files" "Makefile" "$(complete_words xdp-dedup pcap Make)"
check_equal "topics" "engines" "$(complete_words xdp-dedup help en)"
check_equal "nothing where a number comes" "" "$(complete_words xdp-dedup load --memory '')"

check "make uninstall" install uninstall
check_equal "leaves nothing" "" "$(find "$root" -type f)"
finish
