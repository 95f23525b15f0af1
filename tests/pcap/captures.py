#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compare `xdp-dedup pcap` with the counts that an independent program made of real captures.

usage: captures.py PROGRAM FOLDER first-copy|refresh [OPTION...]

Prints a line "FILE: COLUMN is N, expected M" for each difference, and as the last line the number
of comparisons. Options are handed to the program; with --engine tagged or timer a copy may be
kept that lies in the last tick of the window: the number of duplicates lies between those of a
window that is shorter by a tick and those of the window. With --non-ip frame the copies of frames
without IP are not counted.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

TICKS = 100
WINDOWS_MS = {"1ms": 1, "20ms": 20, "50ms": 50}
# The options that a column stands for.
KEYS = {"packet": ["--key", "packet"], "frame": ["--key", "frame"], "inner": ["--inner"]}
# The one capture that ends in a damaged record.
DAMAGED = {"OISF-bug-6875-01__fuzz.pcap"}


def run(program, path, options):
    """The JSON of a run; None if its exit code is not what the file deserves."""
    done = subprocess.run([program, "pcap", path, "--json", *options], capture_output=True,
                          text=True, timeout=60)
    damaged = os.path.basename(path) in DAMAGED
    if done.returncode != (1 if damaged else 0) or damaged != bool(done.stderr):
        print(f"{os.path.basename(path)}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def with_ip(result):
    return result["packets"] - result["bypassed"]["not_ip"] - \
        result["bypassed"]["malformed"] - result["bypassed"]["truncated"] - \
        result["bypassed"]["unsupported"]


class Comparison:
    def __init__(self, program, folder, options):
        self.program, self.folder, self.options = program, folder, options
        self.made = 0

    def equal(self, row, column, got, least, most):
        self.made += 1
        if not least <= got <= most:
            wanted = most if least == most else f"{least} to {most}"
            print(f"{row['file']}: {column} is {got}, expected {wanted}")

    @staticmethod
    def expected(row, column):
        """PPPoE is no tunnel to the program that counted: what it carries here are whole copies."""
        if row["file"] == "zeek-pppoe-over-qinq.pcap" and column.startswith("inner"):
            column = column.replace("inner", "frame")
        return int(row[column])

    def duplicates(self, row, column):
        """Column KEY_WINDOW of @row against the program."""
        key, window = column.split("_")
        path = os.path.join(self.folder, row["file"])
        options = [*KEYS[key], "--ticks", str(TICKS), *self.options]
        got = run(self.program, path, ["--window", window, *options])
        if got is None:
            return None
        least = most = self.expected(row, column)
        if "exact" not in self.options:
            tick_ns = WINDOWS_MS[window] * 1000000 // TICKS
            shorter = f"{WINDOWS_MS[window] * 1000000 - tick_ns}ns"
            exact = [*options, "--engine", "exact"]
            least = run(self.program, path, ["--window", shorter, *exact])["duplicates"]
        self.equal(row, column, self.ip_duplicates(got, path, window, options), least, most)
        return got

    def ip_duplicates(self, got, path, window, options):
        """The duplicates in @got; with --non-ip only those that carry IP."""
        if "--non-ip" not in self.options:
            return got["duplicates"]
        with tempfile.NamedTemporaryFile() as copies:
            run(self.program, path, ["--window", window, *options, "--quiet", "--dups", copies.name])
            among = json.loads(subprocess.run([self.program, "pcap", copies.name, "--json"],
                                              capture_output=True, check=True).stdout)
        return among["packets"] - among["bypassed"]["not_ip"]

    def row(self, row):
        keys = ["packet"] if "--non-ip" in self.options else list(KEYS)
        for column in row:
            key = column.split("_")[0]
            if key not in keys:
                continue
            got = self.duplicates(row, column)
            if got and "frames" in row:
                self.equal(row, "frames", got["packets"], int(row["frames"]), int(row["frames"]))
            if got and "ip" in row and key == "packet" and "--non-ip" not in self.options:
                self.equal(row, "ip", with_ip(got), int(row["ip"]), int(row["ip"]))


def main():
    program, folder, which, *options = sys.argv[1:]
    if "--engine" not in options:
        options += ["--engine", "exact"]
    if which == "refresh":
        options.append("--refresh")
    comparison = Comparison(program, folder, options)
    with open(os.path.join(folder, f"expected-{which}.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            comparison.row(row)
    print(comparison.made)


main()
