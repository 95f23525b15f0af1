#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Traffic of a second host, and what became of it. Packets are those of frames.py, known by their numbers.

traffic.py copies FIRST TO --window N --own K [--seed S]
    TO is the second host's capture: at each packet of FIRST one that came up to N packets before, drawn evenly, so
    that it is a look-up of what is live at the first host; behind every K-th a packet that nobody has sent.
traffic.py judge TO PASSED --skip N
    As JSON: of the copies in TO, behind the first N records, the share `missed` that is in PASSED; of the own packets
    the share `lost` that is not; `copies` and `own`: their numbers.
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
        for i in range(len(first)):
            file.write(first[draw.randint(max(0, i - args.window), i)])
            if i % args.own == 0:
                file.write(renumbered(first[i], OWN + args.seed * 10**6 + i))


def judge(args):
    sent = [number(record) for record in records(args.to)[1]][args.skip:]
    passed = {number(record) for record in records(args.passed)[1]}
    own = [n for n in sent if n >= OWN]
    again = set(n for n in sent if n < OWN)
    json.dump({"copies": len(again), "own": len(own),
               "missed": sum(n in passed for n in again) / max(1, len(again)),
               "lost": sum(n not in passed for n in own) / max(1, len(own))}, sys.stdout)


parser = argparse.ArgumentParser()
commands = parser.add_subparsers(required=True)
command = commands.add_parser("copies")
command.add_argument("first")
command.add_argument("to")
command.add_argument("--window", type=int, required=True)
command.add_argument("--own", type=int, required=True)
command.add_argument("--seed", type=int, default=1)
command.set_defaults(run=copies)
command = commands.add_parser("judge")
command.add_argument("to")
command.add_argument("passed")
command.add_argument("--skip", type=int, default=0)
command.set_defaults(run=judge)
args = parser.parse_args()
args.run(args)
