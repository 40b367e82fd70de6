package cluster

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

type message = proto.Message

// metaRegion is the name of hbase:meta's only region.
const metaRegion = "hbase:meta,,1"

// Find returns the region that covers a row, if it is known, or nil.
func (c *Cluster) Find(row []byte) *Region { return find(*c.regions.Load(), row) }

// Locate returns the region that covers a row, and asks where it is if that is
// not known.
func (c *Cluster) Locate(ctx context.Context, row []byte) (*Region, error) {
	if r := c.Find(row); r != nil {
		return r, nil
	}
	c.looking.Lock()
	defer c.looking.Unlock()
	if r := c.Find(row); r != nil {
		return r, nil // others have asked meanwhile
	}
	c.lookups.Add(1)
	p, err := c.lookUp(ctx, row)
	if err != nil {
		return nil, fmt.Errorf("find the region of row %q: %w", row, err)
	}
	r, err := c.region(p)
	if err != nil {
		return nil, err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	known := with(*c.regions.Load(), r)
	c.regions.Store(&known)
	return r, nil
}

// Forget forgets where a region is.
func (c *Cluster) Forget(r *Region) { c.replace(r, nil) }

// Moved takes a server's word that a region has moved to an address.
func (c *Cluster) Moved(r *Region, address string) {
	s, err := c.server(address)
	if err != nil || s == r.Server {
		c.Forget(r)
		return
	}
	moved := *r
	moved.Server = s
	c.replace(r, &moved)
}

// replace puts a region in the place of one, if that is still known.
func (c *Cluster) replace(old, fresh *Region) {
	c.changing.Lock()
	defer c.changing.Unlock()
	known := *c.regions.Load()
	changed := make([]*Region, 0, len(known))
	for _, r := range known {
		switch {
		case r != old:
			changed = append(changed, r)
		case fresh != nil:
			changed = append(changed, fresh)
		}
	}
	c.regions.Store(&changed)
}

// lookUp asks hbase:meta for the region of a row.
func (c *Cluster) lookUp(ctx context.Context, row []byte) (*place, error) {
	// Its rows are TABLE,START,ID.HASH. and sorted by each part. Backwards from
	// behind every ID with the start "row" comes the region that covers it.
	table := c.metaTable()
	scan := &hbasev1.Scan{
		Columns:  []*hbasev1.Columns{{Family: []byte("info")}},
		StartRow: append(append(append(table, ','), row...), ",:"...), StopRow: append(c.metaTable(), ",,"...),
		IncludeStop: proto.Bool(true), Reversed: proto.Bool(true), Caching: proto.Uint32(1),
	}
	var found []*place
	err := c.askMeta(ctx, &hbasev1.ScanRequest{Scan: scan, Rows: proto.Uint32(1), Limit: proto.Uint32(1), Close: proto.Bool(true)}, &found)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no table %q: %w", c.config.Table, errNoRegion)
	}
	p := found[0]
	if r := (Region{Start: p.info.GetStartKey(), End: p.info.GetEndKey()}); !p.current() || !proto.Equal(p.info.GetTable(), &c.table) || !r.Covers(row) {
		return nil, errNoRegion
	}
	return p, nil
}

func (c *Cluster) metaTable() []byte {
	if string(c.table.GetNamespace()) == "default" {
		return bytes.Clone(c.table.GetName())
	}
	return append(append(bytes.Clone(c.table.GetNamespace()), ':'), c.table.GetName()...)
}

// metaRows is how many regions are asked for at a time.
const metaRows = 500

// places lists all regions of the table that are there.
func (c *Cluster) places(ctx context.Context) ([]*place, error) {
	// A start of "TABLE," would miss the first region.
	start, stop := append(c.metaTable(), ",,"...), append(c.metaTable(), " ,,"...)
	var all []*place
	for include := true; ; include = false {
		scan := &hbasev1.Scan{
			Columns: []*hbasev1.Columns{{Family: []byte("info")}}, StartRow: start, StopRow: stop, IncludeStart: &include,
		}
		var found []*place
		request := &hbasev1.ScanRequest{Scan: scan, Rows: proto.Uint32(metaRows), Limit: proto.Uint32(metaRows), Close: proto.Bool(true)}
		if err := c.askMeta(ctx, request, &found); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
		all = append(all, found...)
		start = found[len(found)-1].row
	}
	current := all[:0]
	for _, p := range all {
		if p.current() && proto.Equal(p.info.GetTable(), &c.table) {
			current = append(current, p)
		}
	}
	return current, nil
}

// Load learns all regions of the table and connects to all their servers.
func (c *Cluster) Load(ctx context.Context) error {
	return c.persist(ctx, func() error { return c.load(ctx) })
}

func (c *Cluster) load(ctx context.Context) error {
	places, err := c.places(ctx)
	if err != nil {
		return fmt.Errorf("list the regions of %q: %w", c.config.Table, err)
	}
	var known []*Region
	for _, p := range places {
		r, err := c.region(p)
		if err != nil {
			return err
		}
		if err := r.Server.connectAll(ctx); err != nil {
			return err
		}
		known = with(known, r)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	c.regions.Store(&known)
	return nil
}

// askMeta scans hbase:meta.
func (c *Cluster) askMeta(ctx context.Context, request *hbasev1.ScanRequest, found *[]*place) error {
	request.Region = &hbasev1.RegionName{Kind: proto.Uint32(1), Value: []byte(metaRegion)}
	s, err := c.metaServer(ctx)
	if err != nil {
		return fmt.Errorf("find the server of hbase:meta: %w", err)
	}
	conn, err := s.Connect(ctx, 0)
	if err == nil {
		err = conn.AskRows(ctx, request, func(r *wire.Response) error { return placesIn(r, found) })
	}
	if err != nil {
		c.mu.Lock()
		c.meta = nil // it may have moved
		c.mu.Unlock()
	}
	return err
}

func (c *Cluster) metaServer(ctx context.Context) (*Server, error) {
	c.mu.Lock()
	s := c.meta
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	address, err := c.config.Registry.Meta(ctx)
	if err != nil {
		return nil, err
	}
	if s, err = c.server(address); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.meta = s
	c.mu.Unlock()
	return s, nil
}

// placesIn reads the rows in an answer.
func placesIn(r *wire.Response, found *[]*place) error {
	var rows wire.Rows
	if err := rows.ParseScan(r); err != nil {
		return err
	}
	*found = nil
	var cell wire.Cell
	for {
		first, ok, err := rows.Next(&cell)
		if err != nil || !ok {
			return err
		}
		if first {
			*found = append(*found, &place{})
		}
		if err := (*found)[len(*found)-1].take(&cell); err != nil {
			return err
		}
	}
}
