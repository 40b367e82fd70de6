package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"pianola/bindings"
	hbasev1 "pianola/proto/hbase/v1"
)

// Tags of length-delimited fields 1 to 5 and of varints, as the messages below
// number them.
const (
	tag1, tag2, tag3, tag4, tag5              = 1<<3 | 2, 2<<3 | 2, 3<<3 | 2, 4<<3 | 2, 5<<3 | 2
	varint1, varint2, varint3, varint4        = 1 << 3, 2 << 3, 3 << 3, 4 << 3
	varint5                                   = 5 << 3
	varint6, varint7, varint8                 = 6 << 3, 7 << 3, 8 << 3
	varint10, varint11                        = 10 << 3, 11 << 3
	fullName                                  = 1 // kind of a RegionName
	put, remove                               = 2, 3
	compareEqual                       uint64 = 2
)

// RegionName returns the name of a region as the requests below hold it.
func RegionName(name []byte) []byte {
	b, err := proto.Marshal(&hbasev1.RegionName{Kind: proto.Uint32(fullName), Value: name})
	if err != nil {
		panic("wire: internal error: " + err.Error()) // bytes and a number
	}
	return b
}

// Get reads a row.
type Get struct {
	Region []byte // as RegionName returns it
	Row    []byte
	Family string
	// Columns to read; none means all of the family.
	Columns []string
	// ExistenceOnly asks whether there is a cell, and for none.
	ExistenceOnly bool
}

func (g *Get) Method() string { return "Get" }

func (g *Get) size() int {
	n := sizeBytes(len(g.Row)) + sizeBytes(sizeColumns(g.Family, g.Columns))
	if g.ExistenceOnly {
		n += 2
	}
	return n
}

func (g *Get) Size() int { return sizeBytes(len(g.Region)) + sizeBytes(g.size()) }

func (g *Get) AppendTo(b []byte) []byte {
	b = appendBytes(b, tag1, g.Region)
	return g.append(appendLength(b, tag2, g.size()))
}

func (g *Get) append(b []byte) []byte {
	b = appendBytes(b, tag1, g.Row)
	b = appendColumns(b, tag2, g.Family, g.Columns)
	if g.ExistenceOnly {
		b = append(b, varint10, 1)
	}
	return b
}

func sizeColumns(family string, columns []string) int {
	n := sizeBytes(len(family))
	for _, c := range columns {
		n += sizeBytes(len(c))
	}
	return n
}

func appendColumns(b []byte, tag byte, family string, columns []string) []byte {
	b = appendLength(b, tag, sizeColumns(family, columns))
	b = appendString(b, tag1, family)
	for _, c := range columns {
		b = appendString(b, tag2, c)
	}
	return b
}

// Durability is what a change waits for before it is answered.
type Durability uint32

const (
	TableDurability Durability = iota // what the table says
	SkipWAL
	AsyncWAL
	SyncWAL
	FsyncWAL
)

// Mutate changes a row: it writes fields, or removes the row if there are none.
type Mutate struct {
	Region     []byte // as RegionName returns it
	Row        []byte
	Family     string
	Fields     []bindings.Field
	Durability Durability
	// Absent, if it is not empty, is a column: nothing is done if the row has it.
	Absent string
}

func (m *Mutate) Method() string { return "Mutate" }

func (m *Mutate) Size() int {
	n := sizeBytes(len(m.Region)) + sizeBytes(m.sizeMutation())
	if m.Absent != "" {
		n += sizeBytes(m.sizeCondition())
	}
	return n
}

func (m *Mutate) AppendTo(b []byte) []byte {
	b = appendBytes(b, tag1, m.Region)
	b = m.appendMutation(appendLength(b, tag2, m.sizeMutation()))
	if m.Absent != "" {
		b = m.appendCondition(appendLength(b, tag3, m.sizeCondition()))
	}
	return b
}

func (m *Mutate) sizeMutation() int {
	n := sizeBytes(len(m.Row)) + 2
	if len(m.Fields) > 0 {
		n += sizeBytes(m.sizeFields())
	}
	if m.Durability != TableDurability {
		n += 2
	}
	return n
}

func (m *Mutate) appendMutation(b []byte) []byte {
	b = appendBytes(b, tag1, m.Row)
	if len(m.Fields) == 0 {
		b = append(b, varint2, remove)
	} else {
		b = append(b, varint2, put)
		b = appendLength(b, tag3, m.sizeFields())
		b = appendString(b, tag1, m.Family)
		for i := range m.Fields {
			f := &m.Fields[i]
			b = appendLength(b, tag2, sizeField(f))
			b = appendString(b, tag1, f.Name)
			b = appendBytes(b, tag2, f.Value)
		}
	}
	if m.Durability != TableDurability {
		b = append(b, varint6, byte(m.Durability))
	}
	return b
}

