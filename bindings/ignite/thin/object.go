package thin

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Places in the header of a complex object, and its length. Behind it are the
// fields' objects, and a footer with the offset of each.
const (
	flagsAt        = 2
	typeIDAt       = 4
	hashAt         = 8
	lengthAt       = 12
	schemaIDAt     = 16
	footerOffsetAt = 20
	objectHeader   = 24
)

const (
	flagUserType      = 0x01
	flagSchema        = 0x02
	flagRaw           = 0x04
	flagOffsetOne     = 0x08
	flagOffsetTwo     = 0x10
	flagCompactFooter = 0x20
)

// Type is a type of complex objects: its name and its fields in the order in
// which they are written.
type Type struct {
	Name   string
	Fields []TypeField
	// ID is the hash of the name, SchemaID that of the fields.
	ID, SchemaID int32
}

// TypeField is a field of a type. Its ID is the hash of its name.
type TypeField struct {
	Name string
	// Code is that of its values, FieldString for example.
	Code int32
	ID   int32
}

// NewType returns a type. The cluster must be told of it by RegisterType before
// the first object is sent.
func NewType(name string, fields ...TypeField) *Type {
	t := &Type{Name: name, ID: lowerHash(name), Fields: slices.Clone(fields)}
	for i := range t.Fields {
		t.Fields[i].ID = lowerHash(t.Fields[i].Name)
	}
	t.SchemaID = schemaID(t.Fields)
	return t
}

// lowerHash is the id of a type's or a field's name.
func lowerHash(name string) int32 { return HashString(strings.ToLower(name)) }

// schemaID is FNV-1 over the fields' ids, the low byte first.
func schemaID(fields []TypeField) int32 {
	h := uint32(0x811c9dc5)
	for _, f := range fields {
		id := uint32(f.ID)
		for range 4 {
			h = (h ^ id&0xff) * 0x01000193
			id >>= 8
		}
	}
	return int32(h)
}

// Writer appends complex objects; it may be used again, and keeps memory for
// the offsets only.
type Writer struct {
	t       *Type
	start   int
	offsets []int
}

// Begin appends the header of an object of the type t to dst. All fields of t
// follow, each behind a call of Field.
func (w *Writer) Begin(dst []byte, t *Type) []byte {
	w.t, w.start, w.offsets = t, len(dst), w.offsets[:0]
	var header [objectHeader]byte
	header[0], header[1] = typeObject, 1
	binary.LittleEndian.PutUint32(header[typeIDAt:], uint32(t.ID))
	binary.LittleEndian.PutUint32(header[schemaIDAt:], uint32(t.SchemaID))
	return append(dst, header[:]...)
}

// Field says that the next field begins at the end of dst.
func (w *Writer) Field(dst []byte) { w.offsets = append(w.offsets, len(dst)-w.start) }

// End appends the footer and fills in the header.
func (w *Writer) End(dst []byte) []byte {
	if len(w.offsets) != len(w.t.Fields) {
		panic(fmt.Sprintf("an object of type %s has %d fields, not %d", w.t.Name, len(w.t.Fields), len(w.offsets)))
	}
	footer := len(dst) - w.start
	flags := flagUserType | flagSchema | flagCompactFooter
	last := 0
	if n := len(w.offsets); n > 0 {
		last = w.offsets[n-1]
	}
	switch {
	case last < 1<<8:
		flags |= flagOffsetOne
		for _, o := range w.offsets {
			dst = append(dst, byte(o))
		}
	case last < 1<<16:
		flags |= flagOffsetTwo
		for _, o := range w.offsets {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(o))
		}
	default:
		for _, o := range w.offsets {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(o))
		}
	}
	if len(w.offsets) == 0 {
		// As Java writes an object without fields.
		flags = flagUserType | flagCompactFooter
	}
	object := dst[w.start:]
	binary.LittleEndian.PutUint16(object[flagsAt:], uint16(flags))
	binary.LittleEndian.PutUint32(object[hashAt:], uint32(hashBytes(object[objectHeader:footer])))
	binary.LittleEndian.PutUint32(object[lengthAt:], uint32(len(object)))
	binary.LittleEndian.PutUint32(object[footerOffsetAt:], uint32(footer))
	return dst
}

// Object is a complex object as it came: a view of the message until it is
// cloned. The zero Object stands for null.
type Object struct {
	raw []byte
	// offsetSize is the bytes of an offset in the footer, and footer where that
	// begins. Compact footers hold offsets alone, others ids before them.
	offsetSize, footer, fields int
	compact                    bool
}

// Null reports whether there is none.
func (o *Object) Null() bool { return o.raw == nil }

