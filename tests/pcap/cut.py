#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hand `xdp-dedup pcap` a capture cut at every byte, or with any byte replaced.

usage: cut.py [--replace] PROGRAM FILE

Whatever it gets, it ends with exit code 0 and no message, or 1 and one line on stderr; and the
output, if there is one, is a whole capture. A cut file that ends between records gives 0, and the
more is left the more frames are read.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile


class Trial:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.bad = 0

    def complain(self, what, done):
        print(f"{what}: exit {done.returncode}: {done.stderr!r}")
        self.bad += 1

    def run(self, data, what):
        """Frames read from @data; None if the header was not even one."""
        source, output = os.path.join(self.folder, "in"), os.path.join(self.folder, "out")
        with open(source, "wb") as file:
            file.write(data)
        done = subprocess.run([self.program, "pcap", source, "-w", output, "--json"],
                              capture_output=True, timeout=20)
        lines = done.stderr.count(b"\n")
        if done.returncode not in (0, 1) or lines != done.returncode:
            self.complain(what, done)
        if not os.path.exists(output):
            if done.returncode == 0 or done.stdout:
                self.complain(what, done)
            return None
        result = json.loads(done.stdout)
        self.check_output(output, result, what)
        return result["packets"]

    def check_output(self, output, result, what):
        again = subprocess.run([self.program, "pcap", output, "--json"], capture_output=True)
        if again.returncode:
            self.complain(f"output of {what}", again)
        elif json.loads(again.stdout)["packets"] != result["packets"] - result["duplicates"]:
            self.complain(f"frames in the output of {what}", again)
        os.unlink(output)


def cuts(data):
    for length in range(len(data) + 1):
        yield data[:length], f"{length} bytes"


def replacements(data):
    for at in range(min(len(data), 300)):
        for value in sorted({0, 0x7f, 0xff, data[at] ^ 1} - {data[at]}):
            yield data[:at] + bytes([value]) + data[at + 1:], f"{value} at {at}"


def share(program, tasks, start, step):
    """Every step-th of the tasks: frames found by each, and how many were wrong."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(program, folder)
        found = [trial.run(*task) for task in tasks[start::step]]
        left = os.listdir(folder)
        if left != ["in"]:
            print(f"left behind: {left}")
            trial.bad += 1
    return found, trial.bad


def run_all(program, tasks):
    """On all CPUs. Frames found by each task, in order, and how many were wrong."""
    found, step = [None] * len(tasks), os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(step) as pool:
        shares = list(pool.map(lambda start: share(program, tasks, start, step), range(step)))
    for start, (part, _) in enumerate(shares):
        found[start::step] = part
    return found, sum(bad for _, bad in shares)


def judge_cuts(found):
    """The more is left the more frames are read."""
    bad = most = 0
    for length, frames in enumerate(found):
        if (frames or 0) < most:
            print(f"{length} bytes: {frames} frames after {most}")
            bad += 1
        most = frames or 0
    return bad + (not most)


def main():
    arguments = sys.argv[1:]
    replaces = arguments[0] == "--replace"
    program, path = arguments[replaces:]
    with open(path, "rb") as file:
        data = file.read()
    found, bad = run_all(program, list((replacements if replaces else cuts)(data)))
    if not replaces:
        bad += judge_cuts(found)
    return 1 if bad else 0


sys.exit(main())
