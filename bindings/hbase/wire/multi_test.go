package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	hbasev1 "pianola/proto/hbase/v1"
)

// What a server of version 2.6.4 was asked and has answered, about two regions of
// the table "multi".
const (
	multiHex = `0aa301 0a40 0801 123c 6d756c74692c7573657232302c313739363130303635393933352e37366438633836663137616238396462653336336236326165333566303736342e
		1a37 0800 1233 0a057573657235 1002 1a28 0a0666616d696c79 120d 0a066669656c6430 12036e6577 120f 0a066669656c6431 12056f74686572
		1a16 0801 1a12 0a06757365723235 1208 0a0666616d696c79
		1a0e 0802 120a 0a06757365723330 1003
		0a64 0a41 0801 123d 6d756c74692c757365723138392c313739363130303635393933352e35633832643862666138666334663433323133616332356537313730633836352e
		1a1f 0800 1a1b 0a0775736572313939 1210 0a0666616d696c79 12066669656c6430`
	// The answers of a region come in an order of the server's.
	multiAnswerHex = `0a16 0a08 0801 1204 10022000 0a04 0802 1200 0a04 0800 1200 0a0a 0a08 0800 1204 10012000 1a00`
	multiCellsHex  = `0000002e 0000001e 00000008 0006 757365723235 06 66616d696c79 6669656c6430 000001a22ff11a62 04 76616c7565203235
		0000002b 0000001e 00000005 0006 757365723235 06 66616d696c79 6669656c6431 000001a22ff11a62 04 6f74686572
		00000030 0000001f 00000009 0007 75736572313939 06 66616d696c79 6669656c6430 000001a22ff11a62 04 76616c756520313939`
)

// recordedMulti is the call of multiHex.
func recordedMulti(t testing.TB) *Multi {
	bytes := unhex(t, multiHex)
	return &Multi{Regions: []RegionActions{
		{bytes[5:69], []Action{
			{Mutate: &Mutate{Row: []byte("user5"), Family: "family", Fields: fieldsOf("field0", "new", "field1", "other")}},
			{Get: &Get{Row: []byte("user25"), Family: "family"}},
			{Mutate: &Mutate{Row: []byte("user30")}},
		}},
		{bytes[170:235], []Action{{Get: &Get{Row: []byte("user199"), Family: "family", Columns: []string{"field0"}}}}},
	}}
}

