package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"pianola/bindings"
	hbasev1 "pianola/proto/hbase/v1"
)

// unhex reads bytes as people write them down.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a server of version 2.6.4 has answered, and the calls. The region is one
// of the table "probe".
const (
	regionHex = `0801 1237
		70726f62652c702c313739363036373631393636392e62326136353237656637633765643837346338383339383462363964323062372e`
	helloHex = `484261730050 0000005c 0a070a0562656e6368 120d436c69656e7453657276696365
		1a2b6f72672e6170616368652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f646563
		2a15 0a05322e362e34 1200 1a00 2200 2a00 3200 3802 4006`
	getHex       = `00000058 0c 0801 1a03476574 2001 388827 4a 0a3b ` + regionHex + `120b 0a04726f7731 1203 0a0166`
	getAnswerHex = `06 0801 1a020842 06 0a04 1002 2000
		0000001d 00000013 00000002 0004 726f7731 01 66 7131 000001a22df8f61a 04 7631
		0000001d 00000013 00000002 0004 726f7731 01 66 7132 000001a22df8f61a 04 7632`
	getMessageAnswerHex = `02 0801 3e 0a3c 0a1a 0a04726f7731 120166 1a027131 209aece3efa234 2804 32027631
		0a1a 0a04726f7731 120166 1a027132 209aece3efa234 2804 32027632 2000 2800`
	missAnswerHex = `02 080c 04 0a02 1000`
	putHex        = `00000071 0f 0808 1a064d7574617465 2001 388827 60 0a3b ` + regionHex + `
		1221 0a04726f7731 1002 1a17 0a0166 1208 0a027131 12027631 1208 0a027132 12027632`
	putAnswerHex  = `02 0808 02 1001`
	deleteHex     = `00000055 0c 0816 1a064d7574617465 2001 47 0a3b ` + regionHex + `1208 0a04726f7731 1003`
	scanHex       = `00000062 0a 0810 1a045363616e 2001 56 0a3b ` + regionHex + `120d 0a03 0a0166 1a04726f7731 3801 2003 2801 3801 4001 5803`
	scanAnswerHex = `07 0810 1a0308a501 23 0802 0802 0801 109980808090cbb8d5b901 1800 20e0d403 3000 3800 3800 3800 4001 5806
		0000001d 00000013 00000002 0004 726f7731 01 66 7131 000001a22df8f61a 04 7631
		0000001d 00000013 00000002 0004 726f7731 01 66 7132 000001a22df8f61a 04 7632
		0000001d 00000013 00000002 0004 726f7732 01 66 7131 000001a22df8f666 04 7731
		0000001d 00000013 00000002 0004 726f7732 01 66 7132 000001a22df8f666 04 7732
		0000001d 00000013 00000002 0004 726f7733 01 66 7131 000001a22df8f67a 04 6d30`
	masterHex       = `00000017 15 0802 1a0f4765744163746976654d6173746572 2001 00`
	masterAnswerHex = `02 0802 18 0a16 0a096c6f63616c686f7374 10f1ab01 18b0d0d6efa234`
	metaHex         = `0000001e 1c 0804 1a164765744d657461526567696f6e4c6f636174696f6e73 2001 00`
	metaAnswerHex   = `02 0804 42 0a40 0a1b0801120d0a05686261736512046d6574611a0022002800300038001216
		0a096c6f63616c686f737410f2ab0118ede7d6efa234 18ffffffffffffffffff01`
)

