package dist

import (
	"hash/fnv"
	"math"
	"testing"

	"pianola/tracegen/random"
)

// sampler is a law together with what it is called.
type sampler struct {
	name   string
	sample func(*random.Source) uint64
}

// samplers lists one law of each type and of each way to sample it.
func samplers(t testing.TB) []sampler {
	t.Helper()
	growing, err := NewGrowing(1000, 100_000, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	gray, err := NewGray(5000)
	if err != nil {
		t.Fatal(err)
	}
	ages, great := mustAges(t, 10_000, 0.05), mustAges(t, 1<<58, 0.05)
	zipf := mustZipf(t, 1_000_000, 0.99)
	fold := mustFold(t, 1001)
	scramble := mustScramble(t, 1_000_000, 1)
	return []sampler{
		{"zipf 10^6 0.99", zipf.Sample},
		{"zipf 10^6 0.99 below 10^5", func(s *random.Source) uint64 { return zipf.SampleBelow(s, 100_000) }},
		{"zipf 10^6 0.5", mustZipf(t, 1_000_000, 0.5).Sample},
		{"zipf 10^6 1", mustZipf(t, 1_000_000, 1).Sample},
		{"zipf 10^10 1.5", mustZipf(t, 1e10, 1.5).Sample},
		{"zipf 2^62 0.3", mustZipf(t, MaxItems, 0.3).Sample},
		{"zipf 1 2", mustZipf(t, 1, 2).Sample},
		{"growing", func(s *random.Source) uint64 { return growing.Sample(s, 1000+s.Below(99_001)) }},
		{"ycsb", NewYCSBZipf().Sample},
		{"fold", func(s *random.Source) uint64 { return fold.Key(s.Uint64()) }},
		{"scramble", func(s *random.Source) uint64 { return scramble.Map(s.Below(1_000_000)) }},
		{"unscramble", func(s *random.Source) uint64 { return scramble.Inverse(s.Below(1_000_000)) }},
		{"exponential 1", mustExponential(t, 1).Sample},
		{"exponential 333.25", mustExponential(t, 333.25).Sample},
		{"exponential 10^7", mustExponential(t, 1e7).Sample},
		{"uniform", NewUniform(1e10).Sample},
		{"gray", gray.Sample},
		{"ages", func(s *random.Source) uint64 { return ages.Sample(s, 1+s.Below(100_000)) }},
		{"great ages", func(s *random.Source) uint64 { return great.Sample(s, 1<<62) }},
	}
}

// TestSamplesStay holds the samples of Version: the first five of each law and a
// sum over 100,000. They were taken on amd64 and must be the same on every
// architecture and under every version of Go. If one has to change, so has
// Version.
func TestSamplesStay(t *testing.T) {
	want := map[string]struct {
		first [5]uint64
		sum   uint64
	}{
		"zipf 10^6 0.99":            {[5]uint64{31, 45576, 3, 1877, 835096}, 0x60b0edcf5418e920},
		"zipf 10^6 0.99 below 10^5": {[5]uint64{30723, 94, 61329, 97, 114}, 0x3fc41f11e6e170cc},
		"zipf 10^6 0.5":             {[5]uint64{405136, 96580, 80262, 191335, 138096}, 0x847965a949256c7f},
		"zipf 10^6 1":               {[5]uint64{67, 222018, 1050, 6942, 14377}, 0xd9fde91b9d87b227},
		"zipf 10^10 1.5":            {[5]uint64{298, 0, 220, 14, 29}, 0xeb4ee2370354f8ea},
		"zipf 2^62 0.3":             {[5]uint64{15006057327056728, 2892653830006845023, 429687250982987678, 162803956871282225, 662961252439667499}, 0x5295fa25788c5d0e},
		"zipf 1 2":                  {[5]uint64{0, 0, 0, 0, 0}, 0xe3dbd3f783edc725},
		"growing":                   {[5]uint64{93, 405, 12, 2082, 14494}, 0x75b5c5adf10b5f1f},
		"ycsb":                      {[5]uint64{2490019628, 64, 9419314757, 8068, 5548396}, 0xb9e513a8ea23d580},
		"fold":                      {[5]uint64{71, 968, 845, 690, 930}, 0x57bef2eb5d1ecf31},
		"scramble":                  {[5]uint64{685898, 176133, 614029, 670396, 118201}, 0x638fd0860c3a0133},
		"unscramble":                {[5]uint64{538456, 822222, 929979, 848611, 260456}, 0x9f8842537b54c24f},
		"exponential 1":             {[5]uint64{0, 2, 1, 1, 1}, 0x4b578898ba165eed},
		"exponential 333.25":        {[5]uint64{50, 249, 246, 128, 59}, 0x9715d4a97c8b16fa},
		"uniform":                   {[5]uint64{6270820565, 6422557120, 1585216767, 5814212340, 3055138805}, 0x82a0b55b2e4bd655},
		"gray":                      {[5]uint64{1, 195, 68, 6, 330}, 0x8d498ada1fc92882},
		"ages":                      {[5]uint64{1346, 502, 1716, 95, 8}, 0xbd1502f89655b6f2},
		"great ages":                {[5]uint64{15735396532966316, 52484833832943618, 219094977347652149, 323929660202923465, 91963644694874128}, 0x51e7334b5c488e2},
		"exponential 10^7":          {[5]uint64{6336710, 13926090, 5221831, 14723432, 8300049}, 0xd2dc3bfd72734d},
	}
	stream := random.NewStream(1, "version")
	for i, s := range samplers(t) {
		src := stream.At(uint64(i))
		sum := fnv.New64a()
		var first [5]uint64
		for j := range 100_000 {
			x := s.sample(&src)
			if j < len(first) {
				first[j] = x
			}
			sum.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), byte(x >> 40), byte(x >> 48), byte(x >> 56)})
		}
		if w, known := want[s.name]; !known || first != w.first || sum.Sum64() != w.sum {
			t.Errorf("%q: {[5]uint64{%d, %d, %d, %d, %d}, %#x},", s.name, first[0], first[1], first[2], first[3], first[4], sum.Sum64())
		}
	}
}

