#!/usr/bin/env python3
"""Many pods that mean harm: connections from several loopback addresses that begin large requests and do not end
them, and complete ones with tokens of their own making; or, with the word quiet, a crowd that begins requests of a few bytes
and waits. Usage: flood.py PORT CA CONNECTIONS [quiet]. Prints what it got as
JSON when a line comes in on stdin, and ends with the next."""
import json
import socket
import ssl
import sys

port, ca, connections = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
quiet = sys.argv[4:] == ["quiet"]
context = ssl.create_default_context(cafile=ca)
context.check_hostname = False
got = {"open": 0, "closed": 0, "answers": {}}
held = []

def note(status):
    got["answers"][status] = got["answers"].get(status, 0) + 1

def attack(i):
    raw = socket.socket()
    raw.settimeout(5)
    raw.bind((f"127.0.1.{1 + i % 8}", 0))
    try:
        raw.connect(("127.0.0.1", port))
        peer = context.wrap_socket(raw)
    except OSError:
        got["closed"] += 1
        return
    held.append(peer)
    if quiet:
        peer.sendall(b"POST /v1/runs/victim/r/plan/receipt HTTP/1.1\r\nHost: x\r\n")
        got["open"] += 1
        return
    whole = i % 4 == 0
    size = 512 * 1024
    head = (f"POST /v1/runs/victim/r{i}/plan/receipt HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer a.b{i}.c\r\nContent-Length: {size}\r\n\r\n")
    try:
        peer.sendall(head.encode() + b"x" * (size if whole else size - 1))
        got["open"] += 1
    except OSError:
        got["closed"] += 1

for i in range(connections):
    attack(i)
for peer in held:
    peer.settimeout(0 if quiet else 0.05)
    try:
        answer = peer.recv(64)
        note(answer.split(b" ")[1].decode() if answer else "closed")
    except (ssl.SSLWantReadError, TimeoutError):
        note("none")
    except (OSError, IndexError):
        note("closed")
sys.stdin.readline()
print(json.dumps(got), flush=True)
sys.stdin.readline()
