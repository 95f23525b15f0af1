#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""explain.py PROGRAM CAPTURE N [OPTION...]

For the first N frames of CAPTURE that pcap says are copies, and their neighbours: explain has to say
the same of each pair.
"""

import csv
import io
import json
import subprocess
import sys

program, capture, count, *options = sys.argv[1:]


def run(*arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def explain(a, b):
    return json.loads(run("explain", capture, str(a), str(b), "--json", *options))


pairs = run("pcap", capture, "--pairs", "-", "--quiet", *options)
firsts = {int(r["copy"]): int(r["first"]) for r in csv.DictReader(io.StringIO(pairs))}
wrong = []
for copy in sorted(firsts)[:int(count)] or range(2, int(count)):
    first = firsts.get(copy)
    if first:
        said = explain(first, copy)
        if not said["same_key"] or not said["in_window"] or \
                not all(d["ignored"] for d in said["differs"]):
            wrong.append((first, copy))
    # The frame before a copy is one with another key, or its first, or another copy of that.
    other = copy - 1
    if other and other != first and firsts.get(other) != first:
        said = explain(other, copy)
        if said["same_key"] and firsts.get(copy) == other:
            wrong.append((other, copy))
        if not said["same_key"] and all(d["ignored"] for d in said["differs"]):
            wrong.append((other, copy, "no field says why"))
if wrong:
    sys.exit(f"explain disagrees about {wrong[:20]}")
