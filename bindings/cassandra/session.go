package cassandra

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"pianola/bindings"
	"pianola/traces"
)

// session runs one operation at a time, with what it is made of in memory of
// its own.
type session struct {
	binding *binding
	// queries are those that this slot has run.
	queries map[*statement]*gocql.Query
	params  []param
	values  []any
	limit   [4]byte
	bucket  [4]byte
	row     row
	context operation
	// pauses counts the operations since the last that reached a node.
	pauses int
}

// operation is the context of an operation: by it the driver's own requests are
// told from ours.
type operation struct{ context.Context }

func newSession(b *binding) *session {
	s := &session{binding: b, queries: map[*statement]*gocql.Query{}}
	s.grow(len(b.statements.fields) + 2)
	return s
}

// Close has nothing to do: the connections are the binding's.
func (s *session) Close() error { return nil }

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	b := s.binding
	if op.Deadline > 0 {
		left := op.Deadline - b.config.Clock.Now()
		if left <= 0 {
			return context.DeadlineExceeded
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	s.context.Context = ctx
	defer func() { s.context.Context = nil }()
	if b.streams.full() {
		b.refused.Add(1)
		return s.pause(ctx, &errFull)
	}
	err := s.do(op)
	if errors.Is(err, gocql.ErrNoConnections) {
		b.held.Add(1)
		return s.pause(ctx, err)
	}
	s.pauses = 0
	return err
}

// errFull is the answer to an operation that is too many.
var errFull = bindings.Error{Class: bindings.Overloaded, Err: errors.New("as many requests are unanswered as cassandra.inflight permits")}

// Pauses before the answer to an operation that no node was asked: they double
// while a slot meets nothing else.
const (
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// pause waits before it returns err, so that a slot that gets nowhere doesn't
// spin.
func (s *session) pause(ctx context.Context, err error) error {
	wait := min(longestPause, firstPause<<min(s.pauses, 10))
	s.pauses++
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return err
}

func (s *session) do(op *bindings.Op) error {
	st := s.binding.statements
	switch op.Kind {
	case traces.Read:
		return s.read(op)
	case traces.Scan:
		return s.scan(op)
	case traces.Update:
		return s.update(op)
	case traces.ReadModifyWrite:
		if err := s.read(op); err != nil {
			return err
		}
		op.ReadEnded = s.binding.config.Clock.Now()
		return s.update(op)
	case traces.Insert:
		s.begin(len(op.Write))
		s.bindKey(op.Key)
		s.bindFields(op.Write)
		return s.write(st.forInsert(op.Write))
	case traces.Delete:
		s.begin(0)
		s.bindKey(op.Key)
		return s.write(st.delete)
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("cassandra has no operation %v", op.Kind)}
}

func (s *session) update(op *bindings.Op) error {
	if len(op.Write) == 0 {
		return nil
	}
	s.begin(len(op.Write))
	s.bindFields(op.Write)
	s.bindKey(op.Key)
	return s.write(s.binding.statements.forUpdate(op.Write))
}

func (s *session) read(op *bindings.Op) error {
	s.begin(0)
	s.bindKey(op.Key)
	iter := s.query(s.binding.statements.forRead(op.Read)).Iter()
	s.row.columns(iter)
	found := false
	for s.row.next(iter) {
		found = true
		s.row.give(op.Rows, op.Key)
	}
	switch err := iter.Close(); {
	case err != nil:
		return classed(err)
	case !found:
		return bindings.ErrNotFound
	}
	return nil
}

func (s *session) scan(op *bindings.Op) error {
	if op.ScanLength <= 0 {
		return nil
	}
	s.begin(0)
	s.bind(op.Key)
	binary.BigEndian.PutUint32(s.limit[:], uint32(op.ScanLength))
	s.bind(s.limit[:])
	query := s.query(s.binding.statements.forScan(op.Read))
	if s.binding.settings.buckets == 0 {
		// All in one page, where the server gives as much in one.
		query.PageSize(op.ScanLength)
	}
	iter := query.Iter()
	s.row.columns(iter)
	for s.row.next(iter) {
		s.row.give(op.Rows, s.row.key())
	}
	return classed(iter.Close())
}

func (s *session) write(st *statement) error {
	query := s.query(st)
	query.WithTimestamp(s.binding.times.next())
	return classed(query.Iter().Close())
}

// query returns a statement with the parameters bound, ready to be run.
func (s *session) query(st *statement) *gocql.Query {
	q := s.queries[st]
	if q == nil {
		q = s.binding.newQuery(st)
		if st.kept {
			s.queries[st] = q
		}
	}
	return q.Bind(s.values...).WithContext(&s.context)
}

// newQuery returns a query of the statement. A query is used again by the slot
// that it is of, one operation after another.
func (b *binding) newQuery(st *statement) *gocql.Query {
	// Pages come when they are asked for, not ahead. The page size of 0 is for
	// statements that give one page, and that the server refuses to page.
	q := b.db.Query(st.text).Consistency(st.level).PageSize(0).Prefetch(0)
	if b.settings.tracing {
		q.Trace(tracer{})
	}
	return q
}

// tracer asks for traces; the server keeps them.
type tracer struct{}

func (tracer) Trace([]byte) {}

// param is a value of a statement, as bytes. That it marshals itself keeps it
// from being copied.
type param []byte

// MarshalCQL returns the bytes, whatever the column's type. Nil would mean null.
func (p *param) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	if *p == nil {
		return []byte{}, nil
	}
	return *p, nil
}

// grow makes room for n parameters.
func (s *session) grow(n int) {
	s.params, s.values = make([]param, n), make([]any, n)
	for i := range s.params {
		s.values[i] = &s.params[i]
	}
	s.params, s.values = s.params[:0], s.values[:0]
}

// begin makes room for a key and n fields.
func (s *session) begin(n int) {
	if n += 2; n > cap(s.params) {
		s.grow(n)
	}
	s.params, s.values = s.params[:0], s.values[:0]
}

func (s *session) bind(value []byte) {
	s.params = append(s.params, value)
	s.values = s.values[:len(s.params)]
}

func (s *session) bindKey(key []byte) {
	if n := s.binding.settings.buckets; n > 0 {
		binary.BigEndian.PutUint32(s.bucket[:], bucketOf(key, n))
		s.bind(s.bucket[:])
	}
	s.bind(key)
}

func (s *session) bindFields(write []bindings.Field) {
	for i := range write {
		s.bind(write[i].Value)
	}
}

// bucketOf returns the partition of a key in the layout clustered: its 32-bit
// FNV-1a hash modulo their number.
func bucketOf(key []byte, buckets int) uint32 {
	h := fnv.New32a()
	h.Write(key) // never fails
	return h.Sum32() % uint32(buckets)
}

// row takes the columns of one row where the driver has them, without a copy.
type row struct {
	data []column
	dest []any
	info []gocql.ColumnInfo
}

// column is a value until the next row is read; nil if it is null.
type column []byte

// UnmarshalCQL keeps the bytes, whatever the column's type.
func (c *column) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*c = data
	return nil
}

