package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// contents sums up the records of a table in any order: SHA-256 of each,
// added up as numbers of 256 bits. A record's text is its key, then for each
// field that it has, in the order of the trace's header, the field's index and
// the value; lengths and the index are uvarints.
type contents struct {
	records uint64
	sum     [4]uint64
}

// add adds the hash of a record.
func (c *contents) add(record []byte) {
	hash := sha256.Sum256(record)
	var one contents
	one.records = 1
	for i := range one.sum {
		one.sum[i] = binary.LittleEndian.Uint64(hash[8*i:])
	}
	c.merge(&one)
}

func (c *contents) merge(o *contents) {
	c.records += o.records
	carry := uint64(0)
	for i := range c.sum {
		c.sum[i], carry = bits.Add64(c.sum[i], o.sum[i], carry)
	}
}

func (c *contents) result() *measure.Contents {
	var sum [32]byte
	for i, word := range c.sum {
		binary.LittleEndian.PutUint64(sum[8*i:], word)
	}
	return &measure.Contents{Records: c.records, Digest: fmt.Sprintf("%x", sum)}
}

// readers bounds the sessions that read a table back at a time.
const readers = 64

// readBack reads every key that the trace may have written, and adds the digest
// of the records to the result. It measures nothing.
func (r *run) readBack(ctx context.Context) error {
	totals, known := r.Trace.Totals()
	if !known {
		return nil // the run ended before a stream did
	}
	sessions, done, err := r.idleSessions(ctx)
	if err != nil {
		return fmt.Errorf("read the table back: %w", err)
	}
	defer done()
	var all sync.WaitGroup
	var mu sync.Mutex
	var sum contents
	var first error
	var next atomic.Uint64
	next.Store(r.Trace.Header().FirstKey)
	for _, s := range sessions {
		all.Go(func() {
			part, err := r.readKeys(ctx, s, &next, totals.FirstFreeKey)
			mu.Lock()
			defer mu.Unlock()
			sum.merge(part)
			if first == nil && err != nil {
				first = fmt.Errorf("read the table back: %w", err)
				next.Store(totals.FirstFreeKey)
			}
		})
	}
	all.Wait()
	if first != nil {
		return first
	}
	r.result.Contents = sum.result()
	return nil
}

// idleSessions returns sessions to read by, and what closes those that were
// opened for it.
func (r *run) idleSessions(ctx context.Context) ([]bindings.Session, func(), error) {
	var out []bindings.Session
	if exec, ok := r.exec.(*blocking); ok {
		for _, s := range r.slots {
			if !exec.hung[s] && len(out) < readers {
				out = append(out, s.session)
			}
		}
		return out, func() {}, nil
	}
	s, err := r.Binding.Session(ctx)
	if err != nil {
		return nil, nil, err
	}
	// What closing may say is of no account: nothing was written.
	return []bindings.Session{s}, func() { s.Close() }, nil
}

// readKeys reads keys by one session until next reaches limit.
func (r *run) readKeys(ctx context.Context, s bindings.Session, next *atomic.Uint64, limit uint64) (*contents, error) {
	h := r.Trace.Header()
	var sum contents
	rows := newRecordText(h)
	op := bindings.Op{Kind: traces.Read, Table: h.Table, Rows: rows}
	for n := next.Add(1) - 1; n < limit; n = next.Add(1) - 1 {
		op.Key = h.Keys.Append(op.Key[:0], n)
		op.Deadline = saturatingAdd(r.Clock.Now(), r.Deadline)
		rows.reset()
		switch err := s.Do(ctx, &op); {
		case bindings.ClassOf(err) == bindings.NotFound:
			continue
		case err != nil:
			return &sum, fmt.Errorf("read key %q: %w", op.Key, err)
		case rows.err != nil:
			return &sum, fmt.Errorf("read key %q: %w", op.Key, rows.err)
		case rows.rows != 1:
			return &sum, fmt.Errorf("read key %q: it gave %d records", op.Key, rows.rows)
		}
		sum.add(rows.text(op.Key))
	}
	return &sum, ctx.Err()
}

// recordText makes the text of a record out of what a READ gives.
type recordText struct {
	index  map[string]int
	values [][]byte
	has    []bool
	rows   int
	err    error
	buffer []byte
}

func newRecordText(h *traces.Header) *recordText {
	t := &recordText{index: map[string]int{}, values: make([][]byte, h.Fields.Count), has: make([]bool, h.Fields.Count)}
	for i := range h.Fields.Count {
		t.index[h.Fields.Name(i)] = i
	}
	return t
}

func (t *recordText) reset() {
	clear(t.has)
	t.rows, t.err = 0, nil
}

// Row begins a record.
func (t *recordText) Row([]byte) { t.rows++ }

// Field keeps a copy of a value.
func (t *recordText) Field(name string, value []byte) {
	i, ok := t.index[name]
	if !ok || t.has[i] {
		t.err = fmt.Errorf("it gave field %q, which the trace doesn't have or the record had before", name)
		return
	}
	t.values[i], t.has[i] = append(t.values[i][:0], value...), true
}

func (t *recordText) text(key []byte) []byte {
	b := binary.AppendUvarint(t.buffer[:0], uint64(len(key)))
	b = append(b, key...)
	for i, has := range t.has {
		if has {
			b = binary.AppendUvarint(b, uint64(i))
			b = binary.AppendUvarint(b, uint64(len(t.values[i])))
			b = append(b, t.values[i]...)
		}
	}
	t.buffer = b
	return b
}
