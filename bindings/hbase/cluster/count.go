package cluster

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

// countRows is how many rows an answer brings while they are counted.
const countRows = 5000

// Count counts the rows with a value in a family, region by region. Servers send
// the key of one cell of each.
func (c *Cluster) Count(ctx context.Context, family string) (uint64, error) {
	n := uint64(0)
	// A scan that is cut off goes on behind the last row that was counted.
	start, behind := []byte{}, false
	for {
		var end []byte
		err := c.persist(ctx, func() error {
			r, err := c.Locate(ctx, start)
			if err != nil {
				return err
			}
			end = r.End
			err = c.countRegion(ctx, r, family, &n, &start, &behind)
			if isElsewhere(err) {
				c.Forget(r)
			}
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("count the rows of %q: %w", c.config.Table, err)
		}
		if len(end) == 0 {
			return n, nil
		}
		start, behind = end, false
	}
}

func isElsewhere(err error) bool {
	var remote *rpc.RemoteError
	return errors.As(err, &remote) && remote.Elsewhere()
}

// countRegion counts the rows of a region from start on, by a scanner.
func (c *Cluster) countRegion(ctx context.Context, r *Region, family string, n *uint64, start *[]byte, behind *bool) error {
	conn, err := r.Server.Connect(ctx, 0)
	if err != nil {
		return err
	}
	request := &hbasev1.ScanRequest{
		Region: &hbasev1.RegionName{Kind: proto.Uint32(1), Value: r.row},
		Scan: &hbasev1.Scan{
			Columns: []*hbasev1.Columns{{Family: []byte(family)}}, StartRow: *start, IncludeStart: proto.Bool(!*behind),
			Filter: oneKeyOfEachRow,
		},
		Rows: proto.Uint32(countRows), HandlesPartials: proto.Bool(true), HandlesHeartbeats: proto.Bool(true),
	}
	for sequence := uint64(0); ; sequence++ {
		var rows wire.Rows
		if err := conn.AskRows(ctx, request, func(r *wire.Response) error { return countIn(r, &rows, n, start, behind) }); err != nil {
			return err
		}
		if !rows.MoreInRegion {
			break
		}
		request = &hbasev1.ScanRequest{
			Scanner: proto.Uint64(rows.Scanner), Rows: proto.Uint32(countRows), NextCallSeq: proto.Uint64(sequence),
			HandlesPartials: proto.Bool(true), HandlesHeartbeats: proto.Bool(true),
		}
	}
	// A scanner at the end of its region is closed by the server.
	return nil
}

// countIn counts the rows in an answer and notes the last.
func countIn(r *wire.Response, rows *wire.Rows, n *uint64, start *[]byte, behind *bool) error {
	if err := rows.ParseScan(r); err != nil {
		return err
	}
	var cell wire.Cell
	for {
		first, ok, err := rows.Next(&cell)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if first {
			*n++
			*start, *behind = append((*start)[:0:0], cell.Row...), true
		}
	}
}

// oneKeyOfEachRow is the filter that lets the first cell of each row pass,
// without its value.
var oneKeyOfEachRow = func() *hbasev1.Filter {
	const filters = "org.apache.hadoop.hbase.filter."
	named := func(name string, content message) *hbasev1.Filter {
		b, err := proto.Marshal(content)
		if err != nil {
			panic("cluster: internal error: " + err.Error())
		}
		return &hbasev1.Filter{Name: proto.String(filters + name), Serialized: b}
	}
	return named("FilterList", &hbasev1.FilterList{
		Operator: proto.Uint32(1), // all
		Filter: []*hbasev1.Filter{
			named("FirstKeyOnlyFilter", &hbasev1.FilterList{}), // whose message is empty
			named("KeyOnlyFilter", &hbasev1.KeyOnlyFilter{LengthAsValue: proto.Bool(false)}),
		},
	})
}()