// columns prepares for the rows of a result.
func (r *row) columns(iter *gocql.Iter) {
	r.info = iter.Columns()
	if n := len(r.info); n > len(r.data) {
		r.data, r.dest = make([]column, n), make([]any, n)
		for i := range r.data {
			r.dest[i] = &r.data[i]
		}
	}
}

func (r *row) next(iter *gocql.Iter) bool {
	return len(r.info) > 0 && iter.Scan(r.dest[:len(r.info)]...)
}

// key returns the column with the key.
func (r *row) key() []byte {
	for i := range r.info {
		if r.info[i].Name == keyColumn {
			return r.data[i]
		}
	}
	return nil
}

// give hands the row on, without the columns that make the key and without
// those that are null: the record has no such field.
func (r *row) give(rows bindings.Rows, key []byte) {
	if rows == nil {
		return
	}
	rows.Row(key)
	for i := range r.info {
		name := r.info[i].Name
		if r.data[i] != nil && name != keyColumn && name != bucketColumn {
			rows.Field(name, r.data[i])
		}
	}
}

// timestamps are the microseconds of the wall clock, each given once.
type timestamps struct{ last atomic.Int64 }

func (t *timestamps) next() int64 {
	for {
		last := t.last.Load()
		next := max(last+1, time.Now().UnixMicro())
		if t.last.CompareAndSwap(last, next) {
			return next
		}
	}
}
