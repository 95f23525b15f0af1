#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Traffic of a second host, and what became of it. Packets are those of frames.py, known by their numbers.

traffic.py copies FIRST TO --window N [--seed S]
    TO is the second host's capture, of 3 packets for each 8 of FIRST: two that came up to N packets before, drawn
    evenly and once, so that they are look-ups of what is live at the first host, and one that nobody has sent.
traffic.py judge A B PASSED --window S --skip S
    From captures of what came to the first and to the second host, and of what that let pass, as JSON: of `copies`, which
    came less than a window after the first host's, the share `missed` that passed; of `own` packets, that nobody has
    sent, the share `lost` that did not; `age`: how long copies came after, on the mean. Not of the first --skip seconds.
"""
import argparse
import json
import random
import struct
import sys

OWN = 1 << 40
NUMBER_AT = 14 + 20 + 8


def records(path):
    with open(path, "rb") as file:
        head = file.read(24)
        found = []
        while len(about := file.read(16)) == 16:
            found.append(about + file.read(struct.unpack("<IIII", about)[2]))
    return head, found


def number(record):
    return struct.unpack_from("!Q", record, 16 + NUMBER_AT)[0]


def renumbered(record, new):
    """With another payload, and an IP identification that it implies: no checksum covers it in these packets."""
    return record[:16 + NUMBER_AT] + struct.pack("!Q", new) + record[16 + NUMBER_AT + 8:]


def copies(args):
    draw = random.Random(args.seed)
    head, first = records(args.first)
    with open(args.to, "wb") as file:
        file.write(head)
        drawn = set()
        for i in range(0, len(first), 4):
            again = draw.randint(max(0, i - args.window), i)
            if again not in drawn:
                file.write(first[again])
            drawn.add(again)
            if i % 8 == 0:
                file.write(renumbered(first[i], OWN + args.seed * 10**6 + i))


def times(path):
    """When each number came first, in seconds."""
    found = {}
    for record in records(path)[1]:
        seconds, micros = struct.unpack_from("<II", record)
        found.setdefault(number(record), seconds + micros / 1e6)
    return found


def judge(args):
    first, second, passed = times(args.a), times(args.b), times(args.passed)
    start = min(second.values()) + args.skip
    second = {n: at for n, at in second.items() if at >= start}
    own = [n for n in second if n >= OWN]
    ages = {n: at - first[n] for n, at in second.items() if n in first}
    ages = {n: age for n, age in ages.items() if 0.0005 < age < args.window}
    json.dump({"copies": len(ages), "own": len(own), "age": sum(ages.values()) / max(1, len(ages)),
               "missed": sum(n in passed for n in ages) / max(1, len(ages)),
               "lost": sum(n not in passed for n in own) / max(1, len(own))}, sys.stdout)


parser = argparse.ArgumentParser()
commands = parser.add_subparsers(required=True)
command = commands.add_parser("copies")
command.add_argument("first")
command.add_argument("to")
command.add_argument("--window", type=int, required=True)
command.add_argument("--seed", type=int, default=1)
command.set_defaults(run=copies)
command = commands.add_parser("judge")
command.add_argument("a")
command.add_argument("b")
command.add_argument("passed")
command.add_argument("--window", type=float, required=True)
command.add_argument("--skip", type=float, default=0)
command.set_defaults(run=judge)
args = parser.parse_args()
args.run(args)
