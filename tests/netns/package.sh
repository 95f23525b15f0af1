#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A sensor: a root with the essential packages of this system and what the .deb depends on, no compiler. dpkg installs
# the .deb there; its unit's command, with the unit's capabilities and as much of its hardening as can be had
# without systemd, works, and is scraped by Prometheus, with the rules that came along, while traffic flows.
# shellcheck disable=SC2317 # check and wait_until call the functions
. "$(dirname "$0")/lib.sh"

root=$tmp/root
port=$((20000 + $$ % 10000))
in_root() { chroot "$root" "$@"; }

check "make deb" make -s BUILD="$BUILD" VERSION=9.9 deb
package=$BUILD/xdp-dedup_9.9.deb
at_exit rm -f "$package"

# Of this system's packages those that are essential, and all that they and the .deb depend on.
python3 - "$(dpkg -f "$package" Depends)" >"$tmp/packages" <<'END'
import re, subprocess, sys
shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n"],
                       check=True, stdout=subprocess.PIPE, text=True).stdout
names = lambda text: [[re.sub(r"[(:].*", "", one).strip() for one in any_of.split("|")] for any_of in text.split(",") if any_of.strip()]
needs, provides, wanted = {}, {}, names(sys.argv[1])
for line in shown.splitlines():
    name, essential, depends, provided = line.split("\t")
    needs[name] = names(depends)
    for (other,) in names(provided):
        provides.setdefault(other, name)
    if essential == "yes":
        wanted.append([name])
found = set()
while wanted:
    name = next((one if one in needs else provides[one] for one in wanted.pop() if one in needs or one in provides), None)
    if name and name not in found:
        found.add(name)
        wanted += needs[name]
print(*sorted(found), sep="\n")
END
mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},etc/xdp-dedup,dev,proc,sys,run,tmp,var/lib/dpkg/{info,updates}}
for link in bin sbin lib lib64; do [ ! -L /$link ] || ln -s usr/$link "$root/$link"; done
xargs dpkg -L <"$tmp/packages" 2>/dev/null | sed 's|^/||; /^usr\/share\/\(doc\|man\|locale\|info\)\//d' | sort -u |
	while IFS= read -r file; do
		[ -d "/$file" ] && [ ! -L "/$file" ] || [ ! -e "/$file" ] || echo "$file"
	done >"$tmp/files"
tar -C / --no-recursion -cf - -T "$tmp/files" | tar -C "$root" -xf -
ln -sf bash "$root/usr/bin/sh"
xargs dpkg-query -s <"$tmp/packages" >"$root/var/lib/dpkg/status"
while read -r name; do
	: >"$root/var/lib/dpkg/info/$name.list"
done <"$tmp/packages"
ldconfig -r "$root"
mknod -m 666 "$root/dev/null" c 1 3
cp "$package" "$root/tmp/xdp-dedup.deb"

check_equal "a root without a compiler" "" \
	"$(in_root /bin/bash -c 'compgen -c' | grep -E '^(cc|gcc|clang|make|bpftool|python3)$')"
check "dpkg installs the .deb there" in_root dpkg -i --force-confold /tmp/xdp-dedup.deb
check_command "... which runs" 0 '9\.9|[0-9]' '' in_root xdp-dedup --version
doc=$root/usr/share/doc/xdp-dedup
sed "s/^interface = .*/interface = $in/" "$doc/example.conf" >"$root/etc/xdp-dedup/$in.conf"
printf 'metrics = 127.0.0.1:%s\nfault-policy = distinct\n' "$port" >>"$root/etc/xdp-dedup/$in.conf"

