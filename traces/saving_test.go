package traces_test

import (
	"bytes"
	"compress/flate"
	"math"
	"testing"

	"github.com/klauspost/compress/zstd"

	"pianola/traces/payload"
)

// Compressors save the stated share of blocks as stores make them, within two
// percent of the bytes, from values of 100 bytes on. zstd at its defaults leaves
// 6 bits of 8 as they are where it finds no repetition, so it is told to code
// them.
func TestCompressibleValuesShrinkAsStated(t *testing.T) {
	coder, err := zstd.NewWriter(nil, zstd.WithAllLitEntropyCompression(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	deflate, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ bytes, saving int }{
		{100, 500}, {100, 750}, {100, 900}, {1000, 250}, {1000, 400}, {1000, 500}, {1000, 750}, {1000, 900}, {50_000, 250}, {50_000, 500}, {50_000, 900},
	} {
		f := payload.Fields{Count: 10, Length: payload.Length{Constant: c.bytes}, Values: payload.Values{Scheme: payload.Compressible, Saving: c.saving}}
		var values []byte
		for i := uint64(0); len(values) < 1<<19; i++ {
			values = f.Append(values, 1, payload.Mix(i)>>40, int(i%10), 1+3*i)
		}
		zstdBytes, flateBytes := 0, 0
		for block := range chunks(values, 1<<16) {
			zstdBytes += len(coder.EncodeAll(block, nil))
			out.Reset()
			deflate.Reset(&out)
			if _, err := deflate.Write(block); err != nil {
				t.Fatal(err)
			}
			if err := deflate.Close(); err != nil {
				t.Fatal(err)
			}
			flateBytes += out.Len()
		}
		for name, n := range map[string]int{"zstd": zstdBytes, "flate": flateBytes} {
			saved := 1 - float64(n)/float64(len(values))
			if math.Abs(saved-float64(c.saving)/1000) > 0.02 {
				t.Errorf("%d bytes of which %.3f are to be saved: %s saves %.3f", c.bytes, float64(c.saving)/1000, name, saved)
			}
		}
	}
}

func chunks(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 && yield(b[:min(size, len(b))]) {
			b = b[min(size, len(b)):]
		}
	}
}
