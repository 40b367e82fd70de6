package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

func region(start, end string) *Region {
	return &Region{Start: []byte(start), End: []byte(end)}
}

func text(regions []*Region) string {
	var s []string
	for _, r := range regions {
		s = append(s, fmt.Sprintf("%s-%s", r.Start, r.End))
	}
	return strings.Join(s, " ")
}

func TestRegionsThatChange(t *testing.T) {
	var known []*Region
	for _, step := range []struct {
		start, end string
		want       string
	}{
		{"", "", "-"},
		{"", "m", "-m"}, // a split: the other half is not known
		{"m", "", "-m m-"},
		{"m", "t", "-m m-t"},
		{"t", "", "-m m-t t-"},
		{"c", "d", "c-d m-t t-"},
		{"", "t", "-t t-"}, // a merge
	} {
		if known = with(known, region(step.start, step.end)); text(known) != step.want {
			t.Fatalf("with %s-%s: %s, want %s", step.start, step.end, text(known), step.want)
		}
	}
}

// TestFindAgainstAll compares with looking at every region, with gaps.
func TestFindAgainstAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	key := func() string { return fmt.Sprint(random.IntN(100)) }
	for range 300 {
		var known []*Region
		for range random.IntN(10) {
			a, b := key(), key()
			if a > b {
				a, b = b, a
			}
			if random.IntN(5) == 0 {
				b = ""
			}
			if a != b {
				known = with(known, region(a, b))
			}
		}
		for range 50 {
			row := []byte(key())
			var want *Region
			for _, r := range known {
				if r.Covers(row) {
					want = r
				}
			}
			if got := find(known, row); got != want {
				t.Fatalf("row %q in %s: %v, want %v", row, text(known), got, want)
			}
		}
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	c := New(Config{Table: "t"})
	known := []*Region{region("", "m"), region("m", "")}
	c.regions.Store(&known)
	if n := testing.AllocsPerRun(100, func() {
		if c.Find([]byte("x")) != known[1] {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestForgetAndMoved(t *testing.T) {
	c := New(Config{Table: "t", Connections: 2})
	s, err := c.server("a:1")
	if err != nil {
		t.Fatal(err)
	}
	r := region("", "m")
	r.Server = s
	known := []*Region{r, region("m", "")}
	known[1].Server = s
	c.regions.Store(&known)
	c.Moved(r, "b:2")
	moved := c.Find([]byte("a"))
	if moved == r || moved.Server.Address != "b:2" || len(c.Servers()) != 2 {
		t.Errorf("moved to %v, servers %v", moved.Server.Address, c.Servers())
	}
	c.Forget(r) // is known no more
	if c.Find([]byte("a")) != moved {
		t.Error("another region than the one meant was forgotten")
	}
	c.Moved(moved, "b:2") // it says that it is where it isn't
	if c.Find([]byte("a")) != nil || c.Regions() != 1 {
		t.Error("a region that moved to where it was is still known")
	}
	c.Close()
	if _, err := c.server("c:3"); err != errClosed {
		t.Errorf("after Close: %v", err)
	}
	if _, err := s.Connect(t.Context(), 0); err != errClosed {
		t.Errorf("connect after Close: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	name := tableName("n:t")
	table := &name
	info, err := proto.Marshal(&hbasev1.Region{Id: proto.Uint64(7), Table: table, StartKey: []byte("a"), EndKey: []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	const row = "n:t,a,7.0123456789abcdef0123456789abcdef."
	cell := func(column, value string) *wire.Cell {
		return &wire.Cell{Row: []byte(row), Qualifier: []byte(column), Value: []byte(value)}
	}
	var p place
	for _, c := range []*wire.Cell{cell("regioninfo", magic+string(info)), cell("state", "OPENING"), cell("seqnumDuringOpen", "x")} {
		if err := p.take(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.check(); !errors.Is(err, errNoRegion) || !Passes(err) || !strings.Contains(err.Error(), `"0123456789abcdef0123456789abcdef"`) || !strings.Contains(err.Error(), "opening") {
		t.Errorf("a region on no server: %v", err)
	}
	if err := p.take(cell("server", "h:1")); err != nil || p.check() != nil || !p.current() || !bytes.Equal(p.info.Table.Name, []byte("t")) {
		t.Errorf("%v, %+v", err, p)
	}
	for _, value := range []string{"", "PBU", magic + "\xff"} {
		if err := p.take(cell("regioninfo", value)); err == nil {
			t.Errorf("a region %q: no error", value)
		}
	}
	if got := shortName([]byte(metaRegion)); got != metaRegion {
		t.Errorf("meta's short name is %q", got)
	}
}

// node is what HBase writes into ZooKeeper.
func node(t testing.TB, m message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	const name = "master:16000"
	head := binary.BigEndian.AppendUint32([]byte{0xff}, uint32(len(name)))
	return append(append(append(head, name...), magic...), b...)
}

func TestNodes(t *testing.T) {
	good := node(t, &hbasev1.MasterNode{Server: &hbasev1.Server{Host: proto.String("h"), Port: proto.Uint32(7)}})
	var m hbasev1.MasterNode
	if err := parseNode(good, &m); err != nil || m.Server.GetHost() != "h" {
		t.Errorf("%v, %v", &m, err)
	}
	for n := range good[:len(good)-2] {
		if err := parseNode(good[:n], new(hbasev1.MasterNode)); err == nil && n != 21 { // 21: nothing behind the magic
			t.Errorf("the first %d bytes: no error", n)
		}
	}
	for address, s := range map[string]*hbasev1.Server{
		"h:7": m.Server, "": nil, "[::1]:9": {Host: proto.String("::1"), Port: proto.Uint32(9)},
	} {
		if got, ok := addressOf(s); got != address || ok != (address != "") {
			t.Errorf("address of %v: %q", s, got)
		}
	}
	if _, ok := addressOf(&hbasev1.Server{Host: proto.String("h"), Port: proto.Uint32(70000)}); ok {
		t.Error("a port of 70000 is taken")
	}
}

// FuzzZooKeeper: whatever an answer or a node holds, it is read or refused.
func FuzzZooKeeper(f *testing.F) {
	good := node(f, &hbasev1.MetaRegionNode{Server: &hbasev1.Server{Host: proto.String("h"), Port: proto.Uint32(7)}})
	head := append(make([]byte, 16), 0, 0, 0, byte(len(good)))
	f.Add(append(head, good...))
	f.Add(binary.BigEndian.AppendUint32(make([]byte, 12), 0xffffff9b)) // -101
	f.Add(append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, answer []byte) {
		content, err := zkContent(answer)
		if err != nil {
			return
		}
		if len(content) > len(answer)-20 {
			t.Errorf("%d bytes of an answer of %d", len(content), len(answer))
		}
		var m hbasev1.MetaRegionNode
		if parseNode(content, &m) == nil {
			addressOf(m.Server)
		}
	})
}
