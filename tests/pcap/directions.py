#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""directions.py IN NG SLL SLL2

Give the frames of IN, an Ethernet pcap of gencap, directions: as flags of a pcapng, with and
without other options, as packet types of both cooked link types. Beside each output FILE.in and
FILE.out hold what `pcap --direction` has to count: packets distinct duplicates filtered.
"""

import struct
import sys

IN, OUT = 1, 2


def read(path):
    data = open(path, "rb").read()
    at, frames = 24, []
    while at < len(data):
        s, us, length, _ = struct.unpack_from("<IIII", data, at)
        frames.append((s * 10**6 + us, data[at + 16:at + 16 + length]))
        at += 16 + length
    return frames


def block(kind, body):
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def enhanced(number, time, frame, way):
    flags = option(2, struct.pack("<I", way | 0x40))
    comment = option(1, b"comment")
    options = [b"", flags, comment + flags, flags + option(0, b""), comment][number % 5]
    if not flags in options:
        way = 0
    body = struct.pack("<IIIII", 0, time >> 32, time & 0xffffffff, len(frame), len(frame))
    return block(6, body + frame + bytes(-len(frame) % 4) + options), way


def pcapng(frames):
    yield block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)) + \
        block(1, struct.pack("<HHI", 1, 0, 0)), None
    for number, (time, frame, way) in enumerate(frames):
        yield enhanced(number, time, frame, way)


def cooked(frames, link):
    yield struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link), None
    for number, (time, frame, way) in enumerate(frames):
        kind = 4 if way == OUT else number % 4
        if number % 7 == 0:
            kind, way = 5, 0  # looped back: neither
        if link == 113:
            head = struct.pack(">HHH8s", kind, 1, 6, b"") + frame[12:14]
        else:
            head = frame[12:14] + struct.pack(">HIHBB8s", 0, 3, 1, kind, 6, b"")
        body = head + frame[14:]
        yield struct.pack("<IIII", time // 10**6, time % 10**6, len(body), len(body)) + body, way


def expected(frames, ways, wanted, window=20000):
    """First copies within the window among the frames of one direction."""
    firsts, distinct, copies = {}, 0, 0
    for (time, frame, _), way in zip(frames, ways):
        if way != wanted:
            continue
        if frame[14:] in firsts and time - firsts[frame[14:]] <= window:
            copies += 1
        else:
            firsts[frame[14:]] = time
            distinct += 1
    return len(frames), distinct, copies, len(frames) - distinct - copies


def write(path, pieces, frames):
    pieces = list(pieces)
    with open(path, "wb") as file:
        file.write(b"".join(piece for piece, _ in pieces))
    ways = [way for _, way in pieces[1:]]
    for name, wanted in (("in", IN), ("out", OUT)):
        with open(f"{path}.{name}", "w", encoding="utf-8") as file:
            print(*expected(frames, ways, wanted), file=file)


source, ng, sll, sll2 = sys.argv[1:]
# Untagged and without padding, as gencap makes them: what follows the link header is the packet.
traffic = [(time, frame, IN if sum(frame[14:40]) % 3 or number % 2 else OUT)
           for number, (time, frame) in enumerate(read(source))]
write(ng, pcapng(traffic), traffic)
write(sll, cooked(traffic, 113), traffic)
write(sll2, cooked(traffic, 276), traffic)
