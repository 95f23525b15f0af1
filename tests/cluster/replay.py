#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""replay.py HOST PORT SUBJECT: keeps all that is said there until SIGUSR1, then says all of it again, and how much that was;
SIGTERM ends it."""
import signal
import socket
import sys

host, port, subject = sys.argv[1:]
nats = socket.create_connection((host, int(port)))
nats.sendall(b'CONNECT {"verbose":false,"echo":false}\r\nSUB %s 1\r\n' % subject.encode())
kept = []


def again(*_):
    for body in kept:
        nats.sendall(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(body), body))
    print("again", len(kept), flush=True)


signal.signal(signal.SIGUSR1, again)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
said = nats.makefile("rb")
print("ready", flush=True)
for line in said:
    words = line.split()
    if words and words[0] == b"PING":
        nats.sendall(b"PONG\r\n")
    elif words and words[0] == b"MSG":
        kept.append(said.read(int(words[-1])))
        said.readline()
