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

// build fills s.op from s.trace, but for what is the same for all of the slot's
// ops. Its values have the version s.version.
func (b *builder) build(s *slot) {
	op := &s.trace
	prefix := len(b.header.Keys.Prefix)
	if len(s.key) < prefix {
		s.key = append(s.key[:0], b.header.Keys.Prefix...)
	}
	s.key = b.header.Keys.AppendNumber(s.key[:prefix], op.Key)
	s.op.Kind, s.op.Key, s.op.ScanLength = op.Kind, s.key, int(op.ScanLength)
	s.op.Read, s.op.Write, s.op.Rows, s.op.ReadEnded = nil, nil, nil, 0
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
	if len(s.fields) < limit-first {
		s.fields = make([]bindings.Field, limit-first)
	}
	values := s.values[:0]
	for i := first; i < limit; i++ {
		at := len(values)
		values = fields.Append(values, b.header.Seed, op.Key, i, s.version)
		f := &s.fields[i-first]
		f.Name, f.Value = b.names[i], values[at:len(values):len(values)]
	}
	s.values, s.op.Write = values, s.fields[:limit-first:limit-first]
}
