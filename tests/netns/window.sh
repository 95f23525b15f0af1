#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The window behaves as status says: copies up to one distance are surely found, beyond another
# never. Distances are certain, since the program is run by BPF_PROG_RUN between two looks at the
# clock.
. "$(dirname "$0")/lib.sh"

# as_stated NAME PAIRS OPTION...
as_stated() {
	local name=$1 pairs=$2 sure never found
	shift 2
	load "$in" "$@" || { fail "$name: load"; return; }
	"$xdd" status "$in" --json >"$tmp/status"
	sure=$(json "$tmp/status" 'j[0]["config"]["range"]["surely_found_ns"]')
	never=$(json "$tmp/status" 'j[0]["config"]["range"]["never_found_beyond_ns"]')
	found=$("$BUILD/tests/tools/pairs" "$pins/$in/program" "$sure" "$never" "$pairs")
	check_equal "$name: all copies up to $sure ns apart are found, none beyond $never ns" \
		"$(awk '{ print ($1 > 20 && $3 > 5), $1, 0 }' <<<"$found")" \
		"$(awk '{ print 1, $2, $4 }' <<<"$found")"
	"$xdd" unload "$in"
}

as_stated "100us" 4000 --window 100us
as_stated "100us, timers, shared" 4000 --window 100us --engine timer --placement shared
as_stated "1ms" 1000 --window 1ms
as_stated "1ms, shared" 1000 --window 1ms --placement shared
as_stated "1ms, exact" 1000 --window 1ms --engine exact
as_stated "20ms" 100 --window 20ms
as_stated "20ms in 119 ticks" 100 --window 20ms --ticks 119
as_stated "200ms, coarse clock" 60 --window 200ms --clock coarse
finish
