#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 3900
# early
#
# Debian's older kernels, booted in an emulator (nested KVM is not to be relied on), take the programs and give the same verdicts.
# The kernels' packages are fetched once, to the build folder.
. "$(dirname "$0")/../tap.sh"

store=$BUILD/kernels
seconds=3600 # other tests go before; 1200 did not do on a machine with four times the work it has CPUs for

# newest VERSION: the name of the newest package of a kernel for virtual machines
newest() {
	apt-cache search --names-only "^linux-image-${1//./\\.}\\.[0-9].*-cloud-amd64\$" 2>/dev/null |
		cut -d' ' -f1 | sort -V | tail -n 1
}

# fetch PACKAGE: unpack its kernel into the store
fetch() {
	mkdir -p "$tmp/fetch" "$store"
	(cd "$tmp/fetch" && apt-get -q download "$1") >"$tmp/log" 2>&1 &&
		dpkg-deb -x "$tmp/fetch/$1"_*.deb "$tmp/fetch" &&
		cp "$tmp"/fetch/boot/vmlinuz-* "$store/$1"
	local code=$?
	rm -rf "$tmp/fetch"
	return $code
}

# boot KERNEL CONSOLE: what the machine prints goes to the file CONSOLE; it ends with the process group. Where others take all of the CPU for a
# while, a kernel that looks whether its timer runs would end there: no_timer_check.
boot() {
	timeout --foreground "$seconds" qemu-system-x86_64 -accel tcg -cpu max -m 1G -nographic \
		-no-reboot -kernel "$1" -initrd "$tmp/initramfs" \
		-append "console=ttyS0 quiet panic=-1 no_timer_check rdinit=/init" </dev/null 2>&1 |
		tr -d '\r' >"$2"
}

# results VERSION CONSOLE: a result for each of the machine's, and for each program that did not end
results() {
	local line name console=$2
	echo "# $1: $(grep -om 1 'kernel: .*' "$console" || echo 'did not boot')"
	while IFS= read -r line; do
		name=${line#*- }
		case $line in
		*"# SKIP"*) ;; # the captures are not in the machine
		"ok "*) pass "kernel $1: $name" ;;
		"not ok "*) fail "kernel $1: $name" "$(tail -n 40 "$console")" ;;
		esac
	done < <(grep -E '^(not )?ok [0-9]' "$console")
	for name in load verdicts growth tunnels swept; do
		check_equal "kernel $1: $name ended" "end: $name: 0" \
			"$(grep "^end: $name:" "$console" || tail -n 20 "$console")"
	done
}

# start VERSION: a machine that runs beside the others, with the console $tmp/VERSION
start() {
	local package
	if ! command -v qemu-system-x86_64 >/dev/null; then
		skip "kernel $1" "no qemu-system-x86_64 (make setup)"
		return
	fi
	package=$(newest "$1")
	if [ -z "$package" ]; then
		skip "kernel $1" "no package of it is known to apt (6.12: bookworm-backports)"
		return
	fi
	if [ ! -e "$store/$package" ] && ! fetch "$package"; then
		skip "kernel $1" "$package cannot be fetched: $(tail -n 1 "$tmp/log")"
		return
	fi
	boot "$store/$package" "$tmp/$1" &
	started+=("$1")
}

tests/kernels/initramfs.py "$tmp/initramfs" tests/kernels/init /bin/sh /bin/mount /bin/sleep \
	"$BUILD/tests/bpf/load" "$BUILD/tests/equivalence/verdicts" \
		"$BUILD/tests/equivalence/growth" "$BUILD/tests/equivalence/tunnels" \
		"$BUILD/tests/bpf/swept" ||
	{
		fail "initramfs"
		finish
	}
started=()
for version in 6.1 6.12; do
	start "$version"
done
wait
for version in "${started[@]}"; do
	results "$version" "$tmp/$version"
done
finish
