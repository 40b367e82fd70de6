package thin

import (
	"context"
	"fmt"
	"math"
)

// Query is a statement of SQL with its parameters.
type Query struct {
	Text string
	Args []any
	// Page is the number of rows that come at a time; the default is 1024.
	Page int32
	// Distributed joins rows whose keys are on different nodes; without it such
	// rows are missing from the result, silently.
	Distributed bool
}

// defaultPage is the number of rows in a page.
const defaultPage = 1024

// AppendQuery appends the body of OpQuery up to the parameters, which follow as
// objects, and behind them what AppendQueryEnd appends. The cache's own schema
// is the one of unqualified tables.
func (c *Cache) AppendQuery(dst []byte, text string, page int32, parameters int) []byte {
	dst = append(appendInt32(dst, c.id), 0)
	dst = AppendNull(dst)                         // the schema of the cache
	dst = appendInt32(appendInt32(dst, page), -1) // no limit on rows
	return appendInt32(AppendString(dst, text), int32(parameters))
}

// AppendQueryEnd appends the end of OpQuery's body.
func AppendQueryEnd(dst []byte, distributed bool) []byte {
	dst = append(dst, 0) // any kind of statement
	dst = appendBool(dst, distributed)
	// Neither local, nor of replicated caches only, nor in the order of the text,
	// nor collocated, nor lazy: the statements here say how many rows they want.
	dst = append(dst, 0, 0, 0, 0, 0)
	dst = appendInt64(dst, 0) // the server's timeout
	return append(dst, 0)     // no names of columns
}

// ReadPage reads what an answer to OpQuery begins with: the cursor, the number
// of columns, and the number of rows in this page, whose values follow. Behind
// them a byte tells whether there are more pages.
func ReadPage(d *Decoder) (cursor int64, columns, rows int) {
	cursor = d.Int64()
	columns = int(d.Int32())
	if d.Err() == nil && (columns < 0 || columns > math.MaxInt16) {
		d.fail(fmt.Sprintf("%d columns", columns))
		columns = 0
	}
	return cursor, columns, d.Count(max(columns, 1))
}

// AppendCursor appends the body of OpQueryPage and of OpClose.
func AppendCursor(dst []byte, cursor int64) []byte { return appendInt64(dst, cursor) }

// Rows is the result of a query, a page at a time. It must be closed unless it
// was read to its end.
type Rows struct {
	client  *Client
	conn    *conn
	cursor  int64
	columns int
	left    int
	page    Decoder
	more    bool
	err     error
	row     []any
}

// Query runs a statement on a cache's tables.
func (c *Cache) Query(ctx context.Context, q Query) (*Rows, error) {
	page := q.Page
	if page <= 0 {
		page = defaultPage
	}
	body := c.AppendQuery(nil, q.Text, page, len(q.Args))
	var err error
	for _, v := range q.Args {
		if body, err = AppendValue(body, v); err != nil {
			return nil, err
		}
	}
	body = AppendQueryEnd(body, q.Distributed)
	w := newWaiter()
	t := c.client.dispatch(nil, &request{op: OpQuery, body: body}, w)
	a, err := w.wait(ctx)
	if err != nil {
		if a == nil && t.conn != nil {
			t.conn.leave(t.id)
		}
		return nil, fmt.Errorf("query %q: %w", q.Text, err)
	}
	r := &Rows{client: c.client, conn: t.conn, page: a.Decoder}
	r.cursor, r.columns, r.left = ReadPage(&r.page)
	return r, r.settle()
}

// settle reads whether more pages follow, once the rows of one are read.
func (r *Rows) settle() error {
	if r.left == 0 && r.err == nil {
		r.more = r.page.Bool()
		r.err = r.page.Err()
	}
	return r.err
}

// Next reads a row; false at the end and after an error.
func (r *Rows) Next(ctx context.Context) bool {
	for r.err == nil && r.left == 0 && r.more {
		a, err := r.conn.ask(ctx, OpQueryPage, AppendCursor(nil, r.cursor))
		if err != nil {
			r.err = fmt.Errorf("read a page: %w", err)
			return false
		}
		r.page = a.Decoder
		r.left = r.page.Count(max(r.columns, 1))
		r.settle()
	}
	if r.err != nil || r.left == 0 {
		return false
	}
	r.row = make([]any, r.columns)
	for i := range r.row {
		r.row[i] = r.page.Value()
	}
	r.err = r.page.Err()
	r.left--
	r.settle()
	return r.err == nil
}

// Row returns the values of the row that was read last.
func (r *Rows) Row() []any { return r.row }

// Err returns why Next has stopped, nil at the end.
func (r *Rows) Err() error { return r.err }

// Close tells the server that no more pages are asked for.
func (r *Rows) Close(ctx context.Context) error {
	if !r.more {
		return nil
	}
	r.more = false
	if _, err := r.conn.ask(ctx, OpClose, AppendCursor(nil, r.cursor)); err != nil {
		return fmt.Errorf("close a cursor: %w", err)
	}
	return nil
}

// ask sends a request on this connection and waits for the answer.
func (c *conn) ask(ctx context.Context, op Op, body []byte) (*Answer, error) {
	w := newWaiter()
	t, err := c.send(&request{op: op, body: body}, w)
	if err != nil {
		return nil, err
	}
	a, err := w.wait(ctx)
	if a == nil {
		c.leave(t.id)
	}
	return a, err
}
