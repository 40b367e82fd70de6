package pebble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"pianola/bindings"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

// session runs one operation at a time on buffers of its own.
type session struct {
	binding *binding
	db      *pebble.DB
	at      keyvalue.Location
	bounds  pebble.IterOptions
	merger  keyvalue.Merger
}

func (s *session) Close() error { return nil }

func (s *session) Do(ctx context.Context, op *bindings.Op) (err error) {
	if err := s.binding.health.broken(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.at.Locate(op); err != nil {
		return err
	}
	defer s.binding.health.recovered(&err)
	switch op.Kind {
	case traces.Read:
		err = s.read(op)
	case traces.Scan:
		err = s.scan(ctx, op)
	case traces.Insert:
		err = s.insert(op)
	case traces.Update, traces.ReadModifyWrite:
		err = s.update(op)
	case traces.Delete:
		err = s.remove()
	default:
		err = &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("pebble has no operation %v", op.Kind)}
	}
	return classed(err)
}

// classed gives an error of Pebble its class: not found, unavailable for what
// the operating system refused, and other for the rest.
func classed(err error) error {
	if err == nil {
		return nil
	}
	if err == pebble.ErrNotFound {
		return bindings.ErrNotFound
	}
	var own *bindings.Error
	var number syscall.Errno
	var path *os.PathError
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &number), errors.As(err, &path):
		return &bindings.Error{Class: bindings.Unavailable, Err: err}
	}
	return err
}

func (s *session) read(op *bindings.Op) error {
	value, closer, err := s.db.Get(s.at.Key)
	if err != nil {
		return err
	}
	err = s.give(op, op.Key, value)
	return firstOf(err, closer.Close())
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

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	if op.ScanLength <= 0 {
		return nil
	}
	s.bounds.LowerBound, s.bounds.UpperBound = s.at.Key, s.at.End
	it, err := s.db.NewIter(&s.bounds)
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = n < op.ScanLength && it.Next() {
		value, valueErr := it.ValueAndErr()
		if valueErr != nil {
			err = valueErr
			break
		}
		if err = s.give(op, it.Key()[s.at.Prefix:], value); err != nil {
			break
		}
		if n++; n%scanCheck == 0 {
			if err = ctx.Err(); err != nil {
				break
			}
		}
	}
	return firstOf(err, it.Close())
}

func (s *session) insert(op *bindings.Op) error {
	size, err := keyvalue.RecordSize(op.Write)
	if err != nil {
		return err
	}
	batch := s.db.NewBatch()
	set := batch.SetDeferred(len(s.at.Key), size)
	copy(set.Key, s.at.Key)
	keyvalue.AppendRecord(set.Value[:0], op.Write)
	if err := set.Finish(); err != nil {
		return err
	}
	return s.write(batch)
}

func (s *session) remove() error {
	batch := s.db.NewBatch()
	if err := batch.Delete(s.at.Key, nil); err != nil {
		return err
	}
	return s.write(batch)
}

// write writes what doesn't depend on what is stored.
func (s *session) write(batch *pebble.Batch) error {
	lock := s.binding.locks.Of(s.at.Key)
	lock.Lock()
	err := func() error {
		defer lock.Unlock()
		return s.apply(batch)
	}()
	if err != nil {
		return err
	}
	return s.settle(batch)
}

func (s *session) update(op *bindings.Op) error {
	batch, err := s.merge(op)
	if err != nil {
		return err
	}
	return s.settle(batch)
}

// merge reads the record, gives it to a READMODIFYWRITE, and applies the
// changes, under the key's lock.
func (s *session) merge(op *bindings.Op) (*pebble.Batch, error) {
	lock := s.binding.locks.Of(s.at.Key)
	lock.Lock()
	defer lock.Unlock()
	record, closer, err := s.db.Get(s.at.Key)
	if err != nil {
		return nil, err
	}
	batch, err := s.merged(op, record)
	if err := firstOf(err, closer.Close()); err != nil {
		return nil, err
	}
	return batch, s.apply(batch)
}

// merged returns a batch with the changed record in it.
func (s *session) merged(op *bindings.Op, record []byte) (*pebble.Batch, error) {
	if op.Kind == traces.ReadModifyWrite {
		if err := s.give(op, op.Key, record); err != nil {
			return nil, err
		}
		op.ReadEnded = s.binding.health.clock.Now()
	}
	size, err := s.merger.Size(record, op.Write)
	if err != nil {
		return nil, fmt.Errorf("stored record %q: %w", op.Key, err)
	}
	batch := s.db.NewBatch()
	set := batch.SetDeferred(len(s.at.Key), size)
	copy(set.Key, s.at.Key)
	s.merger.Append(set.Value[:0], record, op.Write)
	return batch, set.Finish()
}

// apply makes a batch visible, and queues it for the log. A batch that failed
// is left to the garbage collector: Pebble may still hold it.
func (s *session) apply(batch *pebble.Batch) error {
	if s.binding.settings.sync {
		return s.db.ApplyNoSyncWait(batch, pebble.Sync)
	}
	return s.db.Apply(batch, pebble.NoSync)
}

// settle waits for the log, where the settings ask for it.
func (s *session) settle(batch *pebble.Batch) error {
	if s.binding.settings.sync {
		if err := batch.SyncWait(); err != nil {
			return s.binding.health.fail(fmt.Errorf("sync the log: %w", err))
		}
	}
	return batch.Close()
}

// firstOf returns the first error. Joining would hide the one that callers
// compare with, and allocates.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
