package ignite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
)

// typeName is the type of records; its name is YCSB's.
const typeName = "CustomType"

// layout says how records are binary objects.
type layout struct {
	of        *thin.Type
	processor *thin.Type
	// bytes: fields are byte arrays, not texts.
	bytes bool
	// schemas holds, by the id of a list of fields that objects were written
	// with, the place in the object of each of our fields, or -1.
	schemas  atomic.Pointer[map[int32][]int]
	learning sync.Mutex
}

func newLayout(names []string, bytes bool) *layout {
	code := thin.FieldString
	if bytes {
		code = thin.FieldBytes
	}
	fields := make([]thin.TypeField, len(names))
	own := make([]int, len(names))
	for i, name := range names {
		fields[i] = thin.TypeField{Name: name, Code: code}
		own[i] = i
	}
	l := &layout{of: thin.NewType(typeName, fields...), processor: thin.NewType(processorClass), bytes: bytes}
	l.schemas.Store(&map[int32][]int{l.of.SchemaID: own})
	return l
}

// learn takes the lists of fields that the cluster knows of.
func (l *layout) learn(info *thin.TypeInfo) {
	if info == nil {
		return
	}
	l.learning.Lock()
	defer l.learning.Unlock()
	schemas := maps.Clone(*l.schemas.Load())
	for id, fields := range info.Schemas {
		places := make([]int, len(l.of.Fields))
		for i, f := range l.of.Fields {
			places[i] = slices.Index(fields, f.ID)
		}
		schemas[id] = places
	}
	l.schemas.Store(&schemas)
}

// places returns where our fields are in an object; false if its list of fields
// is unknown.
func (l *layout) places(o *thin.Object) ([]int, bool) {
	if o.Len() == 0 {
		return nil, true
	}
	if _, ok := o.FieldID(0); ok {
		return l.search(o), true
	}
	places, ok := (*l.schemas.Load())[o.SchemaID()]
	return places, ok
}

// search looks for our fields in an object that names its own.
func (l *layout) search(o *thin.Object) []int {
	places := make([]int, len(l.of.Fields))
	for i, f := range l.of.Fields {
		places[i] = -1
		for j := range o.Len() {
			if id, _ := o.FieldID(j); id == f.ID {
				places[i] = j
			}
		}
	}
	return places
}

// placeOf returns the place of our i-th field, -1 if it isn't there.
func placeOf(places []int, i int, o *thin.Object) int {
	if i >= len(places) || places[i] >= o.Len() {
		return -1
	}
	return places[i]
}

// give hands the fields of a record to the operation's rows.
func (l *layout) give(op *bindings.Op, key []byte, o *thin.Object, places []int) error {
	if op.Rows == nil {
		return nil
	}
	op.Rows.Row(key)
	if len(op.Read) == 0 {
		for i := range l.of.Fields {
			if err := l.giveField(op.Rows, i, o, places); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range op.Read {
		i := l.index(name)
		if i < 0 {
			continue
		}
		if err := l.giveField(op.Rows, i, o, places); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) giveField(rows bindings.Rows, i int, o *thin.Object, places []int) error {
	at := placeOf(places, i, o)
	if at < 0 {
		return nil
	}
	d := o.Field(at)
	value := d.Payload()
	if err := d.Err(); err != nil {
		return fmt.Errorf("field %q: %w", l.of.Fields[i].Name, err)
	}
	if value != nil {
		rows.Field(l.of.Fields[i].Name, value)
	}
	return nil
}

func (l *layout) index(name string) int {
	for i := range l.of.Fields {
		if l.of.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

var (
	errNoText  = &bindings.Error{Class: bindings.Invalid, Err: errors.New("a value is no UTF-8, hence no text\nset ignite.values=bytes")}
	errNoKey   = &bindings.Error{Class: bindings.Invalid, Err: errors.New("a key is no UTF-8, hence no text")}
	errNoField = &bindings.Error{Class: bindings.Invalid, Err: errors.New("a field is written that the trace doesn't name")}
)

// appendKey appends a key.
func (l *layout) appendKey(dst, key []byte) ([]byte, error) {
	if !utf8.Valid(key) {
		return dst, errNoKey
	}
	return thin.AppendString(dst, key), nil
}

// appendField appends a field's value.
func (l *layout) appendField(dst, value []byte) ([]byte, error) {
	if l.bytes {
		return thin.AppendBytes(dst, value), nil
	}
	if !utf8.Valid(value) {
		return dst, errNoText
	}
	return thin.AppendString(dst, value), nil
}

// appendRecord appends an object with the fields written, and the others as old
// has them, or null.
func (l *layout) appendRecord(dst []byte, w *thin.Writer, written []bindings.Field, old *thin.Object, places []int) ([]byte, error) {
	dst = w.Begin(dst, l.of)
	used, next := 0, 0
	var err error
	for i := range l.of.Fields {
		w.Field(dst)
		if at := find(written, l.of.Fields[i].Name, next); at >= 0 {
			used, next = used+1, at+1
			if dst, err = l.appendField(dst, written[at].Value); err != nil {
				return dst, err
			}
			continue
		}
		at := -1
		if old != nil {
			at = placeOf(places, i, old)
		}
		if at < 0 {
			dst = thin.AppendNull(dst)
			continue
		}
		d := old.Field(at)
		dst = append(dst, d.Span()...)
		if err := d.Err(); err != nil {
			return dst, fmt.Errorf("field %q: %w", l.of.Fields[i].Name, err)
		}
	}
	if used != len(written) {
		return dst, errNoField
	}
	return w.End(dst), nil
}

// find returns the place of a field, or -1. The guess is looked at first: fields
// mostly come in their own order.
func find(written []bindings.Field, name string, guess int) int {
	if guess < len(written) && written[guess].Name == name {
		return guess
	}
	for i := range written {
		if written[i].Name == name {
			return i
		}
	}
	return -1
}
