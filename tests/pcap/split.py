#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Deal the records of a little-endian pcap out to several files.

usage: split.py IN OUT...

Every second OUT is written big-endian.
"""

import struct
import sys


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    outputs = [open(name, "wb") for name in sys.argv[2:]]
    orders = ["<", ">"] * len(outputs)
    for out, order in zip(outputs, orders):
        out.write(struct.pack(order + "IHHIIII", *struct.unpack("<IHHIIII", data[:24])))
    at, number = 24, 0
    while at < len(data):
        record = struct.unpack("<IIII", data[at:at + 16])
        which = number * 7 % 11 % len(outputs)
        outputs[which].write(struct.pack(orders[which] + "IIII", *record))
        outputs[which].write(data[at + 16:at + 16 + record[2]])
        at += 16 + record[2]
        number += 1


main()
