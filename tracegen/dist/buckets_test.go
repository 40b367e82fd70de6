package dist

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"pianola/tracegen/random"
)

// TestBucketRanges walks over all buckets: they follow one another without a
// gap, and both ends lead back to the bucket.
func TestBucketRanges(t *testing.T) {
	var next uint64
	for bucket := range bucketOf(1 << 63) {
		first, shift := bucketRange(bucket)
		last := first + 1<<shift - 1
		if first != next {
			t.Fatalf("bucket %d begins at %d, want %d", bucket, first, next)
		}
		if bucketOf(first) != bucket || bucketOf(last) != bucket {
			t.Fatalf("bucket %d: its ends %d and %d lie in %d and %d", bucket, first, last, bucketOf(first), bucketOf(last))
		}
		if shift > 0 && 1<<shift*perOctave > first {
			t.Fatalf("bucket %d: size %d is more than 1/%d of %d", bucket, 1<<shift, perOctave, first)
		}
		next = last + 1
	}
	if next != 1<<63 {
		t.Errorf("the buckets end at %d", next)
	}
}

// TestSplit checks both halves of the promise of split: the offset is the
// word's high bits, and a fraction that is surely accepted is below the ratio
// even with all its unknown bits set.
func TestSplit(t *testing.T) {
	src := random.NewStream(1, "split").At(0)
	surely := 0
	const tries = 200_000
	for range tries {
		shift, word := src.Below(58), src.Uint64()
		slope := src.Below(1 << 60)
		if src.Below(8) == 0 {
			word |= math.MaxUint64 << (4 + src.Below(60))
		}
		offset, u, sure := split(word, shift, slope)
		if want := word >> (64 - shift); offset != want {
			t.Fatalf("split(%#x, %d): offset %d, want %d", word, shift, offset, want)
		}
		if u != word<<shift {
			t.Fatalf("split(%#x, %d): fraction %#x", word, shift, u)
		}
		if !sure {
			continue
		}
		surely++
		// u + slope·offset/2^shift < 2^64, in integers of 128 bits.
		high, low := bits.Mul64(slope, offset)
		fall := high<<(64-shift) | low>>shift
		if shift == 0 {
			fall = low
		}
		if _, over := bits.Add64(u|(1<<shift-1), fall, 1); over != 0 {
			t.Fatalf("split(%#x, %d, %#x) is sure, but the fraction may reach the bound", word, shift, slope)
		}
	}
	if surely < tries*3/4 {
		t.Errorf("only %d of %d are accepted at once", surely, tries)
	}
}

func TestAccept(t *testing.T) {
	for _, c := range []struct {
		u, shift, word uint64
		ratio          float64
		want           bool
	}{
		{math.MaxUint64, 0, 0, 1, true},
		{0, 0, 0, 0, false},
		{1 << 63, 0, math.MaxUint64, 0.5, false},
		{1<<63 - 1, 0, 0, 0.5, true},
		// The low 8 bits of the fraction are the word's high ones.
		{1<<63 - 256, 8, math.MaxUint64, 0.5, true},
		{1<<63 - 256, 8, math.MaxUint64, 0.5 - 0x1p-53, false},
		{1<<63 - 4096, 12, 0, 0.5 - 0x1p-53, true},
	} {
		if got := accept(c.u, c.shift, c.word, c.ratio); got != c.want {
			t.Errorf("accept(%#x, %d, %#x, %v) = %v", c.u, c.shift, c.word, c.ratio, got)
		}
	}
}

// tangent checks that the ratio of a law lies above the tangent that stands in
// for it, at ends, in the middle and at random places of all its buckets.
func tangent(t *testing.T, name string, p *powerLaw) {
	t.Helper()
	src := random.NewStream(2, "tangent").At(0)
	for bucket := uint64(singles); bucket <= bucketOf(p.limit-1); bucket++ {
		first, shift := bucketRange(bucket)
		size := uint64(1) << shift
		slope := p.slopes[bucket%perOctave]
		for _, offset := range []uint64{0, 1, size / 2, size - 1, src.Below(size)} {
			bound := 1 - math.Ldexp(float64(slope), -64)*math.Ldexp(float64(offset), -int(shift))
			ratio := p.ratio(first, offset)
			if ratio < bound-0x1p-49 || ratio > 1 {
				t.Fatalf("%s: ratio %v at %d + %d, tangent %v", name, ratio, first, offset, bound)
			}
		}
	}
}

