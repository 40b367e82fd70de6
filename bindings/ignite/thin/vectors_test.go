package thin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

// unhex reads hexadecimal digits with blanks between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// framed returns a request as it goes out.
func framed(op Op, id int64, body []byte) []byte {
	b := appendInt64(appendInt16(appendInt32(nil, int32(10+len(body))), int16(op)), id)
	return append(b, body...)
}

func mustValue(t testing.TB, dst []byte, values ...any) []byte {
	t.Helper()
	for _, v := range values {
		var err error
		if dst, err = AppendValue(dst, v); err != nil {
			t.Fatal(err)
		}
	}
	return dst
}

var (
	sampleValue = NewType("SampleValue", TypeField{Name: "id", Code: FieldInt})
	person      = NewType("Person", TypeField{Name: "id", Code: FieldInt}, TypeField{Name: "orgId", Code: FieldInt},
		TypeField{Name: "firstName", Code: FieldString}, TypeField{Name: "lastName", Code: FieldString},
		TypeField{Name: "salary", Code: FieldDouble})
	setFields = NewType("bench.ignite.tasks.SetFields")
)

// object returns an object of the type with the values.
func object(t testing.TB, of *Type, values ...any) []byte {
	t.Helper()
	var w Writer
	b := w.Begin(nil, of)
	for _, v := range values {
		w.Field(b)
		b = mustValue(t, b, v)
	}
	return w.End(b)
}

// TestVectors holds what is sent against bytes that other clients of Ignite
// made, or that a node of version 2.17.0 took.
func TestVectors(t *testing.T) {
	c := &Client{}
	atomic, tx, query, ycsb := c.Cache("atomic"), c.Cache("tx"), c.Cache("query"), c.Cache("ycsb")
	putAll := appendInt32(append(appendInt32(nil, atomic.id), 0), 2)
	inTx := appendInt32(append(appendInt32(nil, tx.id), inTransaction), 7)
	// Other clients leave the flag for binary objects out.
	plain := func(c *Cache) []byte { return append(appendInt32(nil, c.id), 0) }
	salary := mustValue(t, appendInt32(AppendString(appendInt32(appendInt32(AppendString(append(appendInt32(nil, 0), 0), "query"), 1024), -1),
		"select _key, _val from Person where salary>=? and salary<=?"), 2), 1000.0, 2000.0)
	salary = append(salary, make([]byte, 16)...)
	invoke := AppendProcessor(AppendString(ycsb.AppendHeader(nil), "u1"), setFields, 2)

	for name, v := range map[string]struct {
		got  []byte
		want string
	}{
		"handshake": {appendHello(nil, "", ""), "10000000 01 0100 0700 0000 02 0c 03000000 0e0902"},
		"handshake with a user": {appendHello(nil, "ignite", "ignite"),
			"26000000 01 010007000000 02 0c03000000 0e0902 0906000000 69676e697465 0906000000 69676e697465"},
		"get":         {framed(OpGet, 1, mustValue(t, plain(atomic), int32(42))), "14000000 e803 0100000000000000 2bd61cac 00 03 2a000000"},
		"put":         {framed(OpPut, 5, mustValue(t, plain(atomic), int32(42), []byte{1, 2, 255})), "1c000000 e903 0500000000000000 2bd61cac 00 03 2a000000 0c 03000000 0102ff"},
		"put all":     {framed(opCachePutAll, 6, mustValue(t, putAll, int32(1), int32(1), int32(2), int32(2))), "27000000 ec03 0600000000000000 2bd61cac 00 02000000 0301000000 0301000000 0302000000 0302000000"},
		"put in a tx": {framed(OpPut, 8, mustValue(t, inTx, int32(3), int32(7))), "1d000000 e903 0800000000000000 840e0000 02 07000000 03 03000000 03 07000000"},
		"cache id":    {appendInt32(nil, query.id), "c8186f06"},
		"sql":         {framed(OpQuery, 10, salary), "87000000 d407 0a00000000000000 00000000 00 0905000000 7175657279 00040000 ffffffff 093b000000" + hex.EncodeToString([]byte("select _key, _val from Person where salary>=? and salary<=?")) + "02000000 06 0000000000408f40 06 0000000000409f40 00 00 00 00 00 00 00 0000000000000000 00"},
		"begin":       {framed(opTxStart, 7, AppendNull(appendInt64([]byte{byte(Pessimistic), byte(RepeatableRead)}, 0))), "15000000 a00f 0700000000000000 01 01 0000000000000000 65"},
		"commit":      {framed(opTxEnd, 9, appendBool(appendInt32(nil, 7), true)), "0f000000 a10f 0900000000000000 07000000 01"},
		"register":    {framed(opRegisterType, 4, appendType(nil, sampleValue)), "43000000 bb0b 0400000000000000 07165e0a 090b00000053616d706c6556616c7565 65 01000000 09020000006964 03000000 1b0d0000 00 01000000 dd033463 01000000 1b0d0000"},
		"an object":   {object(t, sampleValue, int32(42)), "67 01 2b00 07165e0a b836f201 1e000000 dd033463 1d000000 032a000000 18"},
		"five fields": {object(t, person, int32(1), int32(0), "firstName1", "lastName1", 1000.0),
			"67 01 2b00 559be3c4 749723ee 4d000000 41c69367 48000000 0301000000 0300000000 090a00000066697273744e616d6531 09090000006c6173744e616d6531 060000000000408f40 181d22313f"},
		"no fields": {object(t, setFields), "67 01 2100 55122eae 01000000 18000000 c59d1c81 18000000"},
		"register a class": {framed(opRegisterName, 2, AppendString(appendInt32([]byte{registryJava}, setFields.ID), setFields.Name)),
			"30000000 b90b 0200000000000000 00 55122eae 09 1c000000" + hex.EncodeToString([]byte(setFields.Name))},
		"invoke": {framed(OpInvoke, 1, mustValue(t, invoke, "field3", "new")),
			"46000000 0004 0100000000000000 d9823800 01 09 02000000 7531 67012100 55122eae 01000000 18000000 c59d1c81 18000000 01 02000000 09 06000000 6669656c6433 09 03000000 6e6577"},
		"create": {framed(opCacheGetOrCreate, 11, appendConfig(nil, &CacheConfig{Name: "tx", Backups: 1, Sync: PrimarySync})),
			"34000000 1e04 0b00000000000000 26000000 0600 0000 0902000000 7478 0100 02000000 0200 00000000 0300 01000000 0400 02000000 6500 00"},
	} {
		want := unhex(t, v.want)
		if !bytes.Equal(v.got, want) {
			t.Errorf("%s:\n%x, want\n%x", name, v.got, want)
		}
	}
}

