#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What runs the tests: whatever goes wrong with a test counts as a failure, and setup and ci refuse
# what they cannot do.
. "$(dirname "$0")/../tap.sh"
unset XDD_TEST_ALONE # which .ci/run sets

# sums NAME EXPECTED CODE BODY: what tests/run prints last for a test with that body
sums() {
	local name=$1 expected=$2 code=$3 script=$tmp/test.sh found
	printf '#!/bin/bash\n%s\n' "$4" >"$script"
	chmod +x "$script"
	found=$(XDD_TEST_TIMEOUT=${5:-20} tests/run "$script")
	code="$code $?"
	check_equal "$name" "$expected, exit codes ${code% *} ${code% *}" \
		"$(tail -n 1 <<<"$found"), exit codes $code"
}

sums 'all is well' '2 passed, 0 failed' 0 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
sums 'a failure' '1 passed, 1 failed' 1 'echo 1..2; echo "ok 1"; echo "not ok 2 - b"; exit 1'
sums 'a failure without an exit code' '0 passed, 1 failed' 1 'echo "not ok 1"; echo 1..1'
sums 'a skip' '1 passed, 0 failed, 1 skipped' 0 'echo ok 1 - a; echo "ok 2 - b # SKIP no"; echo 1..2'
sums 'a test that is skipped as a whole' '0 passed, 0 failed, 1 skipped' 0 'echo "1..0 # SKIP no"'
sums 'no plan' '1 passed, 1 failed' 1 'echo ok 1'
sums 'fewer results than planned' '1 passed, 1 failed' 1 'echo 1..2; echo ok 1'
sums 'nothing printed' '0 passed, 1 failed' 1 ':'
sums 'an exit code without a failure' '1 passed, 1 failed' 1 'echo ok 1; echo 1..1; exit 3'
sums 'a crash' '1 passed, 1 failed' 1 'echo ok 1; echo 1..1; kill -SEGV $$'
sums 'a crash after a failure' '0 passed, 2 failed' 1 'echo not ok 1; echo 1..1; kill -SEGV $$'
sums 'a test without end' '1 passed, 1 failed' 1 'echo ok 1; echo 1..1; sleep 60' 1

printf '#!/bin/bash\necho "not ok 1 - first"; echo "ok 2"; echo 1..2\n' >"$tmp/first.sh"
printf '#!/bin/bash\necho ok 1; echo 1..1\n' >"$tmp/second.sh"
chmod +x "$tmp"/{first,second}.sh
check 'failures once more, before the sum' grep -qx '.*/first.sh: not ok 1 - first' \
	<(tests/run "$tmp"/{first,second}.sh | tail -n 2)

# One that is early runs while others do, and gives way to them.
cat >"$tmp/early.sh" <<-EOF
	#!/bin/bash
	# early
	nice >"$tmp/nice"
	for ((i = 0; i < 30; i++)); do [ ! -e "$tmp/second" ] || break; sleep 0.1; done
	[ -e "$tmp/second" ] && echo ok 1 || echo not ok 1
	echo 1..1
EOF
printf '#!/bin/bash\ntouch "%s"\necho ok 1; echo 1..1\n' "$tmp/second" >"$tmp/second.sh"
printf '#!/bin/bash\n# early\necho $$ >"%s"\nsleep 60\n' "$tmp/pid" >"$tmp/slow.sh"
chmod +x "$tmp"/{early,slow}.sh
check_command 'one that is early runs beside those before it' 0 '^2 passed, 0 failed$' '' \
	tests/run "$tmp"/{second,early}.sh
check_equal '... and gives way to them' 10 "$(cat "$tmp/nice")"
rm "$tmp/second"
check_command '... and is waited for in its turn' 1 '^1 passed, 1 failed$' '' tests/run "$tmp"/{early,second}.sh
tests/run "$tmp"/{early,slow}.sh >/dev/null &
wait_until test -s "$tmp/pid"
kill $!
wait $!
check '... and does not outlive the runner before that' wait_until bash -c "! kill -0 $(cat "$tmp/pid")"
rm "$tmp/pid"

if [ "$(id -u)" = 0 ]; then
	sums 'a namespace left behind' '1 passed, 1 failed' 1 "echo ok 1; echo 1..1; ip netns add xddl$$x\$\$"
	for left in /run/netns/"xddl$$x"*; do
		[ ! -e "$left" ] || ip netns del "$(basename "$left")"
	done
	sums 'a namespace of someone else' '1 passed, 0 failed' 0 "echo ok 1; echo 1..1; ip netns add xddo$$"
	ip netns del "xddo$$"
	alone=$(XDD_TEST_ALONE=1 tests/run "$tmp/test.sh" | tail -n 1)
	check_equal '... but not where tests run alone' '1 passed, 1 failed' "$alone"
	ip netns del "xddo$$"
	sums 'one that the test removes' '1 passed, 0 failed' 0 "ip netns add xddl$$x\$\$; ip netns del xddl$$x\$\$
		echo ok 1; echo 1..1"
else
	skip 'namespaces left behind' 'not root'
fi

# A run that is ended ends its test, too.
printf '#!/bin/bash\necho $$ >"%s"\nsleep 60\n' "$tmp/pid" >"$tmp/test.sh"
tests/run "$tmp/test.sh" >/dev/null &
wait_until test -s "$tmp/pid"
kill $!
wait $!
check "no test outlives the runner" wait_until bash -c "! kill -0 $(cat "$tmp/pid")"
sums 'one that hangs removes what it made' '0 passed, 1 failed' 1 "trap 'exit 143' TERM
	trap 'rm $tmp/made' EXIT
	touch $tmp/made
	sleep 60" 2
check "... before it is ended" test ! -e "$tmp/made"
rm "$tmp/test.sh"
check_command 'no such test' 1 '1 failed' '' tests/run "$tmp/test.sh"

check_command 'ci without captures' 1 '' 'no captures in /nonexistent' \
	env XDD_CAPTURES=/nonexistent .ci/run
check_command 'setup --help' 0 '^usage: scripts/setup' '' scripts/setup --help
check_command 'setup with an unknown option' 2 '' '^usage: scripts/setup' scripts/setup --no-instal
check 'setup --no-install' scripts/setup --no-install
check 'setup --run-only --no-install' scripts/setup --run-only --no-install
finish
