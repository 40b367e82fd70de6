package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/rpc"
	hbasev1 "pianola/proto/hbase/v1"
)

// What follows is done to a cluster by who looks after it, and by tests; a run
// never does it.

// Drop removes the table, if it is there.
func (c *Cluster) Drop(ctx context.Context) error {
	var remote *rpc.RemoteError
	err := c.run(ctx, "DisableTable", &hbasev1.TableRequest{Table: &c.table})
	switch {
	case errors.As(err, &remote) && remote.Name == "TableNotFoundException":
		return nil
	case errors.As(err, &remote) && remote.Name == "TableNotEnabledException":
	case err != nil:
		return err
	}
	if err := c.run(ctx, "DeleteTable", &hbasev1.TableRequest{Table: &c.table}); err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	c.regions.Store(new([]*Region))
	return nil
}

// MoveRegion has the region of a row served by another server, "host:port", and
// returns when it is, or when the master has found it a place if address is "".
func (c *Cluster) MoveRegion(ctx context.Context, row []byte, address string) error {
	r, err := c.Locate(ctx, row)
	if err != nil {
		return err
	}
	const byHash = 2
	request := &hbasev1.MoveRegionRequest{Region: &hbasev1.RegionName{Kind: proto.Uint32(byHash), Value: []byte(shortName(r.row))}}
	if address != "" {
		if request.To, err = c.serverName(ctx, address); err != nil {
			return err
		}
	}
	// Its answer is empty.
	return c.ask(ctx, "MoveRegion", request, &hbasev1.Table{})
}

// Live returns the addresses of the region servers that the master knows.
func (c *Cluster) Live(ctx context.Context) ([]string, error) {
	names, err := c.live(ctx)
	var list []string
	for _, s := range names {
		if address, ok := addressOf(s); ok {
			list = append(list, address)
		}
	}
	return list, err
}

func (c *Cluster) live(ctx context.Context) ([]*hbasev1.Server, error) {
	var status hbasev1.GetClusterStatusResponse
	err := c.ask(ctx, "GetClusterStatus", &hbasev1.GetClusterStatusRequest{Option: []uint32{optionServers}}, &status)
	return status.GetStatus().GetServer(), err
}

// serverName returns the full name of a server.
func (c *Cluster) serverName(ctx context.Context, address string) (*hbasev1.Server, error) {
	names, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range names {
		if a, ok := addressOf(s); ok && a == address {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no region server at %s", address)
}

// SplitRegion splits the region of a row before another row.
func (c *Cluster) SplitRegion(ctx context.Context, row, at []byte) error {
	r, err := c.Locate(ctx, row)
	if err != nil {
		return err
	}
	if bytes.Equal(r.Start, at) || !r.Covers(at) {
		return fmt.Errorf("a region from %q to %q can't be split before %q", r.Start, r.End, at)
	}
	return c.run(ctx, "SplitRegion", &hbasev1.SplitRegionRequest{Region: r.info, At: at})
}
