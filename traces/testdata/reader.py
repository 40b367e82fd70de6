"""Prints the trace in a file as `tracegen dump` does, and checks it, by FORMAT.md
alone: a second implementation that holds the first. Frames are decompressed by
the program zstd."""
import struct
import subprocess
import sys

KINDS = ["", "READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE", "DELETE"]
UPDATE, INSERT, SCAN, RMW = 2, 3, 4, 5
READS, WRITES = {1, 4, 5}, {2, 3, 5}


def crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        yield n


CRC = list(crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def uvarint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return n, at


def uvarints(data):
    at = 0
    while at < len(data):
        n, at = uvarint(data, at)
        yield n


def fields(data):
    """Number and value of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = uvarint(data, at)
        if tag & 7 == 0:
            value, at = uvarint(data, at)
        elif tag & 7 == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            assert tag & 7 == 2
            size, at = uvarint(data, at)
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


class Message:
    def __init__(self, data):
        self.values = {}
        for number, value in fields(data):
            self.values.setdefault(number, []).append(value)

    def number(self, n):
        return self.values.get(n, [0])[0]

    def bytes(self, n):
        return self.values.get(n, [b""])[0]

    def text(self, n):
        return self.bytes(n).decode()

    def all(self, n):
        return [Message(data) for data in self.values.get(n, [])]


def frames(data):
    """The decompressed frames of header, blocks and footer; offset, size and
    CRC-32C of each."""
    count, descriptor, magic = struct.unpack("<IBI", data[-9:])
    assert (descriptor, magic) == (0, 0x8F92EAB1)
    table = len(data) - 17 - 8 * count
    assert struct.unpack_from("<II", data, table) == (0x184D2A5E, 8 * count + 9)
    contents = subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    at = start = 0
    out = []
    for i in range(count):
        size, decompressed = struct.unpack_from("<II", data, table + 8 + 8 * i)
        out.append((contents[start : start + decompressed], at, size, crc32c(data[at : at + size])))
        at, start = at + size, start + decompressed
    assert at == table and start == len(contents)
    _, at, size, _ = out.pop()
    assert data[at : at + size] == struct.pack("<II4sI", 0x184D2A50, 8, b"PNLA", out[-1][3])
    return out


def key(scheme, n):
    if scheme.number(3) == 2:
        h, octets = 0xCBF29CE484222325, n
        for _ in range(8):
            h = (h ^ octets & 255) * 1099511628211 % 2**64
            octets >>= 8
        n = min(h, 2**64 - h)
    return scheme.text(1) + str(n).rjust(scheme.number(2), "0")


def escape(text):
    for c, name in ("\\", "\\\\"), ("\t", "\\t"), ("\r", "\\r"), ("\n", "\\n"):
        text = text.replace(c, name)
    return text


def line(name, value):
    print("# %s=%s" % (escape(name), escape(str(value))))


def print_header(h, phases):
    keys, schema = h.all(7)[0], h.all(8)[0]
    line("digest", "pianola/1")
    line("seed", h.number(4))
    line("keys.order", {1: "ordered", 2: "hashed"}[keys.number(3)])
    line("keys.prefix", keys.text(1))
    line("keys.padding", keys.number(2))
    line("fields.count", schema.number(1))
    line("fields.prefix", schema.text(2))
    line("fields.length", schema.text(3))
    line("fields.values", schema.text(4))
    line("table", h.text(9))
    line("phases", ",".join(p.text(1) for p in phases))
    line("tick", h.number(6))
    print("# end of digest header")
    line("format", h.number(1))
    line("tool", h.text(2))
    line("generator", h.text(5))
    line("records", h.number(11))
    line("first_key", h.number(10))
    line("spec", h.text(3))
    for hint in h.all(13):
        line("hint " + hint.text(1), hint.text(2))


def print_phase(p):
    pace = "paced" if p.number(2) else "unpaced"
    print("# phase %s %s keys=%s arrivals=%s" % (p.text(1), pace, escape(p.text(4)), escape(p.text(6))))


def print_block(h, p, b):
    schema = h.all(8)[0]
    names = ["all"] + [schema.text(2) + str(i) for i in range(schema.number(1))]
    length = schema.text(3).split(" ")[1]
    kinds, width, keys = b.bytes(7), b.number(10), b.bytes(11)
    gaps, scans = uvarints(b.bytes(8)), uvarints(b.bytes(12))
    read, written = uvarints(b.bytes(13)), uvarints(b.bytes(14))
    assert len(kinds) == b.number(3)
    due, insert, at = b.number(4), b.number(5), 0
    for i, kind in enumerate(kinds):
        if i > 0 and p.number(2):
            due += next(gaps)
        if kind == INSERT:
            n, insert = insert, insert + 1
        else:
            n, at = b.number(9) + int.from_bytes(keys[at : at + width], "little"), at + width
        out = [b.number(1) + i, p.text(1), due * h.number(6) if p.number(2) else "-", KINDS[kind]]
        out += [escape(key(h.all(7)[0], n)), "n=%d" % n]
        reads = escape(names[next(read)]) if kind in READS else None
        writes = escape(names[next(written)]) if kind in WRITES else None
        if reads or writes:
            out.append("fields=" + (writes or reads))
        if kind == RMW:
            out.append("read=" + reads)
        if kind == SCAN:
            out.append("len=%d" % next(scans))
        if writes:
            out.append("bytes=" + length)
        print(*out, sep="\t")
    assert at == len(keys) and not any(list(c) for c in (gaps, scans, read, written))


def main():
    with open(sys.argv[1], "rb") as f:
        header, *blocks, footer = frames(f.read())
    h = Message(header[0]).all(1)[0]
    foot = Message(footer[0]).all(3)[0]
    assert foot.number(3) == header[3]
    phases, at = h.all(12), -1
    print_header(h, phases)
    for (field, offset, size, crc), entry in zip(blocks, foot.all(1), strict=True):
        assert [offset, size, crc] == [entry.number(n) for n in (1, 2, 3)]
        b = Message(field).all(2)[0]
        assert [b.number(1), b.number(2), b.number(4)] == [entry.number(n) for n in (4, 5, 6)]
        while at < b.number(2):
            at += 1
            print_phase(phases[at])
        print_block(h, phases[at], b)
    for p in phases[at + 1 :]:
        print_phase(p)
    line("digest", foot.bytes(5).hex())


main()
