package replay

import (
	"pianola/bindings"
	"pianola/traces"
)

// builder makes the bytes of ops.
type builder struct {
	header *traces.Header
	names  []string
}

func newBuilder(h *traces.Header) *builder {
	b := &builder{header: h}
	for i := range h.Fields.Count {
		b.names = append(b.names, h.Fields.Name(i))
	}
	return b
}

// build fills s.op from s.trace. version is that of the values it writes.
func (b *builder) build(s *slot, version uint64) {
	op := &s.trace
	s.key = b.header.Keys.Append(s.key[:0], op.Key)
	s.op = bindings.Op{
		Kind: op.Kind, Table: b.header.Table, Key: s.key, ScanLength: int(op.ScanLength), Slot: s.number,
	}
	if op.Kind.Reads() {
		if i, one := op.Read.Index(); one {
			s.op.Read = b.names[i : i+1]
		}
	}
	if !op.Kind.Writes() {
		return
	}
	first, limit := 0, len(b.names)
	if i, one := op.Written.Index(); one {
		first, limit = i, i+1
	}
	fields := &b.header.Fields
	if need := (limit - first) * fields.Length.Max(); cap(s.values) < need {
		s.values = make([]byte, 0, need)
	}
	s.values, s.fields = s.values[:0], s.fields[:0]
	for i := first; i < limit; i++ {
		at := len(s.values)
		s.values = fields.Append(s.values, b.header.Seed, op.Key, i, version)
		s.fields = append(s.fields, bindings.Field{Name: b.names[i], Value: s.values[at:len(s.values):len(s.values)]})
	}
	s.op.Write = s.fields
}