func (m *Mutate) sizeFields() int {
	n := sizeBytes(len(m.Family))
	for i := range m.Fields {
		n += sizeBytes(sizeField(&m.Fields[i]))
	}
	return n
}

func sizeField(f *bindings.Field) int { return sizeBytes(len(f.Name)) + sizeBytes(len(f.Value)) }

// emptyValue compares with nothing: equal is what is not there.
var emptyValue = func() []byte {
	inner, err := proto.Marshal(&hbasev1.BinaryComparator{Comparable: &hbasev1.ByteArray{}})
	if err != nil {
		panic("wire: internal error: " + err.Error())
	}
	b, err := proto.Marshal(&hbasev1.Comparator{
		ClassName: proto.String("org.apache.hadoop.hbase.filter.BinaryComparator"), Serialized: inner,
	})
	if err != nil {
		panic("wire: internal error: " + err.Error())
	}
	return b
}()

func (m *Mutate) sizeCondition() int {
	return sizeBytes(len(m.Row)) + sizeBytes(len(m.Family)) + sizeBytes(len(m.Absent)) + 2 + sizeBytes(len(emptyValue))
}

func (m *Mutate) appendCondition(b []byte) []byte {
	b = appendBytes(b, tag1, m.Row)
	b = appendString(b, tag2, m.Family)
	b = appendString(b, tag3, m.Absent)
	b = append(b, varint4, byte(compareEqual))
	return appendBytes(b, tag5, emptyValue)
}

// Scan reads rows of a region. With Scanner 0 it opens a scanner, which ends
// with the answer if Close is set; else it goes on with one, or ends it if Rows
// is 0.
type Scan struct {
	Region []byte // as RegionName returns it
	// Start is the first row, or the one before it if Behind is set.
	Start  []byte
	Behind bool
	Family string
	// Columns to read; none means all of the family. A row that has none of them
	// is passed by.
	Columns []string
	// MaxBytes bounds an answer, which may end within a row then.
	MaxBytes uint64
	// Rows bounds the answer's rows, Limit those of all answers.
	Rows, Limit uint32
	Close       bool
	Scanner     uint64
	// Sequence counts the calls for a scanner, from 0 behind the one that opened it.
	Sequence uint64
}

func (s *Scan) Method() string { return "Scan" }

func (s *Scan) Size() int {
	n := 1 + protowire.SizeVarint(uint64(s.Rows))
	if s.Close {
		n += 2
	}
	if s.Scanner != 0 {
		n += 1 + protowire.SizeVarint(s.Scanner)
		if s.Rows > 0 {
			n += 1 + protowire.SizeVarint(s.Sequence)
		}
	} else {
		n += sizeBytes(len(s.Region)) + sizeBytes(s.sizeRange())
	}
	return n + 4 + s.sizeLimit()
}

func (s *Scan) sizeLimit() int {
	if s.Limit == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(uint64(s.Limit))
}

func (s *Scan) AppendTo(b []byte) []byte {
	if s.Scanner == 0 {
		b = appendBytes(b, tag1, s.Region)
		b = s.appendRange(appendLength(b, tag2, s.sizeRange()))
	} else {
		b = protowire.AppendVarint(append(b, varint3), s.Scanner)
	}
	b = protowire.AppendVarint(append(b, varint4), uint64(s.Rows))
	if s.Close {
		b = append(b, varint5, 1)
	}
	if s.Scanner != 0 && s.Rows > 0 {
		b = protowire.AppendVarint(append(b, varint6), s.Sequence)
	}
	// Rows in parts and answers without rows are understood.
	b = append(b, varint7, 1, varint8, 1)
	if s.Limit > 0 {
		b = protowire.AppendVarint(append(b, varint11), uint64(s.Limit))
	}
	return b
}

// Field 21 has a tag of two bytes.
const (
	scanIncludeStart, scanIncludeStartHigh = 21<<3&0x7f | 0x80, 21 << 3 >> 7
)

func (s *Scan) sizeRange() int {
	n := sizeBytes(sizeColumns(s.Family, s.Columns)) + sizeBytes(len(s.Start)) + 2
	if s.MaxBytes > 0 {
		n += 1 + protowire.SizeVarint(s.MaxBytes)
	}
	if s.Behind {
		n += 3
	}
	return n
}

func (s *Scan) appendRange(b []byte) []byte {
	b = appendColumns(b, tag1, s.Family, s.Columns)
	b = appendBytes(b, tag3, s.Start)
	b = append(b, varint7, 1) // one version of each value
	if s.MaxBytes > 0 {
		b = protowire.AppendVarint(append(b, varint10), s.MaxBytes)
	}
	if s.Behind {
		b = append(b, scanIncludeStart, scanIncludeStartHigh, 0)
	}
	return b
}
