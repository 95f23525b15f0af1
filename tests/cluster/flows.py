#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flows.py FILE FIRST N [PACKETS [sources]]: a capture of N UDP flows, PACKETS (3) of each, numbered from FIRST on.

Flow F goes from 10.0.0.1, port 1000 + F % 50000, to 10.1.(F // 50000).2, port 53; with `sources` from
10.2.(F // 256).(F % 256).
"""
import struct
import sys


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def packet(flow, number):
    payload = struct.pack("!QQ", flow, number)
    udp = struct.pack("!HHHH", 1000 + flow % 50000, 53, 8 + len(payload), 0) + payload
    source = [10, 2, flow // 256, flow % 256] if by_source else [10, 0, 0, 1]
    addresses = bytes([*source, 10, 1, flow // 50000, 2])
    fields = (0x45, 0, 20 + len(udp), number, 0, 64, 17)
    header = struct.pack("!BBHHHBBH", *fields, 0) + addresses
    header = struct.pack("!BBHHHBBH", *fields, checksum(header)) + addresses
    return bytes.fromhex("ffffffffffff0200000000010800") + header + udp


first, n = int(sys.argv[2]), int(sys.argv[3])
packets = int(sys.argv[4]) if len(sys.argv) > 4 else 3
by_source = sys.argv[5:] == ["sources"]
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for number in range(packets):
        for flow in range(first, first + n):
            frame = packet(flow, number)
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
