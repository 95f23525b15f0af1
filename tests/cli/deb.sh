#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make deb: lintian has no error to blame, and what is in the package works.
. "$(dirname "$0")/../tap.sh"

check "make deb" make -s BUILD="$BUILD" VERSION=9.8 deb
package=$BUILD/xdp-dedup_9.8.deb
at_exit rm -f "$package"
check_equal "lintian finds no error" "" "$(lintian --allow-root "$package" 2>&1 | grep '^E')"
check "it unpacks" dpkg -x "$package" "$tmp/root"
check "the program runs" "$tmp/root/usr/sbin/xdp-dedup" --version
check_equal "it depends on libraries, not on compilers" "" \
	"$(dpkg -f "$package" Depends | grep -oE 'clang|llvm|gcc|-dev|make')"
check_equal "every file has its sum" "" "$(dpkg -e "$package" "$tmp/control" &&
	cd "$tmp/root" && md5sum -c --quiet "$tmp/control/md5sums" 2>&1)"
check_command "deb without arguments" 2 '' '^usage: scripts/deb' scripts/deb
check_command "deb --help" 0 '^usage: scripts/deb' '' scripts/deb --help
finish
