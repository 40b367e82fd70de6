// Package memory is an ordered map in this process: what every other database
// is compared with in tests, and a target that needs nothing installed.
//
// An operation is one look-up or change of a B-tree under one lock, answered in
// place. Each is atomic, and seen by every later one. Nothing outlives Close.
//
//   - INSERT of a record that exists is refused as a duplicate and changes
//     nothing: an oracle must not hide that a key came twice.
//   - READ, UPDATE, READMODIFYWRITE and DELETE of a record that doesn't exist
//     are not found. A SCAN gives what there is, in the byte order of the keys.
//   - UPDATE and READMODIFYWRITE keep the fields they don't name, and add those
//     that the record lacks.
//   - A READ of named fields gives those that the record has, in its own order.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tidwall/btree"

	"pianola/bindings"
	"pianola/traces"
)

var (
	_ bindings.Pipeliner = (*binding)(nil)
	_ bindings.Counter   = (*binding)(nil)
	_ bindings.Dropper   = (*binding)(nil)
	_ bindings.Pipeline  = (*pipeline)(nil)
	_ bindings.Session   = (*session)(nil)
)

// Driver describes the binding.
var Driver = bindings.Driver{
	Name:    "memory",
	Summary: "an ordered map in this process; nothing stays after the run",
	Statements: `Every operation is one look-up or change of a B-tree under one lock, in place.

READ             look up
UPDATE           look up, replace the fields written; not found if there is none
INSERT           add; duplicate if the record exists
SCAN             walk on from the key, in the byte order of the keys
READMODIFYWRITE  look up, replace the fields written, atomically
DELETE           remove; not found if there is none`,
	Kinds:    []traces.Kind{traces.Read, traces.Update, traces.Insert, traces.Scan, traces.ReadModifyWrite, traces.Delete},
	Place:    bindings.Embedded,
	Slots:    bindings.DefaultSlotsEmbedded,
	New:      func(bindings.Properties) (bindings.Binding, error) { return &binding{tables: map[string]*table{}}, nil },
	Volatile: func(bindings.Properties) bool { return true },
}

// table holds records in the order of their keys.
type table = btree.BTreeG[*record]

// record is never changed once it is in a table: a change puts another in its
// place. So what was looked up under the lock may be read without it.
type record struct {
	key    []byte
	fields []bindings.Field
}

func newTable() *table {
	less := func(a, b *record) bool { return bytes.Compare(a.key, b.key) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

type binding struct {
	// counted is the name of the trace's table.
	counted string

	mu     sync.RWMutex
	tables map[string]*table
}

func (b *binding) Open(_ context.Context, cfg bindings.Config) error {
	b.counted = cfg.Header.Table
	return nil
}

func (b *binding) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.tables)
	return nil
}

// Drop forgets the trace's table.
func (b *binding) Drop(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tables, b.counted)
	return nil
}

// Count returns the number of records in the trace's table.
func (b *binding) Count(context.Context) (uint64, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if t := b.tables[b.counted]; t != nil {
		return uint64(t.Len()), nil
	}
	return 0, nil
}

func (b *binding) Session(context.Context) (bindings.Session, error) {
	return &session{user{binding: b}}, nil
}

func (b *binding) Pipeline(_ context.Context, sink bindings.Sink) (bindings.Pipeline, error) {
	return &pipeline{user{binding: b}, sink}, nil
}

type session struct{ user }

func (s *session) Do(_ context.Context, op *bindings.Op) error { return s.do(op) }
func (s *session) Close() error                                { return nil }

type pipeline struct {
	user
	sink bindings.Sink
}

func (p *pipeline) Issue(op *bindings.Op) { p.sink.Done(op, p.do(op)) }
func (p *pipeline) Close() error          { return nil }

// user runs one operation at a time.
type user struct {
	binding *binding
	// probe is what a key is looked up by.
	probe   record
	scanned []*record
}

func (u *user) do(op *bindings.Op) error {
	u.probe.key = op.Key
	defer func() { u.probe.key = nil }()
	switch op.Kind {
	case traces.Read:
		return u.read(op)
	case traces.Scan:
		return u.scan(op)
	case traces.Insert:
		return u.insert(op)
	case traces.Update:
		_, err := u.update(op)
		return err
	case traces.ReadModifyWrite:
		before, err := u.update(op)
		if err == nil {
			before.give(op.Rows, op.Read)
		}
		return err
	case traces.Delete:
		return u.remove(op)
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("memory has no operation %v", op.Kind)}
}

func (u *user) read(op *bindings.Op) error {
	u.binding.mu.RLock()
	r := u.binding.find(op.Table, &u.probe)
	u.binding.mu.RUnlock()
	if r == nil {
		return bindings.ErrNotFound
	}
	r.give(op.Rows, op.Read)
	return nil
}

func (u *user) scan(op *bindings.Op) error {
	u.scanned = u.scanned[:0]
	u.binding.mu.RLock()
	if t := u.binding.tables[op.Table]; t != nil && op.ScanLength > 0 {
		t.Ascend(&u.probe, func(r *record) bool {
			u.scanned = append(u.scanned, r)
			return len(u.scanned) < op.ScanLength
		})
	}
	u.binding.mu.RUnlock()
	for _, r := range u.scanned {
		r.give(op.Rows, op.Read)
	}
	clear(u.scanned)
	return nil
}

func (u *user) insert(op *bindings.Op) error {
	b := u.binding
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.find(op.Table, &u.probe) != nil {
		return bindings.ErrDuplicate
	}
	t := b.tables[op.Table]
	if t == nil {
		t = newTable()
		b.tables[strings.Clone(op.Table)] = t
	}
	t.Set((&record{key: bytes.Clone(op.Key)}).with(op.Write))
	return nil
}

// update returns the record as it was before.
func (u *user) update(op *bindings.Op) (*record, error) {
	b := u.binding
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.find(op.Table, &u.probe)
	if before == nil {
		return nil, bindings.ErrNotFound
	}
	b.tables[op.Table].Set(before.with(op.Write))
	return before, nil
}

func (u *user) remove(op *bindings.Op) error {
	b := u.binding
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.find(op.Table, &u.probe) == nil {
		return bindings.ErrNotFound
	}
	b.tables[op.Table].Delete(&u.probe)
	return nil
}

// find returns the record with the probe's key, or nil. The lock is held.
func (b *binding) find(name string, probe *record) *record {
	t := b.tables[name]
	if t == nil {
		return nil
	}
	r, _ := t.Get(probe)
	return r
}
