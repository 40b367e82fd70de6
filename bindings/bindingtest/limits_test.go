package bindingtest_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/memory"
	"pianola/traces"
)

// limited are bindings that have a limit and do what it says.
var limited = map[string]struct {
	limits bindingtest.Limits
	do     func(context.Context, *bindings.Op, bindings.Session) error
}{
	"blind inserts": {bindingtest.Limits{BlindInsert: true}, only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
		for {
			err := right(op)
			if err == nil {
				return nil
			}
			over := *op
			over.Kind = traces.Update
			if right(&over) == nil {
				return nil
			}
		}
	})},
	"blind updates": {bindingtest.Limits{BlindUpdate: true}, only(traces.Update, func(op *bindings.Op, right func(*bindings.Op) error) error {
		for right(op) != nil {
			create := *op
			create.Kind = traces.Insert
			if right(&create) == nil {
				break
			}
		}
		return nil
	})},
	"blind deletes": {bindingtest.Limits{BlindDelete: true}, only(traces.Delete, ignoring(bindings.NotFound))},
	"whole updates": {bindingtest.Limits{WholeUpdates: true}, func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		if op.Kind != traces.Update && op.Kind != traces.ReadModifyWrite {
			return right.Do(ctx, op)
		}
		old := &fields{}
		read := bindings.Op{Kind: traces.Read, Table: op.Table, Key: op.Key, Rows: old}
		if err := right.Do(ctx, &read); err != nil {
			return err
		}
		if op.Kind == traces.ReadModifyWrite && op.Rows != nil {
			read.Read, read.Rows = op.Read, op.Rows
			if err := right.Do(ctx, &read); err != nil {
				return err
			}
		}
		runtime.Gosched()
		whole := *op
		whole.Kind = traces.Update
		for _, f := range old.all {
			if !slices.ContainsFunc(op.Write, func(w bindings.Field) bool { return w.Name == f.Name }) {
				whole.Write = append(slices.Clip(whole.Write), f)
			}
		}
		return right.Do(ctx, &whole)
	}},
	"no scans and no deletes": {bindingtest.Limits{Lacks: []traces.Kind{traces.Scan, traces.Delete}}, func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		if op.Kind == traces.Scan || op.Kind == traces.Delete {
			return &bindings.Error{Class: bindings.Invalid, Err: errors.ErrUnsupported}
		}
		return right.Do(ctx, op)
	}},
	"no updates": {bindingtest.Limits{Lacks: []traces.Kind{traces.Update, traces.ReadModifyWrite}}, func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		if op.Kind == traces.Update || op.Kind == traces.ReadModifyWrite {
			return &bindings.Error{Class: bindings.Invalid, Err: errors.ErrUnsupported}
		}
		return right.Do(ctx, op)
	}},
	"scans in another order": {bindingtest.Limits{Unordered: true}, only(traces.Scan, func(op *bindings.Op, right func(*bindings.Op) error) error {
		if op.Rows == nil {
			return right(op)
		}
		ordered := &recorded{}
		twin := *op
		twin.Rows = ordered
		if err := right(&twin); err != nil || len(ordered.rows) == 0 {
			return err
		}
		slices.Reverse(ordered.rows[1:])
		for _, r := range ordered.rows {
			r.replay(op.Rows)
		}
		return nil
	})},
	"scans that pass by": {bindingtest.Limits{SparseScans: true, BlindUpdate: true}, func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		switch {
		case op.Kind == traces.Update:
			for right.Do(ctx, op) != nil {
				create := *op
				create.Kind = traces.Insert
				if right.Do(ctx, &create) == nil {
					break
				}
			}
			return nil
		case op.Kind != traces.Scan || op.Rows == nil || len(op.Read) == 0:
			return right.Do(ctx, op)
		}
		all := &recorded{}
		twin := *op
		twin.Rows, twin.ScanLength = all, 1<<20
		err := right.Do(ctx, &twin)
		given := 0
		for _, r := range all.rows {
			if len(r.all) > 0 && given < op.ScanLength {
				r.replay(op.Rows)
				given++
			}
		}
		return err
	}},
	"deletions that linger": {bindingtest.Limits{DeleteLingers: 5 * time.Millisecond}, lingering()},
	"short text in few fields": {bindingtest.Limits{TextOnly: true, MaxValueBytes: 1000, MaxFields: 30}, func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		if len(op.Write) > 30 {
			return &bindings.Error{Class: bindings.Invalid, Err: errors.New("too many fields")}
		}
		for _, f := range op.Write {
			if len(f.Value) > 1000 || !utf8.Valid(f.Value) || bytes.IndexByte(f.Value, 0) >= 0 {
				return &bindings.Error{Class: bindings.Invalid, Err: errors.New("no short text")}
			}
		}
		return right.Do(ctx, op)
	}},
}

// lingering loses what a session writes to a key within a millisecond of its
// deletion.
func lingering() func(context.Context, *bindings.Op, bindings.Session) error {
	type place struct {
		session bindings.Session
		key     string
	}
	var mu sync.Mutex
	deleted := map[place]time.Time{}
	return func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		mu.Lock()
		defer mu.Unlock()
		err := right.Do(ctx, op)
		at := place{right, string(op.Key)}
		switch {
		case op.Kind == traces.Delete:
			deleted[at] = time.Now()
		case op.Kind == traces.Insert && err == nil && time.Since(deleted[at]) < time.Millisecond:
			lose := *op
			lose.Kind = traces.Delete
			return right.Do(ctx, &lose)
		}
		return err
	}
}

// recorded takes records one by one.
type recorded struct{ rows []*oneRow }

type oneRow struct {
	key []byte
	fields
}

func (r *recorded) Row(key []byte) { r.rows = append(r.rows, &oneRow{key: bytes.Clone(key)}) }
func (r *recorded) Field(name string, value []byte) {
	r.rows[len(r.rows)-1].Field(name, value)
}

func (r *oneRow) replay(to bindings.Rows) {
	to.Row(r.key)
	for _, f := range r.all {
		to.Field(f.Name, f.Value)
	}
}

func TestLimitsAreAllowedFor(t *testing.T) {
	for name, l := range limited {
		t.Run(name, func(t *testing.T) {
			bindingtest.Run(t, func(t *testing.T) bindings.Binding {
				right, err := memory.Driver.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				return &faulty{Binding: right, do: l.do}
			}, l.limits)
		})
	}
}
