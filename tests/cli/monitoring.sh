#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The alert rules and the dashboard: promtool accepts their expressions, alerts.yml says when each alert
# fires, and they name no metric that is not exported.
. "$(dirname "$0")/../tap.sh"

rules=scripts/monitoring/xdp-dedup.rules.yml
dashboard=scripts/monitoring/grafana.json
cp $rules tests/cli/alerts.yml "$tmp"
check "promtool accepts the rules" promtool check rules "$tmp/xdp-dedup.rules.yml"
check "each fires where it should" promtool test rules "$tmp/alerts.yml"
check_equal "each has a test" "$(sed -n 's/.*- alert: //p' $rules | sort)" \
	"$(sed -n 's/.*- alertname: //p' tests/cli/alerts.yml | sort -u)"

# limit NAME ALERT: the alert compares with the number that status and top go by
# shellcheck disable=SC2317 # check calls it
limit() {
	local value
	value=$(sed -n "s/^#define LIMIT_$1 \\([0-9.]*\\).*/\\1/p" user/metrics/limits.h)
	sed -n "/alert: XdpDedup$2\$/,/for:/p" "$rules" | grep -Eq "> ${value:?}( |\$)"
}
check "nearly all copies: the same limit as that of status and top" limit COPIES NearlyAllDuplicates
check "... nothing compared" limit BYPASSED NothingCompared
check "... missed copies" limit FNR MissesCopies
check "... a late walk" limit LATE_S AgerLate

# The dashboard's expressions as rules, with values for its variables.
python3 - $dashboard >"$tmp/panels.yml" <<-'END'
	import json, sys
	board = json.load(open(sys.argv[1]))
	print("groups:\n- name: panels\n  rules:")
	for panel in board["panels"]:
	    assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
	    for target in panel["targets"]:
	        expr = target["expr"].replace("$__rate_interval", "1m").replace("$name", ".+")
	        print(f"  - record: panel:{panel['id']}_{target['refId']}\n    expr: {json.dumps(expr)}")
END
check "promtool accepts the dashboard's expressions" promtool check rules "$tmp/panels.yml"
overlaps() {
	python3 - $dashboard <<-'END'
		import json, sys
		taken = {}
		for panel in json.load(open(sys.argv[1]))["panels"]:
		    at = panel["gridPos"]
		    for x in range(at["x"], at["x"] + at["w"]):
		        for y in range(at["y"], at["y"] + at["h"]):
		            if x >= 24 or taken.setdefault((x, y), panel["id"]) != panel["id"]:
		                print(panel["title"])
	END
}
check_equal "no panel lies on another" "" "$(overlaps)"

"$xdd" help metrics | grep -o 'xdp_dedup_[a-z_]*' | sort >"$tmp/exported"
check_equal "each metric in them is exported" "" \
	"$(grep -oh 'xdp_dedup_[a-z_]*' $rules $dashboard | sed 's/_bucket$//' | sort -u | comm -23 - "$tmp/exported")"
finish
