#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jwts.py FOLDER: what a nats-server with an operator, an account and its users needs, made by openssl and nothing
else: FOLDER/jwt.conf for the server; right.creds of a user that it knows; stranger.creds of a user whose account it
does not know; forged.creds of a user of its account, signed by somebody else."""
import base64
import hashlib
import json
import subprocess
import sys
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3
NO_LIMITS = {"subs": -1, "data": -1, "payload": -1}


def crc16(data):
    """CRC-16/XMODEM."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def nkey(data):
    return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, stdout=subprocess.PIPE, check=True).stdout


class Identity:
    """An Ed25519 key, and its names as NATS writes them."""

    def __init__(self, folder, name, kind):
        self.name, self.file = name, f"{folder}/{name}.key"
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        raw = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        self.public = nkey(bytes([kind]) + openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:])
        self.seed = nkey(bytes([SEED | kind >> 5, (kind & 31) << 3]) + raw)

    def sign(self, data):
        with open(f"{self.file}.data", "wb") as file:
            file.write(data)
        return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", f"{self.file}.data")


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(issuer, subject, nats):
    claims = {"jti": "", "iat": int(time.time()), "iss": issuer.public, "name": subject.name,
              "sub": subject.public, "nats": dict(nats, version=2)}
    digest = hashlib.new("sha512_256", json.dumps(claims).encode()).digest()
    claims["jti"] = base64.b32encode(digest).decode().rstrip("=")
    text = ".".join(encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, claims))
    return f"{text}.{encode(issuer.sign(text.encode()))}"


def credentials(path, issuer, user, **more):
    token = jwt(issuer, user, {"type": "user", "pub": {}, "sub": {}, **NO_LIMITS, **more})
    with open(path, "w", encoding="ascii") as file:
        file.write(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                   f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")


def main(folder):
    operator = Identity(folder, "operator", OPERATOR)
    account, other = (Identity(folder, name, ACCOUNT) for name in ("account", "other_account"))
    user = Identity(folder, "user", USER)
    limits = {"type": "account", "limits": dict(NO_LIMITS, imports=-1, exports=-1, wildcards=True, conn=-1, leaf=-1)}
    with open(f"{folder}/jwt.conf", "w", encoding="ascii") as file:
        file.write(f"operator: {jwt(operator, operator, {'type': 'operator'})}\nresolver: MEMORY\n"
                   f"resolver_preload: {{ {account.public}: {jwt(operator, account, limits)} }}\n")
    credentials(f"{folder}/right.creds", account, user)
    credentials(f"{folder}/stranger.creds", other, user)
    credentials(f"{folder}/forged.creds", other, user, issuer_account=account.public)


if __name__ == "__main__":
    main(*sys.argv[1:])
