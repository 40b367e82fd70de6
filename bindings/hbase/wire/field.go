package wire

import "google.golang.org/protobuf/encoding/protowire"

// sizeBytes is the size of a field of n bytes; all our fields have a tag of one
// byte but where it says otherwise.
func sizeBytes(n int) int { return 1 + protowire.SizeBytes(n) }

func appendString(b []byte, tag byte, s string) []byte {
	return append(protowire.AppendVarint(append(b, tag), uint64(len(s))), s...)
}

func appendBytes(b []byte, tag byte, v []byte) []byte {
	return append(protowire.AppendVarint(append(b, tag), uint64(len(v))), v...)
}

// appendLength begins a message of n bytes as a field.
func appendLength(b []byte, tag byte, n int) []byte {
	return protowire.AppendVarint(append(b, tag), uint64(n))
}

// cutBytes splits b behind a length and as many bytes.
func cutBytes(b []byte) (v, rest []byte, err error) {
	v, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, nil, protowire.ParseError(n)
	}
	return v, b[n:], nil
}

// fields goes through the fields of a message.
type fields struct {
	rest   []byte
	number protowire.Number
	kind   protowire.Type
	// value is of a varint, bytes of what has a length.
	value uint64
	bytes []byte
	err   error
}

// next finds the next field; false at the end and at what is malformed, with
// err set.
func (f *fields) next() bool {
	if len(f.rest) == 0 {
		return false
	}
	var n int
	f.number, f.kind, n = protowire.ConsumeTag(f.rest)
	if n >= 0 {
		f.rest = f.rest[n:]
		switch f.kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(f.rest)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(f.rest)
		default:
			n = protowire.ConsumeFieldValue(f.number, f.kind, f.rest)
		}
	}
	if n < 0 {
		f.err = protowire.ParseError(n)
		return false
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}
