#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""look.py PROGRAM PID SECONDS EXPRESSION: what instance `tap` of the host whose first process is PID says: Python
over the instance i, and its peers p by name without .tap. Prints the value; the exit code is 0 once it is true, within
SECONDS, else 1."""
import json
import subprocess
import sys
import time

program, pid, seconds, expression = sys.argv[1:]
end = time.monotonic() + float(seconds)
command = ["nsenter", "--target", pid, "--net", "--mount", "--pid", "--",
           program, "status", "tap", "--json"]
code = compile(expression, "expression", "eval")
while True:
    last = time.monotonic() >= end
    status = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    try:
        instance = json.loads(status.stdout)[0]
        peers = {peer["name"].removesuffix(".tap"): peer for peer in instance["peers"]}
        value = eval(code, {"i": instance, "p": peers})
    except (LookupError, TypeError, ValueError) as error:
        value, peers = None, repr(error)
    if value or last:
        break
    time.sleep(0.05)
print(value)
if not value:
    print(peers, file=sys.stderr)
sys.exit(not value)
