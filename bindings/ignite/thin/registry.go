package thin

import (
	"context"
	"fmt"
)

// registryJava is the registry of Java's class names.
const registryJava = 0

// RegisterType tells the cluster of a type. It must be told before the first
// object of it is stored: a cache with tables would wait for it for half a
// minute, and refuse the object then. Telling it twice does no harm.
func (c *Client) RegisterType(ctx context.Context, t *Type) error {
	if _, err := c.ask(ctx, nil, opRegisterType, appendType(nil, t)); err != nil {
		return fmt.Errorf("register the type %q: %w", t.Name, err)
	}
	return nil
}

func appendType(dst []byte, t *Type) []byte {
	dst = AppendString(appendInt32(dst, t.ID), t.Name)
	dst = AppendNull(dst) // no field decides about the node
	dst = appendInt32(dst, int32(len(t.Fields)))
	for _, f := range t.Fields {
		dst = appendInt32(appendInt32(AppendString(dst, f.Name), f.Code), f.ID)
	}
	dst = append(dst, 0)      // no enum
	dst = appendInt32(dst, 1) // one schema
	dst = appendInt32(dst, t.SchemaID)
	dst = appendInt32(dst, int32(len(t.Fields)))
	for _, f := range t.Fields {
		dst = appendInt32(dst, f.ID)
	}
	return dst
}

// RegisterClass tells the cluster the name of a Java class that objects without
// fields stand for: that of an entry processor, for example.
func (c *Client) RegisterClass(ctx context.Context, class *Type) error {
	body := AppendString(appendInt32([]byte{registryJava}, class.ID), class.Name)
	if _, err := c.ask(ctx, nil, opRegisterName, body); err != nil {
		return fmt.Errorf("register the class %q: %w", class.Name, err)
	}
	return nil
}

// TypeInfo is what the cluster knows of a type.
type TypeInfo struct {
	Name   string
	Fields []TypeField
	// Schemas holds the ids of the fields of each list of fields that objects
	// were written with, by the list's own id.
	Schemas map[int32][]int32
}

// TypeInfo asks what is known of a type; nil if it is unknown.
func (c *Client) TypeInfo(ctx context.Context, id int32) (*TypeInfo, error) {
	a, err := c.ask(ctx, nil, OpType, AppendTypeID(nil, id))
	if err != nil {
		return nil, fmt.Errorf("ask for the type %d: %w", id, err)
	}
	t, err := ReadTypeInfo(&a.Decoder)
	if err != nil {
		return nil, fmt.Errorf("ask for the type %d: %w", id, err)
	}
	return t, nil
}

// AppendTypeID appends the body of the question for a type.
func AppendTypeID(dst []byte, id int32) []byte { return appendInt32(dst, id) }

// ReadTypeInfo reads the answer to the question for a type.
func ReadTypeInfo(d *Decoder) (*TypeInfo, error) {
	if !d.Bool() {
		return nil, d.Err()
	}
	d.Int32() // its id
	t := &TypeInfo{Name: string(d.Text()), Schemas: map[int32][]int32{}}
	d.Text() // the field that decides about the node
	for n := d.Count(9); n > 0 && d.Err() == nil; n-- {
		f := TypeField{Name: string(d.Text())}
		f.Code = d.Int32()
		f.ID = d.Int32()
		t.Fields = append(t.Fields, f)
	}
	if d.Bool() {
		d.fail("an enum for a type")
	}
	for n := d.Count(8); n > 0 && d.Err() == nil; n-- {
		id := d.Int32()
		fields := make([]int32, d.Count(4))
		for i := range fields {
			fields[i] = d.Int32()
		}
		t.Schemas[id] = fields
	}
	return t, d.Err()
}
