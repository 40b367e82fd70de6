package payload

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// what names one value.
type what struct {
	seed, key uint64
	field     int
	version   uint64
}

func (w what) value(length int) []byte {
	f := Fields{Count: MaxFields, Prefix: "field", Length: Length{Constant: length}}
	return f.Append(nil, w.seed, w.key, w.field, w.version)
}

var greatest = what{1<<64 - 1, 1<<63 - 1, MaxFields - 1, MaxVersion}

// These never change: they are in databases that were loaded from old traces.
// They were computed by the second implementation in testdata/value.py.
func TestGoldenValues(t *testing.T) {
	for _, c := range []struct {
		of     what
		length int
		want   string
	}{
		{what{1, 0, 0, 0}, 100, "000000000000:dUad@YZJ7P_[SQ13UMEHW`87CWYjb6N;21Pl5m1lLMiUj`ghj>3hYiS]Ra>^<64fZOPfiOH?a4]A_G@d2;GX=JB"},
		{what{1, 0, 9, 5}, 15, "Y@h@mZ;ZjULnbBG"},
		{what{7, 6, 5, 4}, 8, `H@2=;\0h`},
		{greatest, 40, "ffffffffffff:gDlf9F6=?OAO8A[2NKJ;F;6bik8"},
	} {
		if got := string(c.of.value(c.length)); got != c.want {
			t.Errorf("%+v, %d bytes: %q, want %q", c.of, c.length, got, c.want)
		}
	}
}

func TestASecondImplementationBuildsTheSameValues(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var ask, want bytes.Buffer
	for i := range 600 {
		w, f := greatest, Fields{Count: MaxFields, Prefix: "field", Length: Length{Constant: i % 300}}
		if i > 0 {
			w = what{r.Uint64() >> r.IntN(64), r.Uint64() >> (1 + r.IntN(63)), r.IntN(MaxFields), r.Uint64() >> (16 + r.IntN(48))}
		}
		keys := Keys{Prefix: "user", Padding: 1 + r.IntN(30), Order: Order(r.IntN(2))}
		if i >= 300 {
			f.Length = randomLength(t, r)
		}
		switch i % 5 {
		case 1, 2:
			f.Values = Values{Scheme: Compressible, Saving: MinSaving + r.IntN(MaxSaving-MinSaving+1)}
		case 3:
			f.Values, f.Length = Values{Scheme: YCSBIntegrity, Keys: keys}, Length{Constant: r.IntN(300)}
		}
		fmt.Fprintf(&ask, "%s\t%s\t%s\t%s\t%d %d %d %d\n", f.Length, f.Values, keys.Append(nil, w.key), f.Name(w.field), w.seed, w.key, w.field, w.version)
		fmt.Fprintf(&want, "%s\n", f.Append(nil, w.seed, w.key, w.field, w.version))
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is missing; this test runs testdata/value.py (Debian package python3)")
	}
	cmd := exec.Command("python3", "testdata/value.py")
	cmd.Stdin, cmd.Stderr = &ask, os.Stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("testdata/value.py: %v", err)
	}
	gots, wants, asked := bytes.Split(got, []byte("\n")), bytes.Split(want.Bytes(), []byte("\n")), bytes.Split(ask.Bytes(), []byte("\n"))
	if len(gots) != len(wants) {
		t.Fatalf("testdata/value.py builds %d values, want %d", len(gots), len(wants))
	}
	for i := range wants {
		if !bytes.Equal(gots[i], wants[i]) {
			t.Errorf("%s: testdata/value.py builds\n%s\nwant\n%s", asked[i], gots[i], wants[i])
		}
	}
}

