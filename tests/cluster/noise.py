#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""noise.py HOST PORT GROUP: until it is ended, whatever sites and producers of the group say comes again, cut, changed, and as
something else. Its last line says how many messages that were."""
import random
import signal
import sys

sys.dont_write_bytecode = True
import bus

host, port, group = sys.argv[1:]
random.seed(1)
nats = bus.connect(host, port, f"xdd.{group}.sites.>", f"xdd.{group}.sites")
seen = 0


def end(*_):
    print(seen, flush=True)
    sys.exit()


def disturb(subject, body):
    changed = bytearray(body)
    changed[random.randrange(len(body))] ^= 1 << random.randrange(8)
    for said in (bytes(changed), body, body[:random.randrange(len(body))], random.randbytes(random.randrange(200))):
        bus.publish(nats, subject, said)


signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
for where, what in bus.messages(nats):
    seen += 1
    if what:
        disturb(where, what)
