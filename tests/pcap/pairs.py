#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pairs of copies, found without xdp-dedup: for tests/pcap/pairs.sh.

pairs.py check CAPTURE CSV WINDOW [refresh]  the pairs in CSV are all pairs of CAPTURE
pairs.py same CAPTURE CSV                    the frames of each pair are the same packet

For the captures of gencap: pcap of little-endian microseconds, IPv4 and IPv6 over Ethernet, perhaps
with VLAN tags.
"""

import csv
import re
import struct
import sys


def read(path):
    """Time in nanoseconds and bytes of every frame."""
    data = open(path, "rb").read()
    at, frames = 24, []
    while at < len(data):
        s, us, length, _ = struct.unpack_from("<IIII", data, at)
        frames.append((s * 10**9 + us * 1000, data[at + 16:at + 16 + length]))
        at += 16 + length
    return frames


def packet(frame):
    """What does not change on the way."""
    at = 14
    while frame[at - 2:at] == b"\x81\x00":
        at += 4
    ip = bytearray(frame[at:])
    if ip[0] >> 4 == 4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0
        return bytes(ip[:struct.unpack_from(">H", ip, 2)[0]])
    ip[0:4] = bytes([0x60, 0, 0, 0])
    ip[7] = 0
    return bytes(ip[:40 + struct.unpack_from(">H", ip, 4)[0]])


def find(frames, window, refresh):
    firsts, pairs = {}, []
    for number, (time, frame) in enumerate(frames, 1):
        key = packet(frame)
        known = firsts.get(key)
        if known and time - known[2] <= window:
            pairs.append((number, known[0], time - known[1]))
            if refresh:
                known[2] = time
        else:
            firsts[key] = [number, time, time]
    return pairs


def listed(path):
    with open(path, encoding="utf-8") as file:
        return [(int(r["copy"]), int(r["first"]), int(r["nanoseconds_apart"]))
                for r in csv.DictReader(file) if r["first"]]


def nanoseconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s)", text).groups()
    return int(number) * {"ms": 10**6, "s": 10**9}[unit]


def check(frames, pairs, window, refresh=""):
    expected = find(frames, nanoseconds(window), bool(refresh))
    if not expected or pairs != expected:
        sys.exit(f"{len(pairs)} pairs, {len(expected)} expected; "
                 f"{set(pairs) ^ set(expected)}"[:2000])


def same(frames, pairs):
    wrong = [p for p in pairs if packet(frames[p[0] - 1][1]) != packet(frames[p[1] - 1][1])
             or frames[p[0] - 1][0] - frames[p[1] - 1][0] != p[2]]
    if not pairs or wrong:
        sys.exit(f"{len(pairs)} pairs, wrong: {wrong}"[:2000])


if __name__ == "__main__":
    {"check": check, "same": same}[sys.argv[1]](read(sys.argv[2]), listed(sys.argv[3]),
                                                *sys.argv[4:])
