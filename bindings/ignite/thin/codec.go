package thin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Codes of the types that begin an object, of the description of the binary
// client protocol.
const (
	typeByte        = 1
	typeShort       = 2
	typeInt         = 3
	typeLong        = 4
	typeFloat       = 5
	typeDouble      = 6
	typeChar        = 7
	typeBool        = 8
	typeString      = 9
	typeUUID        = 10
	typeDate        = 11
	typeBytes       = 12
	typeShorts      = 13
	typeInts        = 14
	typeLongs       = 15
	typeFloats      = 16
	typeDoubles     = 17
	typeChars       = 18
	typeBools       = 19
	typeStrings     = 20
	typeUUIDs       = 21
	typeDates       = 22
	typeObjectArray = 23
	typeCollection  = 24
	typeMap         = 25
	typeWrapped     = 27
	typeEnum        = 28
	typeDecimal     = 30
	typeTimestamp   = 33
	typeTime        = 36
	typeBinaryEnum  = 38
	typeNull        = 101
	typeObject      = 103
)

// FieldString and FieldBytes are the codes of a text's and of a byte array's
// type, for the fields of a Type.
const (
	FieldString int32 = typeString
	FieldBytes  int32 = typeBytes
	FieldInt    int32 = typeInt
	FieldDouble int32 = typeDouble
)

// UUID identifies a node: two halves of 64 bits, the more significant first.
type UUID struct{ Most, Least uint64 }

func (u UUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", u.Most>>32, u.Most>>16&0xffff, u.Most&0xffff, u.Least>>48, u.Least&(1<<48-1))
}

func appendInt16(dst []byte, v int16) []byte {
	return binary.LittleEndian.AppendUint16(dst, uint16(v))
}

func appendInt32(dst []byte, v int32) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(v))
}

func appendInt64(dst []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendString appends a text as an object. It is sent as it is; Java takes
// what is no UTF-8 for something else.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	return append(appendInt32(append(dst, typeString), int32(len(s))), s...)
}

// AppendBytes appends a byte array as an object.
func AppendBytes(dst, b []byte) []byte {
	return append(appendInt32(append(dst, typeBytes), int32(len(b))), b...)
}

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, typeNull) }

// appendOptional appends a text, or null for "".
func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return AppendNull(dst)
	}
	return AppendString(dst, s)
}

func appendRawUUID(dst []byte, u UUID) []byte {
	return appendInt64(appendInt64(dst, int64(u.Most)), int64(u.Least))
}

// ErrMalformed is what every error of a Decoder is about.
var ErrMalformed = errors.New("malformed message")

// Decoder reads a message from its beginning. After the first error it gives
// zeros, and Err says where the message was wrong.
type Decoder struct {
	b   []byte
	at  int
	err error
}

// NewDecoder returns a decoder of b, which it keeps.
func NewDecoder(b []byte) Decoder { return Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Rest returns what is not read yet; it is valid as long as the message.
func (d *Decoder) Rest() []byte { return d.b[d.at:] }

func (d *Decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s at byte %d of %d", ErrMalformed, what, d.at, len(d.b))
	}
}

// take returns the next n bytes, or nil.
func (d *Decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.b)-d.at {
		d.fail(fmt.Sprintf("%d bytes", n))
		return nil
	}
	b := d.b[d.at : d.at+n : d.at+n]
	d.at += n
	return b
}

// Byte reads a byte.
func (d *Decoder) Byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads a byte that is not 0 for true.
func (d *Decoder) Bool() bool { return d.Byte() != 0 }

// Int16 reads 2 bytes.
func (d *Decoder) Int16() int16 {
	if b := d.take(2); b != nil {
		return int16(binary.LittleEndian.Uint16(b))
	}
	return 0
}

// Int32 reads 4 bytes.
func (d *Decoder) Int32() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// Int64 reads 8 bytes.
func (d *Decoder) Int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *Decoder) float64() float64 { return math.Float64frombits(uint64(d.Int64())) }
func (d *Decoder) float32() float32 { return math.Float32frombits(uint32(d.Int32())) }

func (d *Decoder) rawUUID() UUID {
	most := uint64(d.Int64())
	return UUID{most, uint64(d.Int64())}
}

// Count reads the number of items that follow, each of at least size bytes, so
// that a wrong number is found before memory is taken for them.
func (d *Decoder) Count(size int) int {
	n := d.Int32()
	if d.err == nil && (n < 0 || int64(n)*int64(size) > int64(len(d.b)-d.at)) {
		d.fail(fmt.Sprintf("%d items", n))
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

// Text reads a text object or null; the bytes are those of the message, nil for
// null.
func (d *Decoder) Text() []byte {
	switch code := d.Byte(); {
	case d.err != nil, code == typeNull:
		return nil
	case code != typeString:
		d.at--
		d.fail(fmt.Sprintf("type %d for a text", code))
		return nil
	}
	return d.take(d.Count(1))
}

// null reads a null if one is next.
func (d *Decoder) null() bool {
	if d.err == nil && d.at < len(d.b) && d.b[d.at] == typeNull {
		d.at++
		return true
	}
	return false
}
