package ignite

import (
	"bytes"
	"fmt"
	"testing"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
	"pianola/traces"
)

// record returns an object with the fields written.
func record(t testing.TB, l *layout, written ...bindings.Field) []byte {
	t.Helper()
	var w thin.Writer
	b, err := l.appendRecord(nil, &w, written, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestChangesKeepOtherFields: in any order of the fields written, and of those of
// the object.
func TestChangesKeepOtherFields(t *testing.T) {
	l := newLayout([]string{"a", "b", "c"}, false)
	d := thin.NewDecoder(record(t, l, bindings.Field{Name: "c", Value: []byte("3")}, bindings.Field{Name: "a", Value: []byte("1")}))
	old := d.Object()
	places, known := l.places(&old)
	if !known {
		t.Fatal("an own object has an unknown list of fields")
	}
	var w thin.Writer
	changed, err := l.appendRecord(nil, &w, []bindings.Field{{Name: "b", Value: []byte("2")}}, &old, places)
	if err != nil {
		t.Fatal(err)
	}
	d = thin.NewDecoder(changed)
	o := d.Object()
	got := &rows{}
	if err := l.give(&bindings.Op{Rows: got}, []byte("k"), &o, places); err != nil || fmt.Sprint(got.fields) != "[map[a:1 b:2 c:3]]" {
		t.Errorf("%v, %v", got.fields, err)
	}
	got = &rows{}
	if err := l.give(&bindings.Op{Rows: got, Read: []string{"c", "none", "b"}}, []byte("k"), &o, places); err != nil || fmt.Sprint(got.fields) != "[map[b:2 c:3]]" {
		t.Errorf("some fields: %v, %v", got.fields, err)
	}
}

// FuzzRecord hands any object to what reads and changes records.
func FuzzRecord(f *testing.F) {
	l := newLayout([]string{"a", "b", "c"}, true)
	whole := record(f, l, bindings.Field{Name: "a", Value: []byte("1")}, bindings.Field{Name: "c", Value: bytes.Repeat([]byte("x"), 300)})
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		d := thin.NewDecoder(b)
		o := d.Object()
		if d.Err() != nil || o.Null() {
			return
		}
		places, known := l.places(&o)
		if !known {
			return
		}
		var w thin.Writer
		change := []bindings.Field{{Name: "b", Value: []byte("new")}}
		if l.give(&bindings.Op{Kind: traces.Read, Rows: &rows{}}, nil, &o, places) != nil {
			return
		}
		changed, err := l.appendRecord(nil, &w, change, &o, places)
		if err != nil {
			return
		}
		d = thin.NewDecoder(changed)
		again := d.Object()
		got := &rows{}
		if err := l.give(&bindings.Op{Kind: traces.Read, Rows: got, Read: []string{"b"}}, nil, &again, places3); d.Err() != nil || err != nil || got.fields[0]["b"] != "new" {
			t.Errorf("a change gives %v, %v, %v", got.fields, d.Err(), err)
		}
	})
}

// places3 are those of our own objects of three fields.
var places3 = []int{0, 1, 2}
