#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The modelled FPR and the true one, in streams of ten million records: see tests/cli/model.py. For engine
# tagged, whose tags of 24 bits take 6e9 of them and half an hour: XDD_MODEL=6e9 tests/bench/model.sh tagged
. "$(dirname "$0")/../tap.sh"

[ $# -gt 0 ] || set -- timer "timer, none" "timer, 20 slices" "timer, hv" "timer, 2x2" \
	bloom "bloom, a line each" sbf rsbf bsbf bsbfsd rlbsbf "rlbsbf, in line"
python3 tests/cli/model.py "$xdd" "${XDD_MODEL:-1e7}" "$@"