func TestHashes(t *testing.T) {
	for name, want := range map[string]int32{
		"": 0, "atomic": -1407396309, "tx": 3716, "query": 107944136, "compute": 950503479,
		"polygenelubricants": math.MinInt32, "é": 233, "🎹": 31*0xd83c + 0xdfb9,
	} {
		if got := HashString(name); got != want {
			t.Errorf("the hash of %q is %d, want %d", name, got, want)
		}
	}
	if sampleValue.ID != 173938183 || person.ID != -991716523 || person.Fields[4].ID != -909719094 {
		t.Errorf("type ids %d, %d, field id %d", sampleValue.ID, person.ID, person.Fields[4].ID)
	}
	if sampleValue.SchemaID != 1664353245 || person.SchemaID != 1737737793 {
		t.Errorf("schema ids %d, %d", sampleValue.SchemaID, person.SchemaID)
	}
	for _, c := range []struct {
		hash       int32
		partitions int
		want       int
	}{{0x12345678, 1024, (0x12345678 ^ 0x1234) & 1023}, {-7, 5, 2}, {math.MinInt32, 3, 2}} {
		if got := partitionOf(c.hash, c.partitions); got != c.want {
			t.Errorf("partition of %d of %d is %d, want %d", c.hash, c.partitions, got, c.want)
		}
	}
	for _, c := range []struct {
		key  any
		want int32
	}{{int32(-5), -5}, {int64(1)<<32 | 6, 7}, {"a", 97}, {[]byte{255}, 30}, {UUID{1 << 32, 2}, 3}} {
		if got, ok := keyHash(mustValue(t, nil, c.key)); got != c.want || !ok {
			t.Errorf("the hash of the key %v is %d, %v, want %d", c.key, got, ok, c.want)
		}
	}
	for n := range 40 {
		b := make([]byte, n)
		want := int32(1)
		for i := range b {
			b[i] = byte(i*37 + n)
			want = 31*want + int32(int8(b[i]))
		}
		if got := hashBytes(b); got != want {
			t.Errorf("the hash of %d bytes is %d, want %d", n, got, want)
		}
	}
	if got, ok := keyHash(object(t, sampleValue, int32(42))); uint32(got) != 0x01f236b8 || !ok {
		t.Errorf("the hash of an object is %x, %v", got, ok)
	}
	if _, ok := keyHash(mustValue(t, nil, 1.5)); ok {
		t.Error("a double's hash is said to be known")
	}
}