// randomLength makes a law of lengths up to some 2000 bytes that is not constant.
func randomLength(t *testing.T, r *rand.Rand) Length {
	t.Helper()
	least := r.IntN(40)
	l, err := UniformLength(least, least+1+r.IntN(200))
	switch r.IntN(3) {
	case 0:
		l, err = ZipfianLength(least, least+1+r.IntN(1+r.IntN(1500)))
	case 1:
		l, err = HistogramLength(1+r.IntN(20), []uint64{r.Uint64N(5), 1 + r.Uint64()>>10, r.Uint64N(9), 0, 1 + r.Uint64N(1<<50), 0})
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestValuesAreExactlyAsLongAsAskedAndPrintable(t *testing.T) {
	lengths := []int{1_000_000}
	for n := range 41 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		v := what{1, 2, 3, 4}.value(n)
		if len(v) != n {
			t.Errorf("%d bytes, want %d", len(v), n)
		}
		if i := bytes.IndexFunc(v, func(c rune) bool { return c < '0' || c > 'o' }); i >= 0 {
			t.Errorf("%d bytes: byte %d is %q, want one of '0' to 'o'", n, i, v[i])
		}
		f := Fields{Count: 4, Length: Length{Constant: n}}
		if got := f.Append([]byte("before "), 1, 2, 3, 4); string(got) != "before "+string(v) {
			t.Errorf("%d bytes: appended %q", n, got)
		}
		if f.Length.Max() != n {
			t.Errorf("%d bytes: at most %d", n, f.Length.Max())
		}
	}
}

// Every one of the 64 symbols takes its share; 64,000 draws each within 6
// standard errors.
func TestValuesUseTheWholeAlphabetEvenly(t *testing.T) {
	var count [256]int
	const n = 64_000 * 64
	for _, c := range (what{1, 2, 3, 4}).value(n + VersionBytes)[VersionBytes:] {
		count[c]++
	}
	for c := '0'; c <= 'o'; c++ {
		if d := count[c] - 64_000; d*d > 36*64_000 {
			t.Errorf("%q occurs %d times, want about 64,000", c, count[c])
		}
	}
}

func TestVersionsAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	versions := []uint64{0, 1, 9, 10, 15, 16, 1 << 32, MaxVersion - 1, MaxVersion}
	for range 200 {
		versions = append(versions, r.Uint64N(MaxVersion))
	}
	for _, want := range versions {
		for _, length := range []int{MinVersioned, 100} {
			v := what{3, 2, 1, want}.value(length)
			if got, ok := Version(v); !ok || got != want {
				t.Errorf("version %d, read %d, %v from %q", want, got, ok, v)
			}
		}
	}
	for _, v := range []string{"", "000000000001:", "000000000001:xx", "000000000001_xxx", "00000000000A:xxx", "+00000000001:xxx", " 0000000001::xxxx"} {
		if got, ok := Version([]byte(v)); ok {
			t.Errorf("read version %d from %q", got, v)
		}
	}
	if got, ok := Version(what{3, 2, 1, 7}.value(MinVersioned - 1)); ok {
		t.Errorf("read version %d from a value too short for one", got)
	}
}

// Neighbours in any of the four numbers differ, and so do those that a sum or an
// exclusive or of them would confuse.
func TestNoTwoValuesAreAlike(t *testing.T) {
	seen := map[string]what{}
	for seed := range uint64(8) {
		for key := range uint64(16) {
			for field := range 12 {
				for version := range uint64(12) {
					for _, w := range []what{
						{seed, key, field, version},
						{1<<63 | seed, 1<<62 | key, field, version},
						{seed << 16, key << 16, field, version << 16},
					} {
						v := string(w.value(48)[VersionBytes:]) // without the version in clear
						if other, there := seen[v]; there && other != w {
							t.Fatalf("%+v and %+v have the same value %q", w, other, v)
						}
						seen[v] = w
					}
				}
			}
		}
	}
	// Short values carry no version and still depend on it.
	if a, b := (what{1, 2, 3, 0}).value(8), (what{1, 2, 3, 1}).value(8); bytes.Equal(a, b) {
		t.Errorf("versions 0 and 1 are both %q", a)
	}
}

// A longer value of the same numbers begins with the shorter one.
func TestLengthsAreCutFromOneStream(t *testing.T) {
	long := (what{1, 2, 3, 4}).value(200)
	for n := MinVersioned; n < 200; n++ {
		if short := (what{1, 2, 3, 4}).value(n); !bytes.HasPrefix(long, short) {
			t.Errorf("%d bytes: %q is not the start of %q", n, short, long)
		}
	}
}

func TestMixIsABijectionThatSpreads(t *testing.T) {
	// Reference values of splitmix64 from seed 0, as the paper's Java gives them.
	for i, want := range []uint64{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F} {
		if got := Mix(uint64(i+1) * golden); got != want {
			t.Errorf("Mix of %d golden ratios is %#x, want %#x", i+1, got, want)
		}
	}
	if Mix(0) != 0 {
		t.Errorf("Mix(0) = %#x", Mix(0))
	}
	seen := map[uint64]bool{}
	for i := range uint64(100_000) {
		seen[Mix(i)] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("%d words from 100,000", len(seen))
	}
}

