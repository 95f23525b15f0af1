#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""altered.py IN OUT WHAT...

Alter each copy in IN, an Ethernet pcap of gencap --ttl: ipid, l4csum (another identification, or UDP
checksum), vlan (copy on VLAN 20, first on VLAN 10), stamp (the header in which Arista's switches say when
a frame came in), trailer (bytes behind the packet, as other switches do), macsec (all frames), tunnel
(copy in VXLAN).
"""

import struct
import sys

HEADER = 24


def vlan(frame, number):
    return frame[:12] + struct.pack(">HH", 0x8100, number) + frame[12:]


def stamp(frame, number):
    """Of 64 and of 48 bits in turn."""
    time = struct.pack(">HHQ", 1, 0x10, number) if number % 2 else \
        struct.pack(">HHHI", 1, 0x120, 7, number)
    return frame[:12] + struct.pack(">H", 0xd28b) + time + frame[12:]


def flip(frame, at):
    return frame[:at] + bytes([frame[at] ^ 0x55]) + frame[at + 1:]


def summed(frame, at=14):
    """With the IPv4 header's checksum, which a NIC verifies."""
    head = frame[at:at + 10] + bytes(2) + frame[at + 12:at + 20]
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    total = ~((total & 0xffff) + (total >> 16)) & 0xffff
    return frame[:at + 10] + struct.pack(">H", total) + frame[at + 12:]


def tunnel(frame, number):
    inner = struct.pack(">II", 0x08000000, 77 << 8) + frame
    udp = struct.pack(">HHHH", 40000, 4789, 8 + len(inner), 0)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(inner), number & 0xffff, 0, 64, 17, 0,
                     0x0a000001, 0x0a000002)
    return summed(frame[:14] + ip + udp + inner)


ALTER_FIRST = {"vlan": lambda frame, _: vlan(frame, 10)}
ALTER_COPY = {
    "ipid": lambda frame, _: summed(flip(frame, 18)),
    "l4csum": lambda frame, _: flip(frame, 40),
    "vlan": lambda frame, _: vlan(frame, 20),
    "stamp": stamp,
    "trailer": lambda frame, number: frame + struct.pack(">QI", number, 0xfeed),
    "tunnel": tunnel,
}


def macsec(frame, number):
    return frame[:12] + struct.pack(">HBBI", 0x88e5, 0x2c, 0, number) + frame[12:]


def main(source, to, *what):
    data = open(source, "rb").read()
    seen, number, at = set(), 0, HEADER
    with open(to, "wb") as out:
        out.write(data[:HEADER])
        while at < len(data):
            s, us, length, _ = struct.unpack_from("<IIII", data, at)
            frame = data[at + 16:at + 16 + length]
            at += 16 + length
            number += 1
            packet = frame[14:22] + frame[26:]  # without what a router changes
            alter = ALTER_COPY if packet in seen else ALTER_FIRST
            seen.add(packet)
            for word in what:
                frame = macsec(frame, number) if word == "macsec" else \
                    alter.get(word, lambda frame, _: frame)(frame, number)
            out.write(struct.pack("<IIII", s, us, len(frame), len(frame)) + frame)


main(*sys.argv[1:])
