#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The modelled FPR is within 20 % of the true one up to 150 % of capacity, wherever 1000 false positives are
# expected of two million records; tests/bench/model.sh takes longer streams, and engine tagged as well
# (tests/unit/test_expected.c does so with fewer tags).
. "$(dirname "$0")/../tap.sh"

for name in timer "timer, hv" "timer, 2x2" "bloom, a line each" sbf rsbf bsbf bsbfsd "rlbsbf, in line"; do
	check "$name" python3 tests/cli/model.py "$xdd" 2e6 "$name"
done
finish