func TestTangents(t *testing.T) {
	for _, theta := range []float64{1e-6, 0.5, 0.99, 1, 1.5, 2} {
		tangent(t, "zipf", mustZipf(t, MaxItems, theta).values)
	}
	tangent(t, "ycsb", NewYCSBZipf().ranks)
}

// shares returns the exact probability of each value below the limit that the
// tables of the law and its ratios give, for small limits.
func (p *powerLaw) shares() []float64 {
	shares := make([]float64, p.limit)
	masses := p.buckets.masses()
	var sum float64
	for v := int(p.limit) - 1; v >= 0; v-- { // the small ones first
		bucket := bucketOf(uint64(v))
		first, shift := bucketRange(bucket)
		ratio := 1.0
		if offset := uint64(v) - first; offset > 0 {
			ratio = p.ratio(first, offset)
		}
		shares[v] = math.Ldexp(float64(masses[bucket]), -int(shift)-63) * ratio
		sum += shares[v]
	}
	for v := range shares {
		shares[v] /= sum
	}
	return shares
}

// TestWordsPerSample counts the words that a sample takes: two, and a few more
// where the tangent does not decide. It is what the speed rests on.
func TestWordsPerSample(t *testing.T) {
	laws := map[string]interface{ Sample(*random.Source) uint64 }{
		"ycsb":            NewYCSBZipf(),
		"exponential 64":  mustExponential(t, 64),
		"exponential 1e7": mustExponential(t, 1e7),
	}
	for _, theta := range thetas {
		laws[fmt.Sprintf("zipf 10^6 %v", theta)] = mustZipf(t, 1e6, theta)
		laws[fmt.Sprintf("zipf 2^62 %v", theta)] = mustZipf(t, MaxItems, theta)
	}
	for name, law := range laws {
		const samples = 100_000
		src := random.NewStream(1, "words").At(0)
		words, used := src, 0
		for range samples {
			law.Sample(&src)
		}
		for ; words != src && used < 3*samples; used++ {
			words.Uint64()
		}
		if mean := float64(used) / samples; mean < 1.98 || mean > 2.06 {
			t.Errorf("%s: %.3f words for a sample", name, mean)
		}
	}
}

// TestRejectedIsNeverAccepted compares what the chord rejects with the ratio:
// no fraction that would be accepted is lost, and few are left undecided.
func TestRejectedIsNeverAccepted(t *testing.T) {
	for name, p := range map[string]*powerLaw{
		"zipf 0.01": mustZipf(t, 1e9, 0.01).values, "zipf 0.99": mustZipf(t, 1e9, 0.99).values, "zipf 2": mustZipf(t, 1<<62, 2).values,
		"ycsb": NewYCSBZipf().ranks,
	} {
		src := random.NewStream(1, name).At(0)
		unsure, undecided := 0, 0
		const draws = 1_000_000
		for range draws {
			bucket := singles + src.Below(uint64(bucketOf(p.limit-1))-singles)
			first, shift := bucketRange(bucket)
			offset, u, sure := split(src.Uint64(), shift, p.slopes[bucket%perOctave])
			if sure {
				continue
			}
			unsure++
			if !rejected(u, offset, shift, p.chords[bucket%perOctave]) {
				undecided++
			} else if accept(u, shift, 0, p.ratio(first, offset)) {
				t.Fatalf("%s: offset %d of bucket %d with the fraction %#x is rejected", name, offset, bucket, u)
			}
		}
		if unsure == 0 || undecided > draws/500 {
			t.Errorf("%s: %d of %d draws are unsure, %d undecided", name, unsure, draws, undecided)
		}
	}
}