// TestTablesStay holds every word of the tables, which the samples of rare
// buckets would not show.
func TestTablesStay(t *testing.T) {
	sum := fnv.New64a()
	add := func(table alias) {
		for _, slot := range table.slots {
			for _, x := range []uint64{slot.threshold, slot.other} {
				sum.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24), byte(x >> 32), byte(x >> 40), byte(x >> 48), byte(x >> 56)})
			}
		}
	}
	for _, theta := range append(thetas, 1e-3, 0.3, math.Pi/2) {
		for _, n := range []uint64{1, 100, 1e6, YCSBItems, MaxItems} {
			add(mustZipf(t, n, theta).values.buckets)
		}
	}
	add(NewYCSBZipf().ranks.buckets)
	for _, mean := range means {
		add(mustExponential(t, mean).outcomes)
	}
	if got, want := sum.Sum64(), uint64(0x136646ffb4e23ee4); got != want {
		t.Errorf("sum of the tables %#x, want %#x", got, want)
	}
}

// TestSamplesAreIndependent checks that a sample depends on the law and the
// source alone: laws share no state.
func TestSamplesAreIndependent(t *testing.T) {
	stream := random.NewStream(2, "version")
	for _, s := range samplers(t) {
		a, b := stream.At(1), stream.At(1)
		x := s.sample(&a)
		other := stream.At(2)
		s.sample(&other)
		if y := s.sample(&b); x != y || a != b {
			t.Errorf("%s: %d, and later %d from the same source", s.name, x, y)
		}
	}
}

func TestSamplesAllocateNothing(t *testing.T) {
	stream := random.NewStream(3, "version")
	for _, s := range samplers(t) {
		var src random.Source
		var index, sum uint64
		if n := testing.AllocsPerRun(10_000, func() {
			src = stream.At(index)
			sum += s.sample(&src)
			index++
		}); n != 0 {
			t.Errorf("%s: %v allocations per sample", s.name, n)
		}
	}
}
