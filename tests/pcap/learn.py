#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""learn.py PROGRAM FOLDER: learn's windows against the table of copies of FOLDER."""

import csv
import json
import subprocess
import sys

program, folder = sys.argv[1:]
compared, wrong = 0, []
with open(f"{folder}/expected-first-copy.tsv", encoding="utf-8") as table:
    for row in csv.DictReader(table, delimiter="\t"):
        output = subprocess.run([program, "learn", f"{folder}/{row['file']}", "--json"],
                                capture_output=True, text=True, check=False).stdout
        drops = {w["window_ns"]: w["would_drop"] for w in json.loads(output)["windows"]}
        for ms in (1, 20, 50):
            compared += 1
            if drops[ms * 10**6] != int(row[f"packet_{ms}ms"]):
                wrong.append((row["file"], ms, drops[ms * 10**6], row[f"packet_{ms}ms"]))
if wrong or compared < 150:
    sys.exit(f"{compared} comparisons, wrong: {wrong}")
