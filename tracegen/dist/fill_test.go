package dist

import (
	"testing"

	"pianola/tracegen/random"
)

// TestFillIsSample compares columns with single draws.
func TestFillIsSample(t *testing.T) {
	gray, err := NewGray(5000)
	if err != nil {
		t.Fatal(err)
	}
	for name, law := range map[string]interface {
		Sample(src *random.Source) uint64
		Fill(out []uint64, stream random.Stream, first uint64)
	}{
		"uniform": NewUniform(1000), "uniform 3·2^62": NewUniform(3 << 62), "uniform 1": NewUniform(1), "uniform 0": NewUniform(0),
		"zipf": mustZipf(t, 1e6, 0.99), "zipf 1": mustZipf(t, 1, 2), "zipf 2^62": mustZipf(t, 1<<62, 0.3), "zipf 65": mustZipf(t, 65, 0.01),
		"ycsb": NewYCSBZipf(), "gray": gray,
		"exponential": mustExponential(t, 1000), "exponential 0.01": mustExponential(t, 0.01), "exponential 2^53": mustExponential(t, 1<<53),
	} {
		stream := random.NewStream(1, name)
		out := make([]uint64, 100_000)
		for _, first := range []uint64{0, 1 << 47} {
			law.Fill(out, stream, first)
			for j, got := range out {
				src := stream.At(first + uint64(j))
				if want := law.Sample(&src); got != want {
					t.Fatalf("%s: %d at index %d, want %d", name, got, first+uint64(j), want)
				}
			}
		}
	}
}