// TestObjectsOfEveryWidth: offsets of one, two and four bytes.
func TestObjectsOfEveryWidth(t *testing.T) {
	three := NewType("Three", TypeField{Name: "a", Code: FieldBytes}, TypeField{Name: "b", Code: FieldBytes}, TypeField{Name: "c", Code: FieldBytes})
	for _, size := range []int{0, 1, 100, 250, 1000, 60000, 70000, 1 << 20} {
		b := bytes.Repeat([]byte{7}, size)
		raw := object(t, three, b, nil, "the last")
		wrapped := appendInt32(append(appendInt32([]byte{typeWrapped}, int32(len(raw))), raw...), 0)
		for _, form := range [][]byte{raw, wrapped} {
			d := NewDecoder(form)
			o := d.Object()
			if err := d.Err(); err != nil || o.Len() != 3 || o.TypeID() != three.ID || o.SchemaID() != three.SchemaID || len(d.Rest()) != 0 {
				t.Fatalf("size %d: %v, %d fields, %d bytes left", size, err, o.Len(), len(d.Rest()))
			}
			first, second, last := o.Field(0), o.Field(1), o.Field(2)
			if got := first.Payload(); !bytes.Equal(got, b) || first.Err() != nil {
				t.Fatalf("size %d: the first field has %d bytes, %v", size, len(got), first.Err())
			}
			if got := second.Payload(); got != nil || second.Err() != nil {
				t.Errorf("size %d: null is %q, %v", size, got, second.Err())
			}
			if got := string(last.Payload()); got != "the last" {
				t.Errorf("size %d: the last field is %q", size, got)
			}
			again := o.Field(0)
			if span := again.Span(); len(span) != size+5 {
				t.Errorf("size %d: the first field spans %d bytes", size, len(span))
			}
		}
	}
}

// TestValuesOfJava decodes what a Java client writes.
func TestValuesOfJava(t *testing.T) {
	for digits, want := range map[string]any{
		"65":                            nil,
		"01 ff":                         int8(-1),
		"02 feff":                       int16(-2),
		"07 4100":                       uint16('A'),
		"08 01":                         true,
		"05 0000c03f":                   float32(1.5),
		"0e 02000000 01000000 02000000": []int32{1, 2},
		"14 02000000 09 01000000 61 65": []any{"a", nil},
		"18 01000000 01 03 05000000":    []any{int32(5)},
		"19 01000000 01 09 01000000 61 03 05000000": []Pair{{"a", int32(5)}},
		"17 ffffffff 01000000 08 00":                []any{false},
		"13 02000000 01 00":                         []bool{true, false},
		"1c 07000000 02000000":                      int32(2),
	} {
		d := NewDecoder(unhex(t, digits))
		if got := d.Value(); !reflect.DeepEqual(got, want) || d.Err() != nil || len(d.Rest()) > 0 {
			t.Errorf("%s is %#v, %v, want %#v", digits, got, d.Err(), want)
		}
	}
	d := NewDecoder(unhex(t, "1e 02000000 02000000 84e2")) // -12.50
	if got, ok := d.Value().(*big.Float); !ok || d.Err() != nil || got.String() != "-12.5" {
		t.Errorf("a decimal is %v, %v", got, d.Err())
	}
	d = NewDecoder(unhex(t, "21 e803000000000000 40420f00"))
	if got := d.Value(); got == nil || d.Err() != nil {
		t.Errorf("a timestamp is %v, %v", got, d.Err())
	}
}

