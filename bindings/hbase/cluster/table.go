package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/rpc"
	hbasev1 "pianola/proto/hbase/v1"
)

// States of a table.
const (
	tableEnabled = 0
)

// Schema returns whether the table is there, and its families.
func (c *Cluster) Schema(ctx context.Context) (exists bool, families []string, err error) {
	var found hbasev1.GetTableDescriptorsResponse
	err = c.ask(ctx, "GetTableDescriptors", &hbasev1.GetTableDescriptorsRequest{Table: []*hbasev1.Table{&c.table}}, &found)
	if err != nil || len(found.Schema) == 0 {
		return false, nil, err
	}
	for _, f := range found.Schema[0].Family {
		families = append(families, string(f.GetName()))
	}
	return true, families, nil
}

// Enabled reports whether the table is served.
func (c *Cluster) Enabled(ctx context.Context) (bool, error) {
	var state hbasev1.GetTableStateResponse
	err := c.ask(ctx, "GetTableState", &hbasev1.TableRequest{Table: &c.table}, &state)
	return state.GetState().GetState() == tableEnabled, err
}

// Create creates the table with one family, split before the given rows; the
// server splits it further on its own only if autoSplit is set. A table that is
// there already is left as it is.
func (c *Cluster) Create(ctx context.Context, family string, splits [][]byte, autoSplit bool) error {
	schema := &hbasev1.Schema{Table: &c.table, Family: []*hbasev1.Family{{Name: []byte(family)}}}
	if !autoSplit {
		schema.Attribute = []*hbasev1.Attribute{{
			Name: []byte("SPLIT_POLICY"), Value: []byte("org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy"),
		}}
	}
	request := &hbasev1.CreateTableRequest{Schema: schema, SplitKey: splits}
	err := c.run(ctx, "CreateTable", request)
	var remote *rpc.RemoteError
	if errors.As(err, &remote) && remote.Name == "TableExistsException" {
		return nil
	}
	return err
}

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

// procedurePause is between questions how far the master has come.
const procedurePause = 20 * time.Millisecond

// run has the master do something and waits until it is done.
func (c *Cluster) run(ctx context.Context, method string, request message) error {
	var procedure hbasev1.Procedure
	if err := c.ask(ctx, method, request, &procedure); err != nil {
		return err
	}
	for {
		var result hbasev1.GetProcedureResultResponse
		if err := c.ask(ctx, "getProcedureResult", &procedure, &result); err != nil {
			return err
		}
		const running = 1
		if result.GetState() != running {
			return procedureError(method, &result)
		}
		timer := time.NewTimer(procedurePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%s: %w", method, ctx.Err())
		}
	}
}

func procedureError(method string, result *hbasev1.GetProcedureResultResponse) error {
	if result.Exception == nil {
		return nil
	}
	x := result.Exception.GetGeneric()
	return fmt.Errorf("%s: %w", method, rpc.NamedError(x.GetClassName(), x.GetMessage()))
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
