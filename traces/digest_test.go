package traces

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// canonicalSum hashes the ops of a chunk by their definition, one by one.
func canonicalSum(b *Block, paced bool) [sha256.Size]byte {
	var buf []byte
	lastKey, lastDue := uint64(0), uint64(0)
	for i, k := range b.Kinds {
		gap := uint64(0)
		if paced {
			gap = b.Due[i] - lastDue
			lastDue = b.Due[i]
		}
		delta := int64(b.Keys[i] - lastKey)
		lastKey = b.Keys[i]
		room := append(buf, make([]byte, canonicalMax)...)
		n := putLong(room[:len(buf)], k, paced, gap, uint64(delta<<1^delta>>63), uint64(at(b.ScanLengths, i)), uint64(at(b.Read, i)), uint64(at(b.Written, i)))
		buf = room[:n]
	}
	return sha256.Sum256(buf)
}

// checkChunk hashes b in one call and in two.
func checkChunk(t *testing.T, b *Block, paced bool, cut int) {
	t.Helper()
	want := canonicalSum(b, paced)
	h := newChunkHash()
	for _, cut := range []int{0, min(cut, b.Len())} {
		h.reset()
		h.add(b, paced, 0, cut)
		h.add(b, paced, cut, b.Len())
		if got := h.sum(); got != want || h.ops != b.Len() {
			t.Fatalf("%d ops, cut at %d, paced %v: %x after %d ops, want %x", b.Len(), cut, paced, got, h.ops, want)
		}
	}
}

// chunkOf makes a chunk of n ops. shape says what it holds: which kinds, how
// large keys, gaps, field sets and lengths are, how often gaps change and which
// columns are left out.
func chunkOf(seed uint64, n int, shape uint32) (b *Block, paced bool) {
	r := rand.New(rand.NewPCG(seed, uint64(shape)))
	bit := func(i int) bool { return shape>>i&1 == 1 }
	keyBits, gapBits, setBits, scanBits := int(shape>>8&63), int(shape>>14&31), int(shape>>19&15), int(shape>>23&31)
	b = &Block{}
	due, gap := r.Uint64()>>(2+r.IntN(62)), uint64(r.Uint32())>>(31-gapBits)
	for range n {
		k := Read
		if r.IntN(20) < 10 || bit(0) {
			k = Kind(1 + r.IntN(int(KindLimit)-1))
		}
		if k == Scan && bit(1) {
			k = Update
		}
		var read, written FieldSet
		var length uint32
		if k.Reads() {
			read = FieldSet(r.Uint32() >> (31 - setBits))
		}
		if k.Writes() {
			written = FieldSet(r.Uint32() >> (31 - setBits))
		}
		if k == Scan {
			length = r.Uint32() >> 1 >> (31 - scanBits)
		}
		b.Kinds, b.Keys, b.Due = append(b.Kinds, k), append(b.Keys, r.Uint64()>>1>>(63-keyBits)), append(b.Due, due)
		b.Read, b.Written, b.ScanLengths = append(b.Read, read), append(b.Written, written), append(b.ScanLengths, length)
		if bit(2) || bit(3) && r.IntN(700) == 0 {
			gap = uint64(r.Uint32()) >> (31 - gapBits)
		}
		due += gap
	}
	if bit(4) {
		b.Read = nil
	}
	if bit(5) {
		b.Written = nil
	}
	if bit(6) {
		b.ScanLengths = nil
	}
	return b, !bit(7)
}

func TestChunksAreHashedByTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(3*gathered)
		b, paced := chunkOf(r.Uint64(), n, r.Uint32())
		checkChunk(t, b, paced, r.IntN(n+1))
	}
	// The longest parts that are written by two words, and the shortest that aren't.
	for _, size := range []uint64{spreadLimit - 1, spreadLimit} {
		for k := Read; k < KindLimit; k++ {
			b := &Block{Kinds: []Kind{k, k, k}, Keys: []uint64{size / 2, 0, size / 2}, Due: []uint64{size, 2 * size, 3 * size}}
			checkChunk(t, b, true, 1)
			checkChunk(t, b, false, 1)
			b.Written = []FieldSet{0, 0, 0}
			if k.Writes() {
				b.Written = []FieldSet{0x7F, 0x80, 0x7F}
			}
			checkChunk(t, b, true, 1)
			if k == Scan {
				b.ScanLengths = []uint32{shortScan - 1, shortScan, scanLengthMax}
			}
			if k.Reads() {
				b.Read = []FieldSet{0x7F, 0x80, 0x7F}
			}
			checkChunk(t, b, true, 1)
		}
	}
}

// Long parts stand among short ones, eight of which may be written together.
func TestLongPartsAmongShortOnes(t *testing.T) {
	for bit := range 63 {
		for _, off := range []uint64{0, 1} {
			size := uint64(1)<<bit - off
			for place := range 17 {
				for _, kind := range []Kind{Read, Update, Scan, ReadModifyWrite, Delete} {
					b := &Block{}
					for i := range 40 {
						b.Kinds, b.Keys, b.Due = append(b.Kinds, Read), append(b.Keys, uint64(i%3)), append(b.Due, uint64(i*i))
						b.Read, b.Written = append(b.Read, 0), append(b.Written, 0)
					}
					b.Kinds[place] = kind
					checkChunk(t, b, true, 8)
					if kind.Writes() {
						b.Written[place] = FieldSet(size & (1<<31 - 1))
						checkChunk(t, b, true, 9)
					}
					b.Keys[place] = size
					checkChunk(t, b, false, place)
					b.Keys[place] = 0
					for i := range b.Due[place:] {
						b.Due[place+i] += size
					}
					checkChunk(t, b, true, 16)
				}
			}
		}
	}
}

func FuzzChunkHash(f *testing.F) {
	f.Add(uint64(1), uint16(600), uint32(0), uint16(3))
	f.Add(uint64(2), uint16(1500), uint32(0x0500_0A7E), uint16(512))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, shape uint32, cut uint16) {
		b, paced := chunkOf(seed, 1+int(n)%(3*gathered), shape)
		checkChunk(t, b, paced, int(cut))
	})
}
