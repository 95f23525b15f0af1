#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is in a pcapng of run --sample-dropped, as JSON: frames, comments and how often each, names
of interfaces, and how many frames are none of the copies in the capture that was sent.

usage: sampled.py FILE SENT.pcap
"""

import collections
import json
import struct
import sys

SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6


def blocks(data):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length % 4 or struct.unpack_from("<I", data, at + length - 4)[0] != length:
            sys.exit(f"a block at {at} has two lengths")
        yield kind, data[at + 8:at + length - 4]
        at += length


def options(data):
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if not code:
            return
        yield code, data[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def copies(path):
    """The frames of a pcap that are no first copies (frames.py numbers copies in a MAC)."""
    with open(path, "rb") as capture:
        data = capture.read()
    at, found = 24, set()
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16:at + 16 + length]
        if frame[11]:
            found.add(frame)
        at += 16 + length
    return found


def main():
    with open(sys.argv[1], "rb") as capture:
        data = capture.read()
    sent, comments, names, times = copies(sys.argv[2]), collections.Counter(), [], []
    frames = strangers = 0
    for kind, body in blocks(data):
        if kind == INTERFACE:
            names += [value.decode() for code, value in options(body[8:]) if code == 2]
        if kind != ENHANCED:
            continue
        _, high, low, captured, _ = struct.unpack_from("<IIIII", body)
        frames += 1
        times.append(high << 32 | low)
        strangers += body[20:20 + captured] not in sent
        rest = body[20 + (captured + 3) // 4 * 4:]
        comments.update(value.decode() for code, value in options(rest) if code == 1)
    print(json.dumps({"frames": frames, "comments": comments, "interfaces": names,
                      "strangers": strangers, "sorted": times == sorted(times),
                      "last_s": max(times, default=0) / 1e9}))


main()
