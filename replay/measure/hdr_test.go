package measure

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The encoding is the library's, byte for byte, of recorded and of packed ones.
func TestEncodingIsTheLibrarys(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for i := range 200 {
		h := newHistogram(2 + i%2)
		for range r.IntN(1 + 1<<(i%11)) {
			h.Record(time.Duration(r.Int64() >> r.IntN(63)))
		}
		if i%5 == 0 {
			h.buckets.add(int64(i), r.Int64()>>r.IntN(62)) // counts of every length
		}
		want, err := h.buckets.hdr().Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		for name, form := range map[string]*Histogram{"recorded": h, "packed": h.Packed()} {
			got, err := form.HDR()
			if err != nil || string(got) != string(want) {
				t.Fatalf("histogram %d, %s: %v\n%s\nwant\n%s", i, name, err, got, want)
			}
		}
	}
	var none *Histogram
	got, err := none.HDR()
	want, wantErr := hdrhistogram.NewPacked(1, histogramMax, phaseFigures).Encode()
	if err != nil || wantErr != nil || string(got) != string(want) {
		t.Errorf("nothing is encoded as %s, %v; want %s", got, err, want)
	}
}
