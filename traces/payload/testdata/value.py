"""Builds values by FORMAT.md alone, "Values": a second implementation that holds
the first. Each line of standard input is: seed key field version length."""
import sys

MASK = 2**64 - 1


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def value(seed, key, field, version, length):
    head = "%012x:" % version if length >= 16 else ""
    state = mix(mix(mix(seed) ^ key) ^ (version * 65536 + field))
    body = bytearray()
    while len(body) < length - len(head):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        body += bytes(48 + (b & 63) for b in mix(state).to_bytes(8, "little"))
    return head + body.decode()[: length - len(head)]


for line in sys.stdin:
    print(value(*map(int, line.split())))
