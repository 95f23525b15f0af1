# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For programs in this folder that hear and say what hosts do: as much of NATS as that takes."""
import socket


def connect(host, port, *subjects):
    """A connection to the server, which gives what is said under the subjects, but not by itself."""
    nats = socket.create_connection((host, int(port)))
    nats.sendall(b'CONNECT {"verbose":false,"echo":false}\r\n')
    for i, subject in enumerate(subjects):
        nats.sendall(b"SUB %s %d\r\n" % (subject.encode(), i + 1))
    return nats


def publish(nats, subject, body):
    nats.sendall(b"PUB %s %d\r\n%s\r\n" % (subject, len(body), body))


def messages(nats):
    """Subject and body of each message, for ever."""
    said = nats.makefile("rb")
    for line in said:
        words = line.split()
        if words and words[0] == b"PING":
            nats.sendall(b"PONG\r\n")
        elif words and words[0] == b"MSG":
            body = said.read(int(words[-1]))
            said.readline()
            yield words[1], body
