package mongodb

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"pianola/bindings"
)

// idField is the name of the field that holds the key.
const idField = "_id"

// appendID appends {_id: key}, or {_id: {$gte: key}} for what begins at a key.
func appendID(dst, key []byte, from bool) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	if !from {
		dst = appendKey(dst, idField, key)
		return endDocument(dst, start)
	}
	inner, dst := bsoncore.AppendDocumentElementStart(dst, idField)
	dst = endDocument(appendKey(dst, "$gte", key), inner)
	return endDocument(dst, start)
}

// appendKey appends an element with the key as a string.
func appendKey(dst []byte, name string, key []byte) []byte {
	dst = bsoncore.AppendHeader(dst, bsoncore.TypeString, name)
	size := uint32(len(key) + 1)
	dst = append(dst, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))
	return append(append(dst, key...), 0)
}

// endDocument writes the length of the document that begins at start.
func endDocument(dst []byte, start int32) []byte {
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // fails for a start outside dst alone
	return dst
}

// appendFields appends an element of binary data for each field.
func appendFields(dst []byte, fields []bindings.Field) ([]byte, error) {
	for i := range fields {
		name := fields[i].Name
		if err := checkField(name); err != nil {
			return dst, &bindings.Error{Class: bindings.Invalid, Err: err}
		}
		dst = bsoncore.AppendBinaryElement(dst, name, bson.TypeBinaryGeneric, fields[i].Value)
	}
	return dst, nil
}

// appendRecord appends {_id: key, field: binary, ...}.
func appendRecord(dst, key []byte, fields []bindings.Field) ([]byte, error) {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst, err := appendFields(appendKey(dst, idField, key), fields)
	return endDocument(dst, start), err
}

// appendChange appends {$set: {field: binary, ...}}.
func appendChange(dst []byte, fields []bindings.Field) ([]byte, error) {
	start, dst := bsoncore.AppendDocumentStart(dst)
	inner, dst := bsoncore.AppendDocumentElementStart(dst, "$set")
	dst, err := appendFields(dst, fields)
	return endDocument(endDocument(dst, inner), start), err
}

// appendProjection appends {field: 1, ...}.
func appendProjection(dst []byte, names []string) ([]byte, error) {
	start, dst := bsoncore.AppendDocumentStart(dst)
	for _, name := range names {
		if err := checkField(name); err != nil {
			return dst, &bindings.Error{Class: bindings.Invalid, Err: err}
		}
		dst = bsoncore.AppendInt32Element(dst, name, 1)
	}
	return endDocument(dst, start), nil
}

var errDamaged = errors.New("the document ends too early")

// give hands the record in a document to rows, if they are not nil: the key,
// and every other element. It reads it to its end in either case.
func give(rows bindings.Rows, document []byte, names map[string]string) error {
	key, rest, err := keyOf(document)
	if err != nil {
		return err
	}
	if rows != nil {
		rows.Row(key)
	}
	for len(rest) > 1 {
		var element bsoncore.Element
		var ok bool
		if element, rest, ok = bsoncore.ReadElement(rest); !ok {
			return errDamaged
		}
		name := element.KeyBytes()
		if string(name) == idField {
			continue
		}
		value, err := bytesOf(element.Value())
		if err != nil {
			return fmt.Errorf("field %q %w", name, err)
		}
		if rows != nil {
			rows.Field(fieldName(name, names), value)
		}
	}
	return nil
}

// fieldName returns a name as a string, the trace's own if it has it.
func fieldName(name []byte, names map[string]string) string {
	if known, ok := names[string(name)]; ok {
		return known
	}
	return string(name)
}

// keyOf returns the value of _id, and all elements with the zero byte behind
// them. A server gives _id first, so the search is short.
func keyOf(document []byte) (key, elements []byte, err error) {
	length, rest, ok := bsoncore.ReadLength(document)
	if !ok || length < 5 || int(length) > len(document) || document[length-1] != 0 {
		return nil, nil, errDamaged
	}
	elements = rest[:length-4]
	for rest = elements; len(rest) > 1; {
		var element bsoncore.Element
		if element, rest, ok = bsoncore.ReadElement(rest); !ok {
			return nil, nil, errDamaged
		}
		if string(element.KeyBytes()) != idField {
			continue
		}
		if key, err = bytesOf(element.Value()); err != nil {
			return nil, nil, fmt.Errorf("%s %w", idField, err)
		}
		return key, elements, nil
	}
	return nil, nil, errors.New("the document has no _id")
}

// bytesOf returns the bytes of binary data or of a string.
func bytesOf(value bsoncore.Value) ([]byte, error) {
	switch value.Type {
	case bsoncore.TypeBinary:
		if _, data, ok := value.BinaryOK(); ok {
			return data, nil
		}
		return nil, errDamaged
	case bsoncore.TypeString:
		// Four bytes of length, the text, a zero byte.
		if length, rest, ok := bsoncore.ReadLength(value.Data); ok && length >= 1 && int(length) == len(rest) && rest[length-1] == 0 {
			return rest[:length-1], nil
		}
		return nil, errDamaged
	}
	return nil, fmt.Errorf("is of the type %v, not binary data", value.Type)
}