unit=$root/lib/systemd/system/xdp-dedup@.service
field() { sed -n "s/^$1=//p" "$unit"; }
# As the unit says: a root that only pins and /run/xdp-dedup can be written in, a /tmp of its own, capabilities.
service() {
	local caps
	caps=$(field CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	# shellcheck disable=SC2016 # for the shell inside
	exec nsenter --net="/run/netns/$rx" unshare --mount --propagation slave bash -c '
		set -e
		root=$1 caps=$2 mode=$3
		shift 3
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount -t sysfs sysfs "$root/sys"
		mount --bind /sys/fs/bpf "$root/sys/fs/bpf"
		mount -t tmpfs tmpfs "$root/tmp"
		mount -t tmpfs tmpfs "$root/run"
		mkdir -m "$mode" "$root/run/xdp-dedup"
		mount --bind "$root/run/xdp-dedup" "$root/run/xdp-dedup"
		mount -o remount,bind,ro "$root/run"
		mount -o remount,bind,ro "$root"
		exec chroot "$root" setpriv --no-new-privs --bounding-set="-all,$caps" --inh-caps="-all,$caps" "$@"' \
		service "$root" "$caps" "$(field RuntimeDirectoryMode)" "$@"
}
# shellcheck disable=SC2046 # a command line
service $(field ExecStart | sed "s/%i/$in/g") >"$tmp/said" 2>&1 &
service=$!
end_service() { [ -z "$service" ] || kill -9 "$service" 2>/dev/null; }
at_exit end_service
in_rx ip link set lo up
attached() { [ "$(program_id "$in")" != 0 ] && [ -d "$pins/$in" ]; }
check "the unit's command attaches" wait_until attached
check_equal "... without capabilities beyond the unit's" "bpf net_admin perfmon" \
	"$(python3 -c 'import sys; bits = int(sys.argv[1], 16)
print(*[n for b, n in ((39, "bpf"), (12, "net_admin"), (38, "perfmon")) if bits >> b & 1], *[b for b in range(64) if bits >> b & 1 and b not in (12, 38, 39)])' \
		"$(awk '/^CapEff/ { print $2 }' "/proc/$service/status")")"
check_equal "... and cannot write its root" 1 "$(touch "/proc/$service/root/etc/x" 2>/dev/null; echo $?)"

# Traffic without end, half of it copies, and Prometheus with the rules of the package, which here wait a second.
"$frames" make "$tmp/frames.pcap" --packets 500 --copies 1
traffic() { while transmit "$tmp/frames.pcap" 2000; do sleep 0.1; done; }
traffic &
traffic=$!
at_exit kill "$traffic"
sed 's/for: .*/for: 1s/' "$doc/xdp-dedup.rules.yml" >"$tmp/rules.yml"
cat >"$tmp/prometheus.yml" <<-END
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [rules.yml]
	scrape_configs:
	  - {job_name: xdp-dedup, static_configs: [{targets: ['127.0.0.1:$port']}]}
END
in_rx prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
	--web.listen-address="127.0.0.1:$((port + 1))" >"$tmp/prometheus" 2>&1 &
prometheus=$!
at_exit kill "$prometheus"
query() {
	in_rx python3 -c 'import json, sys, urllib.parse, urllib.request
answer = json.load(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?query=" + urllib.parse.quote(sys.argv[2])))
print(*[sample["value"][1] for sample in answer["data"]["result"]])' "$((port + 1))" "$1" 2>/dev/null
}
query_is() { [ "$(query "$1")" = "$2" ]; }
check "Prometheus sees duplicates while traffic flows" \
	wait_until query_is "count(rate(xdp_dedup_packets_total{name=\"$in\",verdict=\"duplicate\"}[10s]) > 50)" 1
fires() { query_is "count(ALERTS{alertname=\"XdpDedupSliceFailed\",alertstate=\"firing\",name=\"$in\"}) or vector(0)" "$1"; }
check "no alert" fires 0
check_command "a slice fails" 0 '' '' "$xdd" fault "$in" --slice 7 --fail --quiet
check "... the alert fires" wait_until fires 1
"$xdd" fault "$in" --slice 7 --recover --quiet
check "... and ends" wait_until fires 0
kill -TERM "$service"
wait "$service"
check_equal "the service ends with 0" 0 $?
service=
check_equal "... with nothing to say, and leaves nothing" " 0" "$(cat "$tmp/said") $(program_id "$in")"

# A report from there, as a picture.
in_root /bin/bash -c 'cd /tmp && xdp-dedup simulate --engine bsbf --memory 64KiB --records 200k --domain 200k --every 20k --json >x.json &&
	xdp-dedup report x.json -o report.html' >"$tmp/said" 2>&1
check_equal "a report can be made there" "" "$(cat "$tmp/said")"
if chromium=$(command -v chromium); then
	check_equal "... whose texts a browser shows readable" "" \
		"$(HOME=$tmp python3 tests/cli/report.py "$chromium" "$tmp" "$root/tmp/report.html" 2>&1)"
else
	skip "... whose texts a browser shows readable" "no chromium"
fi
finish