func TestSumDependsOnEveryByteAndOnTheLength(t *testing.T) {
	if a, b := Sum(1, nil), Sum(2, nil); a == b {
		t.Error("the seed does not change the sum")
	}
	seen := map[uint64]string{}
	add := func(name string, b []byte) {
		s := Sum(7, b)
		if other, there := seen[s]; there {
			t.Errorf("%s and %s have the same sum", name, other)
		}
		seen[s] = name
	}
	for n := range 141 {
		b := (what{1, 2, 3, 4}).value(n)
		add(fmt.Sprintf("%d bytes", n), b)
		for i := range b {
			for bit := range 8 {
				b[i] ^= 1 << bit
				add(fmt.Sprintf("%d bytes, byte %d bit %d flipped", n, i, bit), b)
				b[i] ^= 1 << bit
			}
		}
		if n > 0 {
			add(fmt.Sprintf("%d zeros", n), make([]byte, n))
		}
	}
	swapped := []byte("wordwordWORDWORDtail")
	a := Sum(7, swapped)
	copy(swapped, "WORDWORDwordword")
	if Sum(7, swapped) == a {
		t.Error("swapped words have the same sum")
	}
	long := []byte(strings.Repeat("word1234WORD5678", 8))
	a = Sum(7, long)
	for i := range 16 {
		for j := range i {
			swapped := slices.Clone(long)
			copy(swapped[8*i:8*i+8], long[8*j:])
			copy(swapped[8*j:8*j+8], long[8*i:])
			if string(swapped) != string(long) && Sum(7, swapped) == a {
				t.Errorf("words %d and %d swapped have the same sum", i, j)
			}
		}
	}
	if got := Sum(7, []byte("the same bytes, another place")); got != Sum(7, []byte("...the same bytes, another place")[3:]) {
		t.Error("the sum depends on where bytes lie")
	}
}

// Results hold sums, which must not change from here on: those of words in order,
// four chains of them where there are many, the tail as a word of its own.
func TestSumKeepsItsDefinition(t *testing.T) {
	b := make([]byte, 300)
	for i := range b {
		b[i] = byte(i * i / 7)
	}
	word := func(from, to int) (word uint64) {
		for j := from; j < to; j++ {
			word |= uint64(b[j]) << (8 * (j % 8))
		}
		return word
	}
	link := func(h, word uint64) uint64 {
		high, low := bits.Mul64(h^word, golden)
		return high ^ low
	}
	for n := range len(b) + 1 {
		want, i := uint64(n)*golden^7, 0
		if n >= 64 {
			var chains [4]uint64
			for c := range chains {
				chains[c] = want
				for range c {
					chains[c] += golden
				}
			}
			for ; i < n/32*4; i++ {
				chains[i%4] = link(chains[i%4], word(8*i, 8*i+8))
			}
			want = chains[0]
			for c, chain := range chains[1:] {
				want = link(want, bits.RotateLeft64(chain, 16*(c+1)))
			}
		}
		for ; i < n/8; i++ {
			want = link(want, word(8*i, 8*i+8))
		}
		if got := Sum(7, b[:n]); got != Mix(want^word(8*i, n)) {
			t.Errorf("%d bytes: %x, want %x", n, got, Mix(want^word(8*i, n)))
		}
	}
}

func TestValuesAllocateNothing(t *testing.T) {
	f := Fields{Count: 10, Prefix: "field", Length: Length{Constant: 100}}
	buf, n, sum := make([]byte, 0, 128), uint64(0), uint64(0)
	allocs := testing.AllocsPerRun(100, func() {
		buf = f.Append(buf[:0], 1, n, 3, n)
		version, _ := Version(buf)
		sum += Sum(version, buf)
		n++
	})
	if allocs > 0 {
		t.Errorf("%v allocations per value", allocs)
	}
}

func TestFieldNames(t *testing.T) {
	f := Fields{Count: 3, Prefix: "field"}
	if f.Name(0) != "field0" || f.Name(12) != "field12" {
		t.Errorf("fields are called %q and %q", f.Name(0), f.Name(12))
	}
}

func BenchmarkValue100(b *testing.B) {
	f := Fields{Count: 10, Length: Length{Constant: 100}}
	buf := make([]byte, 0, 128)
	b.SetBytes(100)
	for i := range uint64(b.N) {
		buf = f.Append(buf[:0], 1, i, 3, i)
	}
}

func FuzzVersion(f *testing.F) {
	f.Add([]byte("0123456789ab:and more"))
	f.Add([]byte("0123456789AB:and more"))
	f.Fuzz(func(t *testing.T, value []byte) {
		version, ok := Version(value)
		if head := fmt.Sprintf("%012x:", version); ok != (len(value) >= MinVersioned && bytes.HasPrefix(value, []byte(head))) {
			t.Errorf("Version(%q) = %d, %v", value, version, ok)
		}
	})
}
