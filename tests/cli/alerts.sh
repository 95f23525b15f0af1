#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The alert rules: promtool accepts them, alerts.yml says when each fires, and they name no metric
# that is not exported.
. "$(dirname "$0")/../tap.sh"

rules=scripts/monitoring/xdp-dedup.rules.yml
cp $rules tests/cli/alerts.yml "$tmp"
check "promtool accepts the rules" promtool check rules "$tmp/xdp-dedup.rules.yml"
check "each fires where it should" promtool test rules "$tmp/alerts.yml"
check_equal "each has a test" "$(sed -n 's/.*- alert: //p' $rules | sort)" \
	"$(sed -n 's/.*- alertname: //p' tests/cli/alerts.yml | sort -u)"
"$xdd" help metrics | grep -o 'xdp_dedup_[a-z_]*' | sort >"$tmp/exported"
check_equal "each metric is exported" "" \
	"$(grep -o 'xdp_dedup_[a-z_]*' $rules | sort -u | comm -23 - "$tmp/exported")"
finish
