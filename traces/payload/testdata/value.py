"""Builds values by FORMAT.md alone, "Values": a second implementation that holds
the first. Each line of standard input is a law of lengths, a way of building
values, a key and a field's name, cut by tabs, then seed, key number, field index
and version, cut by blanks."""
import sys

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def power100(x):
    x4 = x * x
    x4 *= x4
    x32 = x4 * x4
    x32 *= x32
    x32 *= x32
    return x32 * x32 * x32 * x4


def root100(x):
    root = 1.25
    while True:
        following = root - root * (1 - x / power100(root)) / 100
        if following >= root:
            return root
        root = following


def inverse(x):
    return root100(x) / x


def zeta(n):
    total = 0.0
    for i in range(1, min(n, 1000) + 1):
        total += inverse(float(i))
    if n <= 1000:
        return total
    a, b = 1000.0, float(n)
    integral = 100 * (root100(b) - root100(a))
    slopes = 0.99 * (inverse(a) / a - inverse(b) / b) / 12
    return total + integral + (inverse(b) - inverse(a)) / 2 + slopes


ZETA2 = 1.5034777750283594
zetas = {}


def zipfian(word, least, most):
    n = most - least + 1
    if n not in zetas:
        zetas[n] = zeta(n)
    u = (word >> 11) / 2**53
    if u * zetas[n] < 1:
        return least
    if u * zetas[n] < ZETA2 or n == 2:
        return least + 1
    eta = (1 - root100(2.0) / root100(float(n))) / (1 - ZETA2 / zetas[n])
    return min(least + int(n * power100(eta * u - eta + 1)), most)


def histogram(word, size, weights):
    k = word * sum(weights) >> 64
    for i, weight in enumerate(weights):
        if k < weight:
            return (i + 1) * size
        k -= weight


def length(law, word):
    name, *numbers = law.split(" ")
    numbers = list(map(int, numbers))
    if name == "constant":
        return numbers[0]
    if name == "uniform":
        return numbers[0] + (word * (numbers[1] - numbers[0] + 1) >> 64)
    if name == "zipfian":
        return zipfian(word, *numbers)
    return histogram(word, numbers[0], numbers[1:])


def stream(state, n):
    out = bytearray()
    while len(out) < n:
        state = (state + GOLDEN) & MASK
        out += bytes(48 + (b & 63) for b in mix(state).to_bytes(8, "little"))
    return out.decode()[:n], state


def compressible(state, n, head, saving):
    out, costs = "", (6, 3) if head else (0, 0)
    while n > 0:
        chunk = min(n, 256 - head)
        some = (chunk + head) * (1000 - saving) * 4 // 3000 - costs[0]
        part, state = stream(state, min(max(some, 1), chunk))
        out += part.ljust(chunk, "=")
        n, head, costs = n - chunk, 0, costs[1:] * 2
    return out


def java_hash(text):
    h = 0
    for c in text.encode():
        h = (31 * h + c) & 0xFFFFFFFF
    return h - 2**32 if h >= 2**31 else h


def integrity(n, key, field):
    text = key + ":" + field
    while len(text) < n:
        text += ":"
        text += str(java_hash(text))
    return text[:n]


def value(law, way, key, field, seed, number, index, version):
    if way == "ycsb-integrity/1":
        return integrity(length(law, 0), key, field)
    state = mix(mix(mix(seed) ^ number) ^ (version * 65536 + index))
    n = length(law, mix(state))
    head = "%012x:" % version if n >= 16 else ""
    if way == "printable/1":
        return head + stream(state, n - len(head))[0]
    saving = round(float(way.split(" ")[1]) * 1000)
    return head + compressible(state, n - len(head), len(head), saving)


for line in sys.stdin:
    *texts, numbers = line.rstrip("\n").split("\t")
    print(value(*texts, *map(int, numbers.split())))
