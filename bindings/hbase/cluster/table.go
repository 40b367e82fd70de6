package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pianola/bindings/hbase/rpc"
	hbasev1 "pianola/proto/hbase/v1"
)

// tableEnabled is the state of a table that is served.
const tableEnabled = 0

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
