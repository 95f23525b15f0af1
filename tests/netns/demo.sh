#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# scripts/demo works, fails if a number is wrong, and leaves nothing behind, also when it is stopped.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

missing=$(scripts/setup --run-only --no-install 2>&1) || missing="not Debian"
if [ -n "$missing" ]; then
	skip "scripts/demo" "$missing"
	finish
fi

# Its namespaces, pins and files, by the process id of a demo that was started here.
left_behind() {
	find /run/netns "$pins" "$tmp/demo" -mindepth 1 -maxdepth 1 \
		\( -path "$tmp/demo/*" -o -name "*demo*-$1" \) 2>/dev/null
}

# start NAME=VALUE...: the demo in the background; `demo` is its process id
start() {
	mkdir -p "$tmp/demo"
	env TMPDIR="$tmp/demo" "$@" scripts/demo >"$tmp/output" 2>&1 &
	demo=$!
}

check_command "an unknown option" 2 '' 'usage: scripts/demo' scripts/demo --yes
check_command "--no-install says what is missing" 0 'is installed' '' scripts/demo --no-install

start
wait "$demo"
check_equal "it works" 0 $?
check_equal "all numbers agree" "6 0" \
	"$(grep -c '^   yes  ' "$tmp/output") $(grep -c '^   NO ' "$tmp/output")"
check "and it says so" grep -q '^They agree: 8211 of 20000 frames were copies' "$tmp/output"
check_equal "nothing is left behind" "" "$(left_behind "$demo")"

# A bpftool that sees a packet less.
mkdir "$tmp/bin"
cat >"$tmp/bin/bpftool" <<END
#!/bin/sh
$(PATH=$PATH:/usr/sbin command -v bpftool) "\$@" | sed '0,/"packets": [1-9]/s/\("packets": [0-9]*\)./\10/'
END
chmod +x "$tmp/bin/bpftool"
start PATH="$tmp/bin:$PATH"
wait "$demo"
check_equal "a number that disagrees is a failure" 1 $?
check "which it names" grep -q '^   NO   the counters in the kernel say the same: ' "$tmp/output"
check_equal "nothing is left behind then" "" "$(left_behind "$demo")"

start
check "it loads" wait_until test -e "$pins/demo-$demo/counters"
kill -TERM "$demo"
wait "$demo"
check_equal "SIGTERM stops it" 143 $?
check_equal "nothing is left behind by that" "" "$(left_behind "$demo")"
finish
