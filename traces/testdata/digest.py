"""Computes the digest of a trace from the text of `tracegen dump` on standard
input, by FORMAT.md alone: a second implementation that holds the first."""
import hashlib
import sys

CHUNK = 65536
KINDS = {"READ": 1, "UPDATE": 2, "INSERT": 3, "SCAN": 4, "READMODIFYWRITE": 5, "DELETE": 6}
READS, WRITES = {1, 4, 5}, {2, 3, 5}
ESCAPES = {"\\": "\\", "t": "\t", "r": "\r", "n": "\n"}


def unescape(text):
    out, chars = "", iter(text)
    for c in chars:
        out += ESCAPES[next(chars)] if c == "\\" else c
    return out


def uvarint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return uvarint(n << 1 if n >= 0 else (-n << 1) - 1)


def string(s):
    return uvarint(len(s.encode())) + s.encode()


class Phase:
    def __init__(self, name, paced):
        self.name, self.paced, self.count = name, paced, 0
        self.chunks, self.open = [], bytearray()
        self.key = self.due = 0

    def close_chunk(self):
        self.chunks.append(hashlib.sha256(self.open).digest())
        self.open, self.key, self.due = bytearray(), 0, 0

    def digest(self):
        if self.open:
            self.close_chunk()
        return hashlib.sha256(b"".join(self.chunks)).digest()


def main():
    header, values, in_header, phases, stated = bytearray(), {}, True, [], None
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line == "# end of digest header":
            in_header = False
        elif line.startswith("# phase "):
            _, _, name, pace = line.split(" ")[:4]
            phases.append(Phase(name, pace == "paced"))
        elif line.startswith("# "):
            name, value = line[2:].split("=", 1)
            if in_header:
                values[name] = unescape(value)
                header += string(name) + string(values[name])
            elif name == "digest":
                stated = value
        else:
            add(phases[-1], line.split("\t"), values)
    assert values["phases"] == ",".join(p.name for p in phases)
    whole = bytes(header)
    for p in phases:
        whole += string(p.name) + uvarint(p.count) + p.digest()
    digest = hashlib.sha256(whole).hexdigest()
    print(digest)
    sys.exit(0 if stated == digest else 1)


def add(phase, columns, values):
    _, _, due, kind, _ = columns[:5]
    pairs = dict(c.split("=", 1) for c in columns[5:])
    kind, key = KINDS[kind], int(pairs["n"])

    def field_set(name):
        name = unescape(name)
        return uvarint(0 if name == "all" else 1 + int(name[len(values["fields.prefix"]):]))

    out = bytes([kind])
    if phase.paced:
        ticks = int(due) // int(values["tick"])
        out += uvarint(ticks - phase.due)
        phase.due = ticks
    out += zigzag(key - phase.key)
    phase.key = key
    if kind == 4:
        out += uvarint(int(pairs["len"]))
    if kind in READS:
        out += field_set(pairs["read"] if kind == 5 else pairs["fields"])
    if kind in WRITES:
        out += field_set(pairs["fields"])
    phase.open += out
    phase.count += 1
    if phase.count % CHUNK == 0:
        phase.close_chunk()


main()