func fieldsOf(pairs ...string) []bindings.Field {
	var f []bindings.Field
	for i := 0; i < len(pairs); i += 2 {
		f = append(f, bindings.Field{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return f
}

func TestCallsAsRecorded(t *testing.T) {
	region, row := unhex(t, regionHex), []byte("row1")
	for _, c := range []struct {
		name        string
		id, timeout uint32
		request     Request
		want        string
	}{
		{"get", 1, 5000, &Get{Region: region, Row: row, Family: "f"}, getHex},
		{"put", 8, 5000, &Mutate{Region: region, Row: row, Family: "f", Fields: fieldsOf("q1", "v1", "q2", "v2")}, putHex},
		{"delete", 22, 0, &Mutate{Region: region, Row: row, Family: "f"}, deleteHex},
		{"scan", 16, 0, &Scan{Region: region, Start: row, Family: "f", Rows: 3, Limit: 3, Close: true}, scanHex},
		{"active master", 2, 0, &Message{"GetActiveMaster", &hbasev1.Table{}}, masterHex},
		{"meta region", 4, 0, &Message{"GetMetaRegionLocations", &hbasev1.Table{}}, metaHex},
	} {
		want := unhex(t, c.want)
		if got := AppendCall([]byte("before"), c.id, c.timeout, c.request); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%s:\n%x, want\n%x", c.name, got[6:], want)
		}
	}
	if got := Hello("bench", ClientService); !bytes.Equal(got, unhex(t, helloHex)) {
		t.Errorf("hello: %x", got)
	}
	name := region[4:]
	if got := RegionName(name); !bytes.Equal(got, region) {
		t.Errorf("region: %x", got)
	}
}

func answer(t testing.TB, text string) *Response {
	t.Helper()
	r := new(Response)
	if err := r.Parse(unhex(t, text)); err != nil {
		t.Fatal(err)
	}
	return r
}

// text writes cells as row/family:qualifier=value@time.
func (c *Cell) text() string {
	return fmt.Sprintf("%s/%s:%s=%s@%x.%d ", c.Row, c.Family, c.Qualifier, c.Value, c.Timestamp, c.Type)
}

func rowText(t testing.TB, row *Row) (text string) {
	t.Helper()
	var c Cell
	for {
		ok, err := row.Next(&c)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return text
		}
		text += c.text()
	}
}

func TestAnswersAsRecorded(t *testing.T) {
	const cells = "row1/f:q1=v1@1a22df8f61a.4 row1/f:q2=v2@1a22df8f61a.4 "
	for text, want := range map[string]string{getAnswerHex: cells, getMessageAnswerHex: cells, missAnswerHex: ""} {
		var row Row
		if err := row.ParseGet(answer(t, text)); err != nil {
			t.Fatal(err)
		}
		if got := rowText(t, &row); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	r := answer(t, putAnswerHex)
	if processed, err := ParseMutate(r); !processed || err != nil || r.CallID != 8 {
		t.Errorf("put: %v, %v, %v", processed, err, r)
	}
	r = answer(t, metaAnswerHex)
	var meta hbasev1.GetMetaRegionLocationsResponse
	if err := proto.Unmarshal(r.Message, &meta); err != nil || meta.Location[0].Server.GetPort() != 22002 {
		t.Errorf("meta: %v, %v", &meta, err)
	}
	r = answer(t, masterAnswerHex)
	var master hbasev1.GetActiveMasterResponse
	if err := proto.Unmarshal(r.Message, &master); err != nil || master.Server.GetHost() != "localhost" || master.Server.GetPort() != 22001 {
		t.Errorf("master: %v, %v", &master, err)
	}
}

func rowsText(rows *Rows) (text string, err error) {
	var c Cell
	for {
		first, ok, err := rows.Next(&c)
		if err != nil || !ok {
			return text, err
		}
		if first {
			text += "| "
		}
		text += string(c.Row) + ":" + string(c.Qualifier) + " "
	}
}

func TestScanAnswers(t *testing.T) {
	const want = "| row1:q1 row1:q2 | row2:q1 row2:q2 | row3:q1 "
	r := answer(t, scanAnswerHex)
	// Numbers packed, as other servers may send them.
	var m hbasev1.ScanResponse
	if err := proto.Unmarshal(r.Message, &m); err != nil {
		t.Fatal(err)
	}
	packed := unhex(t, "0a03 020201 109980808090cbb8d5b901 1800 3a03 000001 4001")
	for i, message := range [][]byte{r.Message, packed} {
		var rows Rows
		r.Message = message
		if err := rows.ParseScan(r); err != nil {
			t.Fatal(err)
		}
		if rows.Scanner != m.GetScanner() || rows.More || !rows.MoreInRegion || rows.Results != 3 || rows.Partial != (i == 1) {
			t.Errorf("%+v, want %v", rows, &m)
		}
		if got, err := rowsText(&rows); got != want || err != nil {
			t.Errorf("%s, %v", got, err)
		}
	}
}

func TestAnswersThatLie(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               ``,
		"a header too long":     `03 0801`,
		"no message":            `02 0801`,
		"a message too long":    `02 0801 05 0000`,
		"fewer cells than said": `06 0801 1a020843 00`,
		"cells nobody spoke of": `02 0801 00 00`,
		"a broken exception":    `05 0801 120105 `,
	} {
		if err := new(Response).Parse(unhex(t, text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	whole := answer(t, getAnswerHex)
	for name, message := range map[string]string{
		"more cells than there are":  `0a02 1003`,
		"fewer cells":                `0a02 1001`,
		"none":                       `0a02 1000`,
		"a great number":             `0a06 10ffffffff0f`,
		"cells here and there":       `0a04 1002 0a00`,
		"a broken result":            `0a01 0a`,
		"a result of another length": `0a07 1002`,
	} {
		var row Row
		r := &Response{Message: unhex(t, message), Cells: whole.Cells}
		err := row.ParseGet(r)
		for ok := true; err == nil && ok; {
			ok, err = row.Next(new(Cell))
		}
		if err == nil {
			t.Errorf("get: %s: no error", name)
		}
	}
	for name, message := range map[string]string{
		"a row without cells": `0800 0802`, "more cells": `0803`, "fewer cells": `0801`, "none": ``, "a great number": `08ffffffff0f`,
		"a broken number": `0a01ff`, "rows in the message": `0802 2a00`, "a broken flag": `0802 3a01ff`,
	} {
		var rows Rows
		err := rows.ParseScan(&Response{Message: unhex(t, message), Cells: whole.Cells})
		if err == nil {
			_, err = rowsText(&rows)
		}
		if err == nil {
			t.Errorf("scan: %s: no error", name)
		}
	}
	for _, at := range []int{0, 3, 7, 11, 13, 18} {
		block := bytes.Clone(whole.Cells[:33])
		block[at] = 0xff
		if _, err := new(Cell).Cut(block); err == nil {
			t.Errorf("a cell with byte %d wrong: no error", at)
		}
	}
}

func TestException(t *testing.T) {
	header, err := proto.Marshal(&hbasev1.ResponseHeader{CallId: proto.Uint32(7), Exception: &hbasev1.Exception{
		ClassName: proto.String("org.apache.hadoop.hbase.exceptions.RegionMovedException"), Host: proto.String("b"), Port: proto.Int32(3),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var r Response
	if err := r.Parse(append([]byte{byte(len(header))}, header...)); err != nil {
		t.Fatal(err)
	}
	if r.CallID != 7 || r.Exception.GetHost() != "b" || r.Exception.GetPort() != 3 {
		t.Errorf("%+v", r)
	}
	if err := r.Parse(unhex(t, `04 0807 1200`)); err != nil || r.Exception == nil {
		t.Errorf("an exception that says nothing: %v, %v", r.Exception, err)
	}
}

// TestAgainstGeneratedCode holds requests against what generated code makes of
// the same message.
func TestAgainstGeneratedCode(t *testing.T) {
	region := unhex(t, regionHex)
	var name hbasev1.RegionName
	if err := proto.Unmarshal(region, &name); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)
	columns := func(names ...string) []*hbasev1.Columns {
		c := &hbasev1.Columns{Family: []byte("family")}
		for _, n := range names {
			c.Qualifier = append(c.Qualifier, []byte(n))
		}
		return []*hbasev1.Columns{c}
	}
	condition := &hbasev1.Condition{Row: []byte(long), Family: []byte("family"), Qualifier: []byte("a"), Compare: proto.Uint32(2),
		Comparator: &hbasev1.Comparator{ClassName: proto.String("org.apache.hadoop.hbase.filter.BinaryComparator"), Serialized: []byte{0x0a, 0}}}
	values := []*hbasev1.FamilyValues{{Family: []byte("family"), Value: []*hbasev1.ColumnValue{
		{Qualifier: []byte("a"), Value: []byte(long)}, {Qualifier: []byte("b"), Value: []byte{}}}}}
	for _, c := range []struct {
		got  Request
		want proto.Message
	}{
		{&Get{Region: region, Row: []byte(long), Family: "family", Columns: []string{"a", long}, ExistenceOnly: true},
			&hbasev1.GetRequest{Region: &name, Get: &hbasev1.Get{Row: []byte(long), Columns: columns("a", long), ExistenceOnly: proto.Bool(true)}}},
		{&Mutate{Region: region, Row: []byte(long), Family: "family", Fields: fieldsOf("a", long, "b", ""), Durability: FsyncWAL, Absent: "a"},
			&hbasev1.MutateRequest{Region: &name, Condition: condition, Mutation: &hbasev1.Mutation{
				Row: []byte(long), Type: proto.Uint32(2), Values: values, Durability: proto.Uint32(4)}}},
		{&Mutate{Region: region, Row: []byte("r"), Durability: SkipWAL},
			&hbasev1.MutateRequest{Region: &name, Mutation: &hbasev1.Mutation{Row: []byte("r"), Type: proto.Uint32(3), Durability: proto.Uint32(1)}}},
		{&Scan{Region: region, Start: []byte(long), Behind: true, Family: "family", Columns: []string{"a"}, MaxBytes: 1 << 21, Rows: 300, Limit: 1000},
			&hbasev1.ScanRequest{Region: &name, Scan: &hbasev1.Scan{Columns: columns("a"), StartRow: []byte(long), MaxVersions: proto.Uint32(1),
				MaxResultBytes: proto.Uint64(1 << 21), IncludeStart: proto.Bool(false)},
				Rows: proto.Uint32(300), HandlesPartials: proto.Bool(true), HandlesHeartbeats: proto.Bool(true), Limit: proto.Uint32(1000)}},
		{&Scan{Scanner: 1<<63 + 5, Sequence: 200, Rows: 3},
			&hbasev1.ScanRequest{Scanner: proto.Uint64(1<<63 + 5), NextCallSeq: proto.Uint64(200), Rows: proto.Uint32(3),
				HandlesPartials: proto.Bool(true), HandlesHeartbeats: proto.Bool(true)}},
		{&Scan{Scanner: 5, Close: true},
			&hbasev1.ScanRequest{Scanner: proto.Uint64(5), Rows: proto.Uint32(0), Close: proto.Bool(true),
				HandlesPartials: proto.Bool(true), HandlesHeartbeats: proto.Bool(true)}},
		{&Message{"x", &hbasev1.Table{Namespace: []byte("n"), Name: []byte(long)}}, &hbasev1.Table{Namespace: []byte("n"), Name: []byte(long)}},
	} {
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		got := c.got.AppendTo(nil)
		if !bytes.Equal(got, want) || c.got.Size() != len(want) {
			t.Errorf("%T, size %d:\n%x, want\n%x", c.got, c.got.Size(), got, want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	region, row := unhex(t, regionHex), []byte("row1")
	buf := make([]byte, 0, 1024)
	get, put := &Get{Region: region, Row: row, Family: "f"}, &Mutate{Region: region, Row: row, Family: "f", Fields: fieldsOf("q1", "v1")}
	frame, scanned := unhex(t, getAnswerHex), unhex(t, scanAnswerHex)
	var r Response
	var got Row
	var rows Rows
	var c Cell
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendCall(buf[:0], 1, 5000, get)
		buf = AppendCall(buf[:0], 1, 5000, put)
		if r.Parse(frame) != nil || got.ParseGet(&r) != nil {
			t.Fatal("the answer is not understood")
		}
		for ok := true; ok; {
			ok, _ = got.Next(&c)
		}
		if r.Parse(scanned) != nil || rows.ParseScan(&r) != nil {
			t.Fatal("the answer is not understood")
		}
		for ok := true; ok; {
			_, ok, _ = rows.Next(&c)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzAnswer: whatever comes is understood or refused, and what is understood
// has its parts within the frame and as many cells as it says.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{getAnswerHex, getMessageAnswerHex, missAnswerHex, putAnswerHex, scanAnswerHex, masterAnswerHex, metaAnswerHex,
		`04 0807 1200`, `0c 0801 12060a04 6a617661 1a00`} {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		var r Response
		if r.Parse(frame) != nil || r.Exception != nil {
			return
		}
		ParseMutate(&r)
		var row Row
		var c Cell
		if row.ParseGet(&r) == nil {
			stated, cells := row.Cells, 0
			ok, err := row.Next(&c)
			for ; ok; ok, err = row.Next(&c) {
				cells++
			}
			if err == nil && cells != stated {
				t.Errorf("get: %d cells, %d stated", cells, stated)
			}
		}
		var rows Rows
		if rows.ParseScan(&r) == nil {
			results, bytes := 0, 0
			first, ok, err := rows.Next(&c)
			for ; ok; first, ok, err = rows.Next(&c) {
				if first {
					results++
				}
				bytes += len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
			}
			if err == nil && results != rows.Results || bytes > len(frame) {
				t.Errorf("scan: %d results, %d stated; %d bytes of %d", results, rows.Results, bytes, len(frame))
			}
		}
	})
}
