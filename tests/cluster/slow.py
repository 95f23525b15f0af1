#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""slow.py PORT HOST:PORT DELAY RATE: a TCP proxy for a slow link. What goes through it, either way, arrives
DELAY seconds later, and at RATE bytes a second at most; at most as many are under way as the link then holds."""
import asyncio
import sys


async def pump(reader, writer, delay, rate):
    loop = asyncio.get_running_loop()
    way = asyncio.Queue(maxsize=64)

    async def arrive():
        while True:
            due, data = await way.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()

    arrival = asyncio.ensure_future(arrive())
    try:
        while data := await reader.read(max(1, int(rate / 50))):
            await asyncio.sleep(len(data) / rate)
            await way.put((loop.time() + delay, data))
    except OSError:
        pass
    await way.put((loop.time() + delay, b""))
    await asyncio.gather(arrival, return_exceptions=True)


async def main(port, server, delay, rate):
    host, _, server_port = server.rpartition(":")

    async def connect(reader, writer):
        try:
            there = await asyncio.open_connection(host, int(server_port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, there[1], delay, rate), pump(there[0], writer, delay, rate),
                             return_exceptions=True)

    proxy = await asyncio.start_server(connect, "0.0.0.0", port)
    async with proxy:
        await proxy.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
