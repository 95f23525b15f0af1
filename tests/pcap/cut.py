#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hand `xdp-dedup pcap` a capture cut at every byte, or with any byte replaced.

usage: cut.py [--replace] PROGRAM FILE

Whatever it gets, it ends with exit code 0 and no message, or 1 and one line on stderr; and the
output, if there is one, is a whole capture. A cut file that ends between records gives 0, and the
more is left the more frames are read.
"""

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


def cut(trial, data):
    frames = 0
    for length in range(len(data) + 1):
        found = trial.run(data[:length], f"{length} bytes")
        if found is None and frames or found is not None and found < frames:
            print(f"{length} bytes: {found} frames after {frames}")
            trial.bad += 1
        frames = found or 0
    if not frames:
        print("the whole file has no frame")
        trial.bad += 1


def replace(trial, data):
    for at in range(min(len(data), 300)):
        for value in {0, 0x7f, 0xff, data[at] ^ 1} - {data[at]}:
            trial.run(data[:at] + bytes([value]) + data[at + 1:], f"{value} at {at}")


def main():
    arguments = sys.argv[1:]
    attack = cut
    if arguments[0] == "--replace":
        attack = replace
        arguments.pop(0)
    program, path = arguments
    with open(path, "rb") as file:
        data = file.read()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(program, folder)
        attack(trial, data)
        left = os.listdir(folder)
        if left != ["in"]:
            print(f"left behind: {left}")
            trial.bad += 1
    return 1 if trial.bad else 0


sys.exit(main())
