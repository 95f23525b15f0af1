#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""replay.py HOST PORT SUBJECT: keeps all that is said there until SIGUSR1, then says all of it again, and how much that was;
SIGTERM ends it."""
import signal
import sys

sys.dont_write_bytecode = True
import bus

host, port, subject = sys.argv[1:]
nats = bus.connect(host, port, subject)
kept = []


def again(*_):
    for body in kept:
        bus.publish(nats, subject.encode(), body)
    print("again", len(kept), flush=True)


signal.signal(signal.SIGUSR1, again)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
print("ready", flush=True)
for _, said in bus.messages(nats):
    kept.append(said)
