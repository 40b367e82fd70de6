package traces

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
)

// frameEncoder makes zstd frames. It keeps its buffers.
type frameEncoder struct {
	z   *zstd.Encoder
	out bytes.Buffer
}

func newFrameEncoder() *frameEncoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderCRC(true), zstd.WithAllLitEntropyCompression(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("traces: internal error: " + err.Error()) // constant options
	}
	return &frameEncoder{z: z}
}

// encode returns the frame of one field, in memory that the next call reuses. A
// zstd block ends at each cut.
func (e *frameEncoder) encode(field []byte, cuts []int) ([]byte, error) {
	e.out.Reset()
	e.z.ResetContentSize(&e.out, int64(len(field)))
	from := 0
	for _, cut := range cuts {
		if err := e.write(field[from:cut]); err != nil {
			return nil, err
		}
		if err := e.z.Flush(); err != nil {
			return nil, err
		}
		from = cut
	}
	if err := e.write(field[from:]); err != nil {
		return nil, err
	}
	err := e.z.Close()
	return e.out.Bytes(), err
}

func (e *frameEncoder) write(part []byte) error {
	_, err := e.z.Write(part)
	return err
}