// TypeID returns the id of its type.
func (o *Object) TypeID() int32 { return int32(binary.LittleEndian.Uint32(o.raw[typeIDAt:])) }

// SchemaID returns the id of the list of its fields.
func (o *Object) SchemaID() int32 { return int32(binary.LittleEndian.Uint32(o.raw[schemaIDAt:])) }

// Raw returns its bytes.
func (o *Object) Raw() []byte { return o.raw }

// Len returns the number of its fields.
func (o *Object) Len() int { return o.fields }

// Clone returns a copy that outlives the message.
func (o Object) Clone() Object {
	o.raw = slices.Clone(o.raw)
	return o
}

// Object reads a complex object, wrapped or bare, or null.
func (d *Decoder) Object() Object {
	if d.null() {
		return Object{}
	}
	if d.err == nil && d.at < len(d.b) && d.b[d.at] == typeWrapped {
		d.at++
		inner := NewDecoder(d.take(d.Count(1)))
		offset := int(d.Int32())
		if d.err == nil && (offset < 0 || offset >= len(inner.b)) {
			d.fail("the offset of a wrapped object")
		}
		if d.err != nil {
			return Object{}
		}
		inner.at = offset
		o := inner.Object()
		d.err = inner.err
		return o
	}
	start := d.at
	if code := d.Byte(); d.err == nil && code != typeObject {
		d.at--
		d.fail(fmt.Sprintf("type %d for an object", code))
	}
	if d.take(objectHeader-1) == nil {
		return Object{}
	}
	length := int(int32(binary.LittleEndian.Uint32(d.b[start+lengthAt:])))
	if length < objectHeader {
		d.fail("the length of an object")
	}
	if d.take(length-objectHeader) == nil && d.err != nil {
		return Object{}
	}
	o := Object{raw: d.b[start:d.at:d.at]}
	if !o.layOut() {
		d.fail("the footer of an object")
		return Object{}
	}
	return o
}

// layOut reads where the fields are.
func (o *Object) layOut() bool {
	flags := binary.LittleEndian.Uint16(o.raw[flagsAt:])
	end := len(o.raw)
	if flags&flagSchema == 0 {
		o.footer = end
		return o.raw[1] == 1
	}
	footer := int(int32(binary.LittleEndian.Uint32(o.raw[footerOffsetAt:])))
	if flags&flagRaw != 0 {
		end -= 4 // behind the footer is where raw data begins
	}
	if o.raw[1] != 1 || footer < objectHeader || footer > end {
		return false
	}
	o.footer, o.compact, o.offsetSize = footer, flags&flagCompactFooter != 0, 4
	switch {
	case flags&flagOffsetOne != 0:
		o.offsetSize = 1
	case flags&flagOffsetTwo != 0:
		o.offsetSize = 2
	}
	size := o.offsetSize
	if !o.compact {
		size += 4
	}
	o.fields = (end - footer) / size
	return (end-footer)%size == 0
}

// Field returns a decoder at the beginning of the i-th field.
func (o *Object) Field(i int) Decoder {
	d := NewDecoder(o.raw)
	d.at = o.offset(i)
	if d.at < objectHeader || d.at >= o.footer {
		d.at = 0
		d.fail(fmt.Sprintf("the offset of field %d", i))
	}
	return d
}

func (o *Object) offset(i int) int {
	at := o.footer + i*o.offsetSize
	if !o.compact {
		at += (i + 1) * 4
	}
	switch o.offsetSize {
	case 1:
		return int(o.raw[at])
	case 2:
		return int(binary.LittleEndian.Uint16(o.raw[at:]))
	}
	return int(int32(binary.LittleEndian.Uint32(o.raw[at:])))
}

// FieldID returns the id of the i-th field where the object holds it itself,
// that is, with no compact footer.
func (o *Object) FieldID(i int) (int32, bool) {
	if o.compact {
		return 0, false
	}
	return int32(binary.LittleEndian.Uint32(o.raw[o.footer+i*(o.offsetSize+4):])), true
}

// Span returns the bytes of the object at the beginning of d, without copying.
func (d *Decoder) Span() []byte {
	start := d.at
	d.skip(0)
	if d.err != nil {
		return nil
	}
	return d.b[start:d.at:d.at]
}

// Payload returns the bytes of a text or a byte array, nil for null.
func (d *Decoder) Payload() []byte {
	switch code := d.Byte(); {
	case d.err != nil, code == typeNull:
		return nil
	case code != typeString && code != typeBytes:
		d.at--
		d.fail(fmt.Sprintf("type %d for a text or a byte array", code))
		return nil
	}
	return d.take(d.Count(1))
}
