#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""numbered.py KIND OUT

Write a pcap of frames that were sent twice as KIND does: prp, hsr, frer. Three senders whose
numbers go round, two networks (VLAN 1 and 2) in which they have the same addresses and numbers.
Of each frame one copy or both arrive, of some none, late by up to 12 frames of its sender, so
that copies come in any order. Beside OUT, OUT.counts has what must be found: packets distinct
duplicates, and distinct where the networks are not told apart.
"""

import random
import struct
import sys

ROUNDS = 3000
FIRST = 65536 - ROUNDS // 2


def frame(kind, network, sender, number, path):
    to, source = bytes([2, 1, 0, 0, 0, sender]), bytes([2, 2, 0, 0, 0, sender])
    head = to + source + struct.pack(">HH", 0x8100, network)
    data = struct.pack(">HH", network, number) * (1 + number % 30)
    if kind == "frer":
        return head + struct.pack(">HHHH", 0xf1c1, 0, number, 0x88b8) + data
    if kind == "hsr":
        size = len(data) + 6
        return head + struct.pack(">HHHH", 0x892f, path << 12 | size, number, 0x88b8) + data
    data = data.ljust(42, b"\0")
    size = len(data) + 6
    return head + struct.pack(">H", 0x88b8) + data + \
        struct.pack(">HHH", number, (0xa + path) << 12 | size, 0x88fb)


def arrivals(kind):
    """(place in line, the frame's identity, the frame)"""
    for i in range(ROUNDS):
        for network in 1, 2:
            for sender in range(3):
                number = (FIRST + i) % 65536
                for path in 0, 1:
                    if random.random() < 0.9:
                        late = random.choice((0, 0, 0, 1, 2, 12))
                        yield i + late + random.random(), (sender, number), network, \
                            frame(kind, network, sender, number, path)


def main():
    kind, out = sys.argv[1:]
    random.seed(kind)
    line = sorted(arrivals(kind))
    with open(out, "wb") as to:
        to.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, (_, _, _, data) in enumerate(line):
            to.write(struct.pack("<IIII", i // 10000, i % 10000 * 100, len(data), len(data)) + data)
    apart = len({(identity, network) for _, identity, network, _ in line})
    merged = len({identity for _, identity, _, _ in line})
    with open(out + ".counts", "w") as to:
        print(len(line), apart, len(line) - apart, merged, file=to)


main()
