package thin

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"time"
)

// maxDepth bounds how deep a value may be nested.
const maxDepth = 64

// AppendValue appends a Go value as an object: nil, bool, int8, int16, int32,
// int64, float32, float64, string, []byte, UUID, time.Time (as a timestamp),
// []any (as an array of objects) and Object.
func AppendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return AppendNull(dst), nil
	case bool:
		return appendBool(append(dst, typeBool), v), nil
	case int8:
		return append(dst, typeByte, byte(v)), nil
	case int16:
		return appendInt16(append(dst, typeShort), v), nil
	case int32:
		return AppendInt(dst, v), nil
	case int64:
		return appendInt64(append(dst, typeLong), v), nil
	case float32:
		return appendInt32(append(dst, typeFloat), int32(math.Float32bits(v))), nil
	case float64:
		return appendInt64(append(dst, typeDouble), int64(math.Float64bits(v))), nil
	case string:
		return AppendString(dst, v), nil
	case []byte:
		return AppendBytes(dst, v), nil
	case UUID:
		return appendRawUUID(append(dst, typeUUID), v), nil
	case time.Time:
		dst = appendInt64(append(dst, typeTimestamp), v.UnixMilli())
		return appendInt32(dst, int32(v.Nanosecond()%1e6)), nil
	case Object:
		return append(dst, v.raw...), nil
	case []any:
		dst = appendInt32(append(dst, typeObjectArray), -1)
		dst = appendInt32(dst, int32(len(v)))
		var err error
		for _, item := range v {
			if dst, err = AppendValue(dst, item); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
	return dst, fmt.Errorf("a value of type %T has no form in Ignite", v)
}

// AppendInt appends a number of 32 bits as an object.
func AppendInt(dst []byte, v int32) []byte { return appendInt32(append(dst, typeInt), v) }

// Value reads an object: null as nil, a number as the Go type of its size, a
// text as string, a byte array as []byte, a date or timestamp as time.Time, an
// array or collection as a slice, a map as []Pair, a decimal as *big.Float, an
// enum as its number, a complex object as Object. All of it is copied.
func (d *Decoder) Value() any { return d.value(0) }

// Pair is an entry of a map, whose keys may be of any type.
type Pair struct{ Key, Value any }

func (d *Decoder) value(depth int) any {
	if depth > maxDepth {
		d.fail("a value that is nested too deep")
		return nil
	}
	code := d.Byte()
	if d.err != nil {
		return nil
	}
	if v, ok := d.plain(code); ok {
		return v
	}
	switch code {
	case typeObjectArray:
		d.Int32() // the type of its items
		return d.items(depth)
	case typeCollection:
		n := d.Count(1)
		d.Byte() // which collection
		return d.some(n, depth)
	case typeMap:
		n := d.Count(2)
		d.Byte() // which map
		var pairs []Pair
		for i := 0; i < n && d.err == nil; i++ {
			key := d.value(depth + 1)
			pairs = append(pairs, Pair{key, d.value(depth + 1)})
		}
		return pairs
	case typeStrings, typeUUIDs, typeDates:
		return d.items(depth)
	case typeWrapped, typeObject:
		d.at--
		o := d.Object()
		return o.Clone()
	}
	d.at--
	d.fail(fmt.Sprintf("type %d, which is unknown", code))
	return nil
}

func (d *Decoder) items(depth int) []any { return d.some(d.Count(1), depth) }

func (d *Decoder) some(n, depth int) []any {
	var items []any
	for i := 0; i < n && d.err == nil; i++ {
		items = append(items, d.value(depth+1))
	}
	return items
}

// plain reads what holds no other object.
func (d *Decoder) plain(code byte) (any, bool) {
	switch code {
	case typeNull:
		return nil, true
	case typeByte:
		return int8(d.Byte()), true
	case typeShort:
		return d.Int16(), true
	case typeInt:
		return d.Int32(), true
	case typeLong:
		return d.Int64(), true
	case typeFloat:
		return d.float32(), true
	case typeDouble:
		return d.float64(), true
	case typeChar:
		return uint16(d.Int16()), true
	case typeBool:
		return d.Bool(), true
	case typeString:
		return string(d.take(d.Count(1))), true
	case typeUUID:
		return d.rawUUID(), true
	case typeDate, typeTime:
		return time.UnixMilli(d.Int64()).UTC(), true
	case typeTimestamp:
		at := time.UnixMilli(d.Int64()).UTC()
		return at.Add(time.Duration(d.Int32())), true
	case typeBytes:
		return append([]byte{}, d.take(d.Count(1))...), true
	case typeEnum, typeBinaryEnum:
		d.Int32() // its type
		return d.Int32(), true
	case typeDecimal:
		return d.decimal(), true
	}
	return d.numbers(code)
}

// numbers reads an array of numbers.
func (d *Decoder) numbers(code byte) (any, bool) {
	switch code {
	case typeShorts:
		return numbersOf(d, 2, (*Decoder).Int16), true
	case typeInts:
		return numbersOf(d, 4, (*Decoder).Int32), true
	case typeLongs:
		return numbersOf(d, 8, (*Decoder).Int64), true
	case typeFloats:
		return numbersOf(d, 4, (*Decoder).float32), true
	case typeDoubles:
		return numbersOf(d, 8, (*Decoder).float64), true
	case typeChars:
		return numbersOf(d, 2, func(d *Decoder) uint16 { return uint16(d.Int16()) }), true
	case typeBools:
		return numbersOf(d, 1, (*Decoder).Bool), true
	}
	return nil, false
}

func numbersOf[T any](d *Decoder, size int, read func(*Decoder) T) []T {
	all := make([]T, d.Count(size))
	for i := range all {
		all[i] = read(d)
	}
	return all
}

// maxScale bounds a decimal's: what is beyond would be zeros without end.
const maxScale = 1 << 10

// decimal reads a scale and the bytes of a number, the highest bit of which is
// the sign.
func (d *Decoder) decimal() *big.Float {
	scale := d.Int32()
	digits := d.take(d.Count(1))
	if d.err == nil && (len(digits) == 0 || scale < -maxScale || scale > maxScale) {
		d.fail("a decimal")
	}
	if d.err != nil {
		return nil
	}
	magnitude := append([]byte{digits[0] &^ 0x80}, digits[1:]...)
	n := new(big.Float).SetInt(new(big.Int).SetBytes(magnitude))
	if digits[0]&0x80 != 0 {
		n.Neg(n)
	}
	power := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	if scale > 0 {
		return n.Quo(n, power)
	}
	return n.Mul(n, power)
}

// skip passes over an object without copying it.
func (d *Decoder) skip(depth int) {
	start := d.at
	code := d.Byte()
	switch code {
	case typeString, typeBytes:
		d.take(d.Count(1))
	case typeNull:
	case typeObject:
		d.take(objectHeader - 1)
		if d.err != nil {
			return
		}
		length := int32(binary.LittleEndian.Uint32(d.b[start+lengthAt:]))
		if length < objectHeader {
			d.fail("the length of an object")
			return
		}
		d.take(int(length) - objectHeader)
	default:
		d.at = start
		d.value(depth)
	}
}