// TestRefusedHandshakes: what a server may say instead of yes.
func TestRefusedHandshakes(t *testing.T) {
	refusal := func(major, minor int16, message string, status int32) []byte {
		b := appendInt16(appendInt16(appendInt16([]byte{0}, major), minor), 0)
		return appendInt32(AppendString(b, message), status)
	}
	for name, c := range map[string]struct {
		frame []byte
		want  string
	}{
		"an old server":    {refusal(1, 4, "Unsupported version", 1), "1.4.0"},
		"a wrong password": {refusal(0, 0, "The user name or password is incorrect", StatusUnauthorised), "password is incorrect"},
		"nothing":          {nil, "malformed"},
		"half an answer":   {[]byte{1, typeBytes, 9, 0, 0, 0}, "malformed"},
		"another type":     {[]byte{1, typeString}, "type 9"},
	} {
		if _, err := readHello(c.frame); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.want)
		}
	}
	accepted := appendRawUUID(append(AppendBytes([]byte{1}, []byte{0xfe, 0xff, 0x0b}), typeUUID), UUID{1, 2})
	if id, err := readHello(accepted); err != nil || id != (UUID{1, 2}) {
		t.Errorf("%v, %v", id, err)
	}
}

// TestWrongLengths: numbers that would take memory or go behind the end are
// found first.
func TestWrongLengths(t *testing.T) {
	huge := binary.LittleEndian.AppendUint32(nil, math.MaxInt32)
	negative := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	for _, code := range []byte{typeString, typeBytes, typeInts, typeStrings, typeCollection, typeMap, typeWrapped, typeDecimal} {
		for _, length := range [][]byte{huge, negative} {
			d := NewDecoder(append([]byte{code}, append(length, 1, 2, 3, 4, 5, 6, 7, 8)...))
			if v := d.Value(); d.Err() == nil {
				t.Errorf("type %d with a wrong length is %v", code, v)
			}
		}
	}
	deep := []byte{}
	for range maxDepth + 2 {
		deep = append(deep, typeCollection, 1, 0, 0, 0, 1)
	}
	d := NewDecoder(append(deep, typeNull))
	if v := d.Value(); d.Err() == nil {
		t.Errorf("nested too deep, it is %v", v)
	}
}

func FuzzValue(f *testing.F) {
	f.Add(object(f, person, int32(1), int32(0), "first", "last", 1.0))
	f.Add(mustValue(f, nil, []any{int32(1), "a", nil, []byte{1}, UUID{1, 2}, 2.5}))
	f.Add(unhex(f, "1b 1e000000 67012b0007165e0ab836f2011e000000dd0334631d000000032a00000018 00000000"))
	f.Add(unhex(f, "19 01000000 01 09 01000000 61 03 05000000"))
	f.Add(unhex(f, "1e 02000000 02000000 04e2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := NewDecoder(b)
		v := d.Value()
		whole := NewDecoder(b)
		span := whole.Span()
		if d.Err() == nil && whole.Err() == nil && len(d.Rest()) != len(whole.Rest()) {
			t.Errorf("a value of %d bytes is passed over by %d", len(b)-len(d.Rest()), len(span))
		}
		if o, ok := v.(Object); ok && d.Err() == nil {
			for i := range o.Len() {
				field := o.Field(i)
				field.Value()
				o.FieldID(i)
			}
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add(refusedBytes())
	f.Add(appendInt32(appendInt32(appendInt64(nil, 1), 2), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		readHello(b)
		c := &Client{}
		d := NewDecoder(b)
		c.readRoutes(&d)
		d = NewDecoder(b)
		ReadTypeInfo(&d)
		d = NewDecoder(b)
		if _, columns, rows := ReadPage(&d); columns < 0 || rows > len(b) {
			t.Errorf("%d rows of %d columns in %d bytes", rows, columns, len(b))
		}
	})
}

func refusedBytes() []byte {
	return appendInt32(AppendString([]byte{0, 1, 0, 4, 0, 0, 0}, "no"), 1)
}
