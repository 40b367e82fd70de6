package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

// Region is a range of rows and the server that serves it. It never changes:
// one that moves becomes another.
type Region struct {
	// Name is its name as requests hold it.
	Name []byte
	// Start is the first row, End the one behind the last; empty is none.
	Start, End []byte
	Server     *Server

	info *hbasev1.Region
	row  []byte // of hbase:meta, which is the full name
}

// Covers reports whether a row is in the region.
func (r *Region) Covers(row []byte) bool {
	return bytes.Compare(row, r.Start) >= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0)
}

// find returns the region that covers a row, or nil.
func find(regions []*Region, row []byte) *Region {
	// The last that starts at or before the row.
	low, high := 0, len(regions)
	for low < high {
		middle := int(uint(low+high) / 2)
		if bytes.Compare(regions[middle].Start, row) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 || !regions[low-1].Covers(row) {
		return nil
	}
	return regions[low-1]
}

// overlap reports whether two regions have rows in common.
func overlap(a, b *Region) bool {
	return (len(a.End) == 0 || bytes.Compare(b.Start, a.End) < 0) && (len(b.End) == 0 || bytes.Compare(a.Start, b.End) < 0)
}

// with returns the regions with another in place of those that it overlaps.
func with(regions []*Region, r *Region) []*Region {
	changed := slices.DeleteFunc(slices.Clone(regions), func(old *Region) bool { return overlap(old, r) })
	at := sort.Search(len(changed), func(i int) bool { return bytes.Compare(changed[i].Start, r.Start) > 0 })
	return slices.Insert(changed, at, r)
}

// place is what a row of hbase:meta says.
type place struct {
	row    []byte
	info   *hbasev1.Region
	server string // "host:port", or "" if it is nowhere
	state  string
}

// magic begins values of protobuf in hbase:meta and in ZooKeeper.
const magic = "PBUF"

// take adds a cell of a row; its bytes are copied.
func (p *place) take(c *wire.Cell) error {
	if p.row == nil {
		p.row = bytes.Clone(c.Row)
	}
	switch string(c.Qualifier) {
	case "regioninfo":
		text, ok := bytes.CutPrefix(c.Value, []byte(magic))
		if !ok {
			return fmt.Errorf("hbase:meta, row %q: the region is %q, which begins with no %s", c.Row, c.Value, magic)
		}
		p.info = new(hbasev1.Region)
		if err := proto.Unmarshal(text, p.info); err != nil {
			return fmt.Errorf("hbase:meta, row %q: %w", c.Row, err)
		}
	case "server":
		p.server = string(c.Value)
	case "state":
		p.state = string(c.Value)
	}
	return nil
}

// current reports whether it is of a region that is there: not of one that was
// split, and not of another copy of one.
func (p *place) current() bool {
	return p.info != nil && !p.info.GetSplit() && !p.info.GetOffline() && p.info.GetReplica() == 0
}

// errNoRegion is what a row has that no region covers, which passes.
var errNoRegion = errors.New("no region of it is served just now")

// check returns an error if nobody serves the region.
func (p *place) check() error {
	if p.server == "" {
		state := p.state
		if state == "" {
			state = "unknown"
		}
		return fmt.Errorf("region %q is on no server, its state is %s: %w", shortName(p.row), strings.ToLower(state), errNoRegion)
	}
	return nil
}

// shortName returns the hash of a region's full name, by which logs call it.
func shortName(row []byte) string {
	if n := len(row) - hashLength - 1; n > 0 && row[n+hashLength] == '.' {
		return string(row[n : n+hashLength])
	}
	return string(row)
}

const hashLength = 32

func (c *Cluster) region(p *place) (*Region, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s, err := c.server(p.server)
	if err != nil {
		return nil, err
	}
	return &Region{
		Name: wire.RegionName(p.row), Start: p.info.GetStartKey(), End: p.info.GetEndKey(), Server: s, info: p.info, row: p.row,
	}, nil
}
