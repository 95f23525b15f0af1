#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Frames for the tests in namespaces.

frames.py make FILE [--kind v4|v6|vlan] [--packets N] [--copies N] [--size BYTES] [--first N]
                    [--sources N]
    A capture of UDP packets to port 9, each followed by its copies at once. A copy differs in
    what a path changes: its source MAC ends in the copy's number (0 is the first), and its TTL
    is lower by that. The payload begins with the packet's number, from --first on. With --sources
    (v4) each packet comes from one of N addresses, drawn anew.
frames.py read FILE...
    What a capture holds of these, as JSON: "frames"; "first": how many packets whose copy 0 is
    there; "copies": frames that are no copy 0; "twice": packets seen more than once; "missing":
    numbers absent below the highest; "dscp": frames by DSCP; "bad_checksum": IPv4 headers.
frames.py judge SENT RECEIVED
    What a filter of sources did, as JSON: of the packets SENT, "distinct" were the first of their
    source, of which "lost" were not RECEIVED, as "missed" of the others were.
"""
import argparse
import collections
import json
import random
import struct
import sys

ETHERNET = 1
PORT = 9


def ip_sum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16)


def ipv4(payload, number, copy, source):
    fields = [0x45, 0, 20 + len(payload), number & 0xFFFF, 0x4000, 64 - copy, 17, 0,
              struct.pack("!I", source), bytes([192, 0, 2, 2])]
    header = struct.pack("!BBHHHBBH4s4s", *fields)
    fields[7] = ~ip_sum(header) & 0xFFFF
    return 0x0800, struct.pack("!BBHHHBBH4s4s", *fields) + payload


def ipv6(payload, _number, copy, _source):
    address = bytes.fromhex("20010db8000000000000000000000001")
    return 0x86DD, struct.pack("!IHBB", 6 << 28, len(payload), 17, 64 - copy) + 2 * address + payload


def frame(kind, number, copy, size, source=0xC0000201):
    ip_size = 40 if kind == "v6" else 20
    data = struct.pack("!Q", number).ljust(max(size - 14 - ip_size - 8, 8), b"x")
    udp = struct.pack("!HHHH", PORT, PORT, 8 + len(data), 0) + data
    ethertype, packet = (ipv6 if kind == "v6" else ipv4)(udp, number, copy, source)
    macs = bytes([2, 0, 0, 0, 0, 1]) + bytes([2, 0, 0, 0, 1, copy])
    tag = struct.pack("!HH", 0x8100, 7) if kind == "vlan" else b""
    return macs + tag + struct.pack("!H", ethertype) + packet


def make(args):
    draw = random.Random(args.first)
    with open(args.file, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, ETHERNET))
        for number in range(args.first, args.first + args.packets):
            source = 0xC0000201
            if args.sources:
                source = 0x0A000000 + draw.randrange(args.sources)
            for copy in range(args.copies + 1):
                data = frame(args.kind, number, copy, args.size, source)
                out.write(struct.pack("<IIII", number // 1000, number % 1000, len(data), len(data)))
                out.write(data)


def records(path):
    with open(path, "rb") as capture:
        data = capture.read()
    magic, link = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    if magic not in (0xA1B2C3D4, 0xA1B23C4D) or link != ETHERNET:
        sys.exit(f"{path}: not a little-endian capture of Ethernet")
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def parse(data):
    """Number, copy, DSCP and whether the IPv4 header sums up; None for other frames."""
    at = 14
    if data[12:14] == b"\x81\x00":
        at = 18
    ethertype, ip = data[at - 2:at], data[at:]
    if ethertype == b"\x08\x00" and ip[9] == 17:
        dscp, udp, good = ip[1] >> 2, ip[20:], ip_sum(ip[:20]) == 0xFFFF
    elif ethertype == b"\x86\xdd" and ip[6] == 17:
        dscp, udp, good = (struct.unpack_from("!H", ip)[0] >> 6) & 63, ip[40:], True
    else:
        return None
    if struct.unpack_from("!H", udp, 2)[0] != PORT:
        return None
    return struct.unpack_from("!Q", udp, 8)[0], data[11], dscp, good


def read(args):
    seen, first, dscps = collections.Counter(), set(), collections.Counter()
    frames = copies = bad = 0
    for path in args.files:
        for data in records(path):
            found = parse(data)
            if not found:
                continue
            number, copy, dscp, good = found
            frames += 1
            seen[number] += 1
            dscps[dscp] += 1
            bad += not good
            if copy:
                copies += 1
            else:
                first.add(number)
    print(json.dumps({
        "frames": frames, "first": len(first), "copies": copies,
        "twice": sum(n > 1 for n in seen.values()),
        "missing": max(seen, default=-1) + 1 - min(seen, default=0) - len(seen) if seen else 0,
        "dscp": {str(k): n for k, n in sorted(dscps.items())}, "bad_checksum": bad}))


def judge(args):
    received = {found[0] for found in map(parse, records(args.received)) if found}
    known, lost, missed, packets = set(), 0, 0, 0
    for data in records(args.sent):
        number, source = parse(data)[0], data[26:30]
        packets += 1
        lost += source not in known and number not in received
        missed += source in known and number in received
        known.add(source)
    print(json.dumps({"packets": packets, "distinct": len(known), "lost": lost, "missed": missed}))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make")
    command.add_argument("file")
    command.add_argument("--kind", choices=["v4", "v6", "vlan"], default="v4")
    command.add_argument("--packets", type=int, default=1000)
    command.add_argument("--copies", type=int, default=1)
    command.add_argument("--size", type=int, default=100)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--sources", type=int, default=0)
    command.set_defaults(run=make)
    command = commands.add_parser("read")
    command.add_argument("files", nargs="+")
    command.set_defaults(run=read)
    command = commands.add_parser("judge")
    command.add_argument("sent")
    command.add_argument("received")
    command.set_defaults(run=judge)
    args = parser.parse_args()
    args.run(args)


main()
