#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Repeats and floods, made and judged without xdp-dedup: for tests/pcap/repeats.sh.

repeats.py make FILE                   packets of every class, a few keys of which most is repeated
repeats.py keep FILE WINDOW_NS OPTION...   the JSON that an exact filter has to come to, of
    --max-suppress N and --ambiguous CLASS,CLASS,... (those that pass), and the numbers of the frames
    that are kept, from 1
repeats.py numbers FILE KEPT           the numbers of FILE's frames that KEPT has, in its order
"""

import collections
import json
import random
import struct
import sys

CLASSES = ["ack_rst", "tcp_data", "udp", "other"]


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ipv4(proto, payload, ident, flags, source):
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), ident, flags, 64, proto, 0,
                       0x0A000000 + source, 0x0A800001)
    return b"\x08\0", head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ipv6(proto, payload, source, fragment):
    if fragment:
        payload, proto = struct.pack(">BBHI", proto, 0, 0, 7) + payload, 44
    return b"\x86\xdd", struct.pack(">IHBB", 6 << 28, len(payload), proto, 64) + \
        source.to_bytes(16, "big") + bytes(16) + payload


def tcp(flags, data):
    return struct.pack(">HHIIBBHHH", 80, 1024, 1, 2, 0x50, flags, 512, 0, 0) + data


def udp(data):
    return struct.pack(">HHHH", 53, 1025, 8 + len(data), 0) + data


TRANSPORTS = [("ack_rst", 6, tcp(16, b"")), ("ack_rst", 6, tcp(4, b"")), ("tcp_data", 6, tcp(16, b"x")),
              ("tcp_data", 6, tcp(2, b"")), ("udp", 17, udp(b"q")), ("other", 1, b"\x08\0\0\0\0\1\0\1")]


def kinds(source):
    """Frames of one source with the class of their duplicates; None: they have an identification."""
    for name, proto, payload in TRANSPORTS:
        yield None, ipv4(proto, payload, 1 + source % 65535, 0x4000, source)
        yield None, ipv4(proto, payload, 0, 0, source)
        yield name, ipv4(proto, payload, 0, 0x4000, source)
        yield name, ipv6(proto, payload, source, False)
        yield None, ipv6(proto, payload, source, True)
    arp = struct.pack(">HHBBH6sI6sI", 1, 0x0800, 6, 4, 1, b"\2\0\0\0\0\1", source, bytes(6), 9)
    yield "other", (b"\x08\6", arp)


def make(path):
    """The key of a frame is in its first bytes, too: its number and class, as the source MAC."""
    draw = random.Random(4)
    pool = [frame for source in range(1, 40) for frame in kinds(source)]
    now = 0
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for _ in range(30000):
            at = min(int(draw.paretovariate(0.4)) - 1, len(pool) - 1)
            name, (ethertype, packet) = pool[(at * 7) % len(pool)]
            mac = struct.pack(">HI", 1 + CLASSES.index(name) if name else 0, (at * 7) % len(pool))
            frame = bytes(6) + mac + ethertype + packet
            now += draw.randrange(200000)
            out.write(struct.pack("<IIII", now // 10**9, now % 10**9, len(frame), len(frame)) + frame)


def read(path):
    data, at = open(path, "rb").read(), 24
    while at < len(data):
        s, ns, length, _ = struct.unpack_from("<IIII", data, at)
        yield s * 10**9 + ns, data[at + 16:at + 16 + length]
        at += 16 + length


def keep(path, window, *options):
    options = dict(zip(options[::2], options[1::2]))
    most = int(options.get("--max-suppress", 0))
    passing = options.get("--ambiguous", "").split(",")
    first, suppressed, total = {}, collections.Counter(), collections.Counter()
    result = {"duplicates": 0, "dropped": 0, "let_through": 0, "ambiguous": dict.fromkeys(CLASSES, 0)}
    kept = []
    for number, (now, frame) in enumerate(read(path), 1):
        ambiguous, key = struct.unpack_from(">HI", frame, 6)
        if key not in first or now - first[key] > int(window):
            first[key], suppressed[key] = now, 0
            kept.append(number)
            continue
        result["duplicates"] += 1
        if ambiguous:
            result["ambiguous"][CLASSES[ambiguous - 1]] += 1
        if ambiguous and CLASSES[ambiguous - 1] in passing:
            kept.append(number)
        elif most and suppressed[key] == most:
            result["let_through"] += 1
            suppressed[key] = 0
            kept.append(number)
        else:
            suppressed[key] += 1
            total[key] += 1
    result["dropped"] = sum(total.values())
    result["most"] = [n for _, n in total.most_common(10)]
    print(json.dumps(result))
    print(*kept, sep="\n")


def numbers(path, kept):
    """Times are all different, or the first of some will do."""
    wanted, result = [frame for frame in read(kept)], []
    for number, frame in enumerate(read(path), 1):
        if len(result) < len(wanted) and frame == wanted[len(result)]:
            result.append(number)
    assert len(result) == len(wanted)
    print(*result, sep="\n")


{"make": make, "keep": keep, "numbers": numbers}[sys.argv[1]](*sys.argv[2:])
