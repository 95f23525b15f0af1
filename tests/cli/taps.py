# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Write a pcap of UDP flows: taps.py FILE FIRST LAST HOPS [NOISE]. Flow i of FIRST to LAST, from port i, has two
packets whose TTL is 64 - HOPS; NOISE adds frames without IP.
"""

import struct
import sys


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def packet(flow, number, hops):
    udp = struct.pack("!4H", flow, 53, 12, 0) + struct.pack("!I", number)
    parts = [0x45, 0, 20 + len(udp), (flow * 7 + number) & 0xffff, 0, 64 - hops, 17, 0,
             bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])]
    parts[7] = checksum(struct.pack("!BBHHHBBH4s4s", *parts))
    return b"\2" * 12 + b"\x08\x00" + struct.pack("!BBHHHBBH4s4s", *parts) + udp


def main():
    path, first, last, hops = sys.argv[1], *map(int, sys.argv[2:5])
    frames = [packet(flow, number, hops) for number in range(2) for flow in range(first, last + 1)]
    frames += [b"\3" * 12 + b"\x88\xb5" + b"noise" * 10] * len(sys.argv[5:])
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for at, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1700000000, at, len(frame), len(frame)) + frame)


main()
