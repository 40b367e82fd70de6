package bbolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"pianola/bindings"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

// session runs one operation at a time on buffers of its own.
type session struct {
	binding *binding
	db      *bbolt.DB
	bucket  []byte
	// record is what is written; the store looks at it until the commit.
	record []byte
	merger keyvalue.Merger
}

func (s *session) Close() error { return nil }

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.bucket = append(s.bucket[:0], op.Table...)
	switch op.Kind {
	case traces.Read:
		return classed(s.view(func(b *bbolt.Bucket) error { return s.read(b, op) }))
	case traces.Scan:
		return classed(s.view(func(b *bbolt.Bucket) error { return s.scan(ctx, b, op) }))
	case traces.Insert:
		return classed(s.change(func(b *bbolt.Bucket) error { return s.insert(b, op) }))
	case traces.Update, traces.ReadModifyWrite:
		return classed(s.change(func(b *bbolt.Bucket) error { return s.update(b, op) }))
	case traces.Delete:
		return classed(s.change(func(b *bbolt.Bucket) error { return s.remove(b, op) }))
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("bbolt has no operation %v", op.Kind)}
}

// invalid lists the store's errors that say what an operation may not be.
var invalid = []error{
	bolterrors.ErrKeyRequired, bolterrors.ErrKeyTooLarge, bolterrors.ErrValueTooLarge, bolterrors.ErrBucketNotFound, bolterrors.ErrIncompatibleValue,
}

// classed gives an error of bbolt its class: invalid for what can't be stored,
// unavailable for what the operating system refused, other for the rest.
func classed(err error) error {
	if err == nil || err == bindings.ErrNotFound || err == bindings.ErrDuplicate {
		return err
	}
	var own *bindings.Error
	var number syscall.Errno
	var path *os.PathError
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &number), errors.As(err, &path), errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return &bindings.Error{Class: bindings.Unavailable, Err: err}
	}
	for _, sort := range invalid {
		if errors.Is(err, sort) {
			return &bindings.Error{Class: bindings.Invalid, Err: err}
		}
	}
	return err
}

// view calls do with the operation's bucket in a read transaction.
func (s *session) view(do func(*bbolt.Bucket) error) error {
	tx, err := s.db.Begin(false)
	if err != nil {
		return fmt.Errorf("begin a read transaction: %w", err)
	}
	err = s.in(tx, do)
	return firstOf(err, tx.Rollback())
}

// change calls do with the operation's bucket in a write transaction, and
// commits it if all went well.
func (s *session) change(do func(*bbolt.Bucket) error) error {
	s.binding.turn.Take()
	defer s.binding.turn.Give()
	tx, err := s.db.Begin(true)
	if err != nil {
		return fmt.Errorf("begin a write transaction: %w", err)
	}
	if err := s.in(tx, do); err != nil {
		return firstOf(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// in calls do with the operation's bucket.
func (s *session) in(tx *bbolt.Tx, do func(*bbolt.Bucket) error) error {
	bucket := tx.Bucket(s.bucket)
	if bucket == nil {
		return fmt.Errorf("table %q: %w", s.bucket, bolterrors.ErrBucketNotFound)
	}
	return do(bucket)
}

func (s *session) read(b *bbolt.Bucket, op *bindings.Op) error {
	record := b.Get(op.Key)
	if record == nil {
		return bindings.ErrNotFound
	}
	return s.give(op, op.Key, record)
}

// give hands a stored record to the operation's rows.
func (s *session) give(op *bindings.Op, key, record []byte) error {
	if err := keyvalue.Give(op.Rows, key, record, op.Read, s.binding.names); err != nil {
		return fmt.Errorf("stored record %q: %w", key, err)
	}
	return nil
}

// scanCheck is the number of records between two looks at the context.
const scanCheck = 1 << 8

func (s *session) scan(ctx context.Context, b *bbolt.Bucket, op *bindings.Op) error {
	cursor := b.Cursor()
	key, record := cursor.Seek(op.Key)
	for n := 0; key != nil && n < op.ScanLength; key, record = cursor.Next() {
		if err := s.give(op, key, record); err != nil {
			return err
		}
		if n++; n%scanCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (s *session) insert(b *bbolt.Bucket, op *bindings.Op) error {
	if _, err := keyvalue.RecordSize(op.Write); err != nil {
		return err
	}
	if b.Get(op.Key) != nil {
		return bindings.ErrDuplicate
	}
	s.record = keyvalue.AppendRecord(s.record[:0], op.Write)
	return b.Put(op.Key, s.record)
}

// update reads the record, gives it to a READMODIFYWRITE, and puts the changed
// one in its place.
func (s *session) update(b *bbolt.Bucket, op *bindings.Op) error {
	record := b.Get(op.Key)
	if record == nil {
		return bindings.ErrNotFound
	}
	if op.Kind == traces.ReadModifyWrite {
		if err := s.give(op, op.Key, record); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
	}
	if _, err := s.merger.Size(record, op.Write); err != nil {
		return fmt.Errorf("stored record %q: %w", op.Key, err)
	}
	s.record = s.merger.Append(s.record[:0], record, op.Write)
	return b.Put(op.Key, s.record)
}

func (s *session) remove(b *bbolt.Bucket, op *bindings.Op) error {
	if b.Get(op.Key) == nil {
		return bindings.ErrNotFound
	}
	return b.Delete(op.Key)
}

// firstOf returns the first error. Joining would hide the one that callers
// compare with, and allocates.
func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
