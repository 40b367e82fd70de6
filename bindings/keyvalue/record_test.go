package keyvalue

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pianola/bindings"
)

// decoded takes one record.
type decoded struct{ fields []bindings.Field }

func (d *decoded) Row([]byte) {}
func (d *decoded) Field(name string, value []byte) {
	d.fields = append(d.fields, bindings.Field{Name: name, Value: bytes.Clone(value)})
}

func encode(pairs ...string) []byte {
	var fields []bindings.Field
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, bindings.Field{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return AppendRecord(nil, fields)
}

// FuzzRecord: what can be decoded is encoded to the same bytes; a size is known
// before; every field can be read alone; and no input is more than refused.
func FuzzRecord(f *testing.F) {
	for _, seed := range [][]byte{
		nil, encode("field0", "value"), encode("a", "", "", "b", "c", "d"), encode("a", "1", "a", "2"),
		encode("field0", "value")[:7], {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 1, 'a', 0x7f, 0xff, 0xff, 0xff, 'b'}, {0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0},
	} {
		f.Add(seed, "a", []byte("x"))
	}
	f.Fuzz(func(t *testing.T, record []byte, name string, value []byte) {
		var all decoded
		err := Give(&all, nil, record, nil, nil)
		var m Merger
		written := []bindings.Field{{Name: name, Value: value}}
		size, sizeErr := m.Size(record, written)
		if (err == nil) != (sizeErr == nil) {
			t.Fatalf("reading says %v, merging %v", err, sizeErr)
		}
		if err != nil {
			return
		}
		if again := AppendRecord(nil, all.fields); !bytes.Equal(again, record) {
			t.Fatalf("encoded again it is %x", again)
		}
		if n, err := RecordSize(all.fields); err != nil || n != len(record) {
			t.Fatalf("its size is said to be %d, %v", n, err)
		}
		merged := m.Append(nil, record, written)
		if len(merged) != size {
			t.Fatalf("merged it has %d bytes, not the %d said", len(merged), size)
		}
		checkMerged(t, all.fields, merged, name, value)
	})
}

// checkMerged demands that every field of that name has the value, that there
// is one, and that all others are as they were, in their order.
func checkMerged(t *testing.T, before []bindings.Field, merged []byte, name string, value []byte) {
	t.Helper()
	var after decoded
	if err := Give(&after, nil, merged, nil, nil); err != nil {
		t.Fatal(err)
	}
	found := false
	for i, f := range after.fields {
		switch {
		case f.Name == name:
			found = true
			if !bytes.Equal(f.Value, value) {
				t.Fatalf("field %q is %q, want %q", name, f.Value, value)
			}
		case i >= len(before) || f.Name != before[i].Name || !bytes.Equal(f.Value, before[i].Value):
			t.Fatalf("field %d has become %q=%q", i, f.Name, f.Value)
		}
	}
	if !found || len(after.fields) > len(before)+1 {
		t.Fatalf("%d fields have become %d; the one written is there: %v", len(before), len(after.fields), found)
	}
	var one decoded
	if err := Give(&one, nil, merged, []string{name}, nil); err != nil || len(one.fields) != 1 || !bytes.Equal(one.fields[0].Value, value) {
		t.Fatalf("read alone it is %v, %v", one.fields, err)
	}
}

func TestDamagedRecords(t *testing.T) {
	whole := encode("field0", "value", "field1", "other")
	for n := 1; n < len(whole); n++ {
		err := Give(nil, nil, whole[:n], nil, nil)
		if n == len(whole)/2 {
			if err != nil {
				t.Errorf("cut behind the first field: %v", err)
			}
			continue
		}
		if err == nil {
			t.Errorf("a record cut at byte %d of %d is read", n, len(whole))
		}
	}
	huge := encode("field0", "value")
	huge[10] = 0xff
	if err := Give(nil, nil, huge, nil, nil); err == nil || !strings.Contains(err.Error(), `field "field0"`) || !strings.Contains(err.Error(), "4278190085") {
		t.Errorf("a length of 4 GiB: %v", err)
	}
}

func TestTheRestIsNotReadBehindTheLastFieldWanted(t *testing.T) {
	record := append(encode("a", "1", "b", "2"), 0xff, 0xff)
	var got decoded
	if err := Give(&got, nil, record, []string{"b", "a"}, nil); err != nil || len(got.fields) != 2 {
		t.Errorf("got %v, %v", got.fields, err)
	}
}

func TestSizesAreBound(t *testing.T) {
	value := make([]byte, 1<<20)
	fields := make([]bindings.Field, 1024)
	for i := range fields {
		fields[i].Value = value
	}
	if _, err := RecordSize(fields); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("a record of 1 GiB and some: %v", err)
	}
	if n, err := RecordSize(fields[:1000]); err != nil || n != 1000*(8+1<<20) || n > math.MaxInt32 {
		t.Errorf("a record of 1000 MiB: %d, %v", n, err)
	}
}
