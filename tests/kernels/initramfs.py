#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write an initramfs: /init and programs, each in /bin, with the libraries they need.

usage: initramfs.py OUT INIT PROGRAM...
"""

import os
import re
import subprocess
import sys

FOLDER, FILE, CONSOLE = 0o040755, 0o100755, 0o020600


def libraries(program):
    """The files that the dynamic linker maps for a program, itself among them."""
    ldd = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True)
    return re.findall(r"(/[^ ]+) \(0x", ldd.stdout)


class Archive:
    """cpio in the form `newc`, as the kernel unpacks it."""

    def __init__(self, out):
        self.out = out
        self.names = set()

    def add(self, name, mode, data=b"", device=(0, 0)):
        if name in self.names:
            return
        self.names.add(name)
        fields = [len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
        self.write(b"070701" + b"".join(b"%08X" % field for field in fields) +
                   name.encode() + b"\0")
        self.write(data)

    def write(self, data):
        self.out.write(data + b"\0" * (-len(data) % 4))

    def add_file(self, name, path):
        """A file, and the folders above it."""
        parts = name.split("/")
        for i in range(1, len(parts)):
            self.add("/".join(parts[:i]), FOLDER)
        with open(path, "rb") as file:
            self.add(name, FILE, file.read())


def main(out_path, init, programs):
    with open(out_path, "wb") as out:
        archive = Archive(out)
        for folder in ("dev", "proc", "sys", "tmp"):
            archive.add(folder, FOLDER)
        archive.add("dev/console", CONSOLE, device=(5, 1))
        archive.add_file("init", init)
        for program in programs:
            archive.add_file("bin/" + os.path.basename(program), program)
            for library in libraries(program):
                archive.add_file(library.lstrip("/"), library)
        archive.add("TRAILER!!!", 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
