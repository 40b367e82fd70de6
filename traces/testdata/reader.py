"""Prints the trace in a file as `tracegen dump` does, and checks it, by FORMAT.md
alone: a second implementation that holds the first. Frames are decompressed by
the program zstd."""
import struct
import subprocess
import sys
from itertools import repeat

KINDS = ["", "READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE", "DELETE"]
INSERT, SCAN, RMW, DELETE = 3, 4, 5, 6
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


def field_of_bits(data, at, width):
    """The bits [at, at + width) of data, lowest first."""
    return int.from_bytes(data[at >> 3 : at + width + 7 >> 3], "little") >> (at & 7) & (1 << width) - 1


def codes(tokens, bits):
    """The numbers of a column of codes."""
    at = 0
    for t in tokens:
        s = max(t // 4, 1) - 1
        yield (t - 4 * s << s) + field_of_bits(bits, at, s)
        at += s
    assert len(bits) == at + 7 >> 3


def entries(width, data):
    """The numbers of a column of entries of one width, zeros if it is 0."""
    at = 0
    while at + width <= 8 * len(data):
        yield field_of_bits(data, at, width)
        at += width


MASK = 2**64 - 1


def scramble(n, keys, x):
    def mix(x):
        x = x * 0xBF58476D1CE4E5B9 & MASK
        return (x ^ x >> 32) * 0x94D049BB133111EB & MASK

    h = n.bit_length() // 2
    a = -(-n >> h)
    while True:
        left, right = x >> h, x & (1 << h) - 1
        for k in 0, 2:
            left = (left + (mix(right ^ keys[k]) * a >> 64)) % a
            right ^= mix(left ^ keys[k + 1]) >> 64 - h
        x = left << h | right
        if x < n:
            return x


def ycsb_hash(n):
    h = 0xCBF29CE484222325
    for _ in range(8):
        h = (h ^ n & 255) * 1099511628211 % 2**64
        n >>= 8
    return min(h, 2**64 - h)


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

    def words(self, n):
        return [word for (word,) in struct.iter_unpack("<Q", self.bytes(n))]

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
        n = ycsb_hash(n)
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


class Trace:
    """What runs along between blocks."""

    def __init__(self, h):
        self.header, self.phases, self.phase = h, h.all(12), -1
        self.first, self.records = h.number(10), h.number(11)
        self.insert_from = h.number(14) or self.first + self.records
        self.before = self.records  # records in front of the phase
        self.inserts, self.deletes, self.seen, self.ops = [], 0, 0, 0

    def reach(self, phase):
        while self.phase < phase:
            self.phase += 1
            print_phase(self.phases[self.phase])
            if self.phase > 0 and self.phases[self.phase - 1].text(1) != "load":
                self.before += len(self.inserts)
            self.inserts, self.seen, self.ops = [], 0, 0

    def visible(self):
        """Records that the next op sees."""
        v = self.phases[self.phase].number(9)
        while self.seen < len(self.inserts) and self.inserts[self.seen] < self.ops - v:
            self.seen += 1
        return self.before + self.seen if v else 0

    def key(self, record):
        return self.first + record if record < self.records else self.insert_from + record - self.records

    def due_times(self, b):
        p, due = self.phases[self.phase], b.number(4)
        if b.number(10):
            num, den = p.number(7) * self.header.number(6), p.number(8) * 10**9
            yield from ((self.ops + i) * den // num for i in range(b.number(3)))
        elif p.number(2):
            yield due
            for gap in codes(b.bytes(11), b.bytes(12)):
                due += gap
                yield due
        else:
            yield from ("-" for _ in range(b.number(3)))

    def decode(self, b, kinds):
        """Key number of each op; moves on."""
        m = self.phases[self.phase].all(10)[0]
        code, items, rounds = m.number(1), m.number(2), m.words(3)
        victims = self.header.words(15)
        column, last = codes(b.bytes(13), b.bytes(14)), 0
        assert b.number(6) == self.visible() and b.number(7) == self.deletes
        insert = b.number(5)
        for kind in kinds:
            if kind == INSERT:
                n, insert = insert, insert + 1
                self.inserts.append(self.ops)
            elif kind == DELETE and victims:
                n = self.first + scramble(self.records, victims, self.deletes)
            else:
                c = next(column)
                if code == 1:
                    n = self.first + c
                elif code == 2:
                    n = self.key(self.visible() - 1 - c)
                elif code == 3:
                    record = (last + c) % self.records
                    n, last = self.key(record), (record + 1) % self.records
                elif code == 4:
                    n = self.key(scramble(items, rounds, c))
                else:
                    n = self.key(ycsb_hash(c) % items if c < 32768 else c - 32768)
            self.deletes += kind == DELETE
            self.ops += 1
            yield n
        assert not list(column)

    def print_block(self, b):
        h, p = self.header, self.phases[self.phase]
        schema = h.all(8)[0]
        names = ["all"] + [schema.text(2) + str(i) for i in range(schema.number(1))]
        length = schema.text(3).split(" ")[1]
        table, count = b.bytes(8), b.number(3)
        width = [0, 0, 1, 2, 2, 4, 4][len(table)]
        kinds = [table[field_of_bits(b.bytes(9), i * width, width)] for i in range(count)]
        scans, read, written = (entries(b.number(n), b.bytes(n + 1)) if b.number(n) else repeat(0) for n in (15, 17, 19))
        dues = list(self.due_times(b))
        assert len(dues) == count and dues[0] in (b.number(4), "-")
        for i, (kind, n) in enumerate(zip(kinds, self.decode(b, kinds), strict=True)):
            out = [b.number(1) + i, p.text(1), dues[i] if dues[i] == "-" else dues[i] * h.number(6), KINDS[kind]]
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


def main():
    with open(sys.argv[1], "rb") as f:
        header, *blocks, footer = frames(f.read())
    h = Message(header[0]).all(1)[0]
    foot = Message(footer[0]).all(3)[0]
    assert h.number(1) == 1 and foot.number(3) == header[3]
    t = Trace(h)
    print_header(h, t.phases)
    for (field, offset, size, crc), entry in zip(blocks, foot.all(1), strict=True):
        assert [offset, size, crc] == [entry.number(n) for n in (1, 2, 3)]
        b = Message(field).all(2)[0]
        assert [b.number(1), b.number(2), b.number(4)] == [entry.number(n) for n in (4, 5, 6)]
        t.reach(b.number(2))
        t.print_block(b)
    t.reach(len(t.phases) - 1)
    line("digest", foot.bytes(5).hex())


main()