func TestMultiAsRecorded(t *testing.T) {
	m := recordedMulti(t)
	if got, want := m.AppendTo(nil), unhex(t, multiHex); !bytes.Equal(got, want) || m.Size() != len(want) {
		t.Errorf("size %d:\n%x, want\n%x", m.Size(), got, want)
	}
	r := &Response{Message: unhex(t, multiAnswerHex), Cells: unhex(t, multiCellsHex)}
	answers, err := ParseMulti(r, m)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, region := range answers {
		for j, a := range region {
			text += fmt.Sprintf("%d.%d: ", i, j)
			for k := range a.Cells {
				text += a.Cells[k].text()
			}
		}
	}
	const at = "@1a22ff11a62.4 "
	if want := "0.0: 0.1: user25/family:field0=value 25" + at + "user25/family:field1=other" + at + "0.2: 1.0: user199/family:field0=value 199" + at; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// TestMultiExceptions: one action's exception is its own, a region's that of all
// its actions.
func TestMultiExceptions(t *testing.T) {
	x := &hbasev1.NamedBytes{Name: proto.String("java.io.IOException"), Value: []byte("no")}
	cell := &hbasev1.Cell{Row: []byte("user25"), Family: []byte("family"), Qualifier: []byte("a"), Value: []byte("b"), Timestamp: proto.Uint64(5)}
	message, err := proto.Marshal(&hbasev1.MultiResponse{Region: []*hbasev1.RegionResult{
		{Action: []*hbasev1.ActionResult{
			{Index: proto.Uint32(2), Exception: x}, {Index: proto.Uint32(0), Result: &hbasev1.Result{}},
			{Index: proto.Uint32(1), Result: &hbasev1.Result{Cell: []*hbasev1.Cell{cell}, Exists: proto.Bool(true)}},
		}},
		{Exception: x},
	}})
	if err != nil {
		t.Fatal(err)
	}
	answers, err := ParseMulti(&Response{Message: message}, recordedMulti(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*ActionAnswer{&answers[0][2], &answers[1][0]} {
		if a.Exception.GetName() != x.GetName() || string(a.Exception.GetValue()) != "no" {
			t.Errorf("%v, want %v", a.Exception, x)
		}
	}
	if a := answers[0][0]; a.Exception != nil || len(a.Cells) > 0 {
		t.Errorf("a put: %+v", a)
	}
	if a := answers[0][1]; a.Exception != nil || !a.Exists || len(a.Cells) != 1 || a.Cells[0].text() != "user25/family:a=b@5.0 " {
		t.Errorf("cells in the message: %+v", a)
	}
}

func TestMultiAnswersThatLie(t *testing.T) {
	for name, lie := range map[string]func(m *hbasev1.MultiResponse){
		"no region":               func(m *hbasev1.MultiResponse) { m.Region = nil },
		"a region less":           func(m *hbasev1.MultiResponse) { m.Region = m.Region[:1] },
		"a region more":           func(m *hbasev1.MultiResponse) { m.Region = append(m.Region, m.Region[1]) },
		"an action less":          func(m *hbasev1.MultiResponse) { m.Region[0].Action = m.Region[0].Action[:2] },
		"one twice":               func(m *hbasev1.MultiResponse) { m.Region[0].Action[1].Index = proto.Uint32(1) },
		"one beyond":              func(m *hbasev1.MultiResponse) { m.Region[0].Action[1].Index = proto.Uint32(3) },
		"one far beyond":          func(m *hbasev1.MultiResponse) { m.Region[0].Action[1].Index = proto.Uint32(1<<32 - 1) },
		"fewer cells":             func(m *hbasev1.MultiResponse) { m.Region[1].Action[0].Result.CellsInBlock = proto.Int32(0) },
		"more cells":              func(m *hbasev1.MultiResponse) { m.Region[1].Action[0].Result.CellsInBlock = proto.Int32(2) },
		"many cells":              func(m *hbasev1.MultiResponse) { m.Region[1].Action[0].Result.CellsInBlock = proto.Int32(1<<31 - 1) },
		"less than no cells":      func(m *hbasev1.MultiResponse) { m.Region[1].Action[0].Result.CellsInBlock = proto.Int32(-1) },
		"cells of one refused":    func(m *hbasev1.MultiResponse) { m.Region[1].Exception = &hbasev1.NamedBytes{} },
		"the truth, as a control": func(*hbasev1.MultiResponse) {},
	} {
		var m hbasev1.MultiResponse
		if err := proto.Unmarshal(unhex(t, multiAnswerHex), &m); err != nil {
			t.Fatal(err)
		}
		lie(&m)
		message, err := proto.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseMulti(&Response{Message: message, Cells: unhex(t, multiCellsHex)}, recordedMulti(t))
		if truth := strings.HasPrefix(name, "the truth"); truth != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseMulti(&Response{Message: []byte{0x0a}}, &Multi{}); err == nil {
		t.Error("a message that is none: no error")
	}
}

// FuzzMulti: whatever comes is understood, each action with its answer and cells
// within the block, or refused.
func FuzzMulti(f *testing.F) {
	f.Add(unhex(f, multiAnswerHex), unhex(f, multiCellsHex))
	f.Add(unhex(f, `0a16 0a08 0801 1204 10022000 0a04 0802 1200 0a04 0800 1200 0a08 1206 0a01 61 1201 62`), []byte{})
	f.Fuzz(func(t *testing.T, message, cells []byte) {
		m := recordedMulti(t)
		answers, err := ParseMulti(&Response{Message: message, Cells: cells}, m)
		if err != nil {
			return
		}
		size := 0
		for i := range m.Regions {
			if len(answers[i]) != len(m.Regions[i].Actions) {
				t.Fatalf("region %d: %d answers to %d actions", i, len(answers[i]), len(m.Regions[i].Actions))
			}
			for _, a := range answers[i] {
				for _, c := range a.Cells {
					size += len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
				}
			}
		}
		if size > len(message)+len(cells) {
			t.Errorf("%d bytes of cells from %d and %d", size, len(message), len(cells))
		}
	})
}
