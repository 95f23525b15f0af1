#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""noise.py HOST PORT GROUP: until it is ended, whatever sites and producers of the group say comes again, cut, changed, and as
something else. Its last line says how many messages that were."""
import random
import signal
import socket
import sys

host, port, group = sys.argv[1:]
random.seed(1)
nats = socket.create_connection((host, int(port)))
nats.sendall(b'CONNECT {"verbose":false,"echo":false}\r\nSUB xdd.%s.sites.> 1\r\nSUB xdd.%s.sites 2\r\n'
             % (group.encode(), group.encode()))
seen = 0


def end(*_):
    print(seen, flush=True)
    sys.exit()


def publish(subject, body):
    nats.sendall(b"PUB %s %d\r\n%s\r\n" % (subject, len(body), body))


def disturb(subject, body):
    changed = bytearray(body)
    changed[random.randrange(len(body))] ^= 1 << random.randrange(8)
    publish(subject, bytes(changed))
    publish(subject, body)
    publish(subject, body[:random.randrange(len(body))])
    publish(subject, random.randbytes(random.randrange(200)))


signal.signal(signal.SIGTERM, end)
said = nats.makefile("rb")
print("ready", flush=True)
for line in said:
    words = line.split()
    if words and words[0] == b"PING":
        nats.sendall(b"PONG\r\n")
    elif words and words[0] == b"MSG":
        body = said.read(int(words[-1]))
        said.readline()
        seen += 1
        if body:
            disturb(words[1], body)
