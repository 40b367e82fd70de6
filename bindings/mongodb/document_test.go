package mongodb

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"pianola/bindings"
)

func marshalled(t testing.TB, v any) []byte {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCommandsParts: hand-written parts are what the client would encode.
func TestCommandParts(t *testing.T) {
	fields := []bindings.Field{{Name: "field0", Value: []byte("a")}, {Name: "field1", Value: nil}}
	binary := bson.D{{Key: "field0", Value: bson.Binary{Data: []byte("a")}}, {Key: "field1", Value: bson.Binary{Data: []byte{}}}}
	key := bson.D{{Key: "_id", Value: "kéy"}}
	record, err := appendRecord(nil, []byte("kéy"), fields)
	if err != nil {
		t.Fatal(err)
	}
	change, err := appendChange(nil, fields)
	if err != nil {
		t.Fatal(err)
	}
	projection, err := appendProjection(nil, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got  []byte
		want any
	}{
		{appendID(nil, []byte("kéy"), false), key},
		{appendID([]byte("")[:0], []byte(""), true), bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: ""}}}}},
		{record, append(key, binary...)},
		{change, bson.D{{Key: "$set", Value: binary}}},
		{projection, bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: int32(1)}}},
	} {
		if want := marshalled(t, c.want); string(want) != string(c.got) {
			t.Errorf("%v, want %v", bson.Raw(c.got), bson.Raw(want))
		}
	}
}

func TestForeignDocuments(t *testing.T) {
	for _, c := range []struct {
		document bson.D
		row      string
		err      string
	}{
		{bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: "text"}, {Key: "b", Value: bson.Binary{Subtype: 5, Data: []byte("x")}}}, "k a=text b=x", ""},
		{bson.D{{Key: "a", Value: "text"}, {Key: "_id", Value: "k"}}, "k a=text", ""},
		{bson.D{{Key: "a", Value: "text"}}, "", "no _id"},
		{bson.D{{Key: "_id", Value: 7}}, "", "_id is of the type"},
		{bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: 1.5}}, "k", `field "a" is of the type`},
	} {
		got := &oneRow{}
		err := give(got, marshalled(t, c.document), nil)
		if got.text != c.row || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %q, %v", c.document, got.text, err)
		}
	}
}

// FuzzGive: no bytes are more than refused, and what is taken is read to the
// end whether somebody takes it or not.
func FuzzGive(f *testing.F) {
	whole := marshalled(f, bson.D{{Key: "_id", Value: "key"}, {Key: "field0", Value: bson.Binary{Data: []byte("value")}}, {Key: "x", Value: "y"}})
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte{})
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0})
	f.Add([]byte{14, 0, 0, 0, 2, '_', 'i', 'd', 0, 255, 255, 255, 255, 0})
	f.Add([]byte{15, 0, 0, 0, 5, '_', 'i', 'd', 0, 200, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, document []byte) {
		got := &oneRow{}
		err := give(got, document, map[string]string{"x": "x"})
		if again := give(nil, document, nil); (err == nil) != (again == nil) {
			t.Fatalf("with rows: %v, without: %v", err, again)
		}
		if err != nil && got.text == "" && err.Error() == "" {
			t.Fatal("an error without text")
		}
	})
}
