package badger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"pianola/bindings"
	"pianola/bindings/keyvalue"
	"pianola/traces"
)

// session runs one operation at a time on buffers of its own.
type session struct {
	binding *binding
	db      *badger.DB
	at      keyvalue.Location
	// record is what is written; the store looks at it until the commit.
	record []byte
	merger keyvalue.Merger
}

func (s *session) Close() error { return nil }

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.at.Locate(op); err != nil {
		return err
	}
	if err := checkKey(s.at.Key); err != nil {
		return err
	}
	switch op.Kind {
	case traces.Read:
		return classed(s.read(op))
	case traces.Scan:
		return classed(s.scan(ctx, op))
	case traces.Insert, traces.Update, traces.ReadModifyWrite, traces.Delete:
		return classed(s.write(op))
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("badger has no operation %v", op.Kind)}
}

// mostKeyBytes is Badger's own limit, whose error can't be told from others.
const mostKeyBytes = 65000

func checkKey(key []byte) error {
	if len(key) > mostKeyBytes {
		return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("a key of %d bytes with its table, more than %d", len(key), mostKeyBytes)}
	}
	return nil
}

// classes is the class of an error of Badger.
var classes = []struct {
	err   error
	class bindings.Class
}{
	{badger.ErrTxnTooBig, bindings.Invalid}, {badger.ErrInvalidKey, bindings.Invalid}, {badger.ErrBannedKey, bindings.Invalid},
	{badger.ErrBlockedWrites, bindings.Unavailable}, {badger.ErrDBClosed, bindings.Unavailable},
}

// classed gives an error of Badger its class: not found, invalid for what can't
// be stored, unavailable for what the operating system refused, other for the
// rest. Badger doesn't wrap the cause of a READ that failed: it is other.
func classed(err error) error {
	if err == nil {
		return nil
	}
	if err == badger.ErrKeyNotFound {
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
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return &bindings.Error{Class: c.class, Err: err}
		}
	}
	return err
}

func (s *session) read(op *bindings.Op) error {
	tx := s.db.NewTransaction(false)
	defer tx.Discard()
	item, err := tx.Get(s.at.Key)
	if err != nil {
		return err
	}
	return s.give(op, op.Key, item)
}

// give hands a stored record to the operation's rows.
func (s *session) give(op *bindings.Op, key []byte, item *badger.Item) error {
	return item.Value(func(record []byte) error {
		if err := keyvalue.Give(op.Rows, key, record, op.Read, s.binding.names); err != nil {
			return fmt.Errorf("stored record %q: %w", key, err)
		}
		return nil
	})
}

// scanCheck is the number of records between two looks at the context.
const scanCheck = 1 << 8

// mostPrefetched bounds how many values an iterator fetches ahead.
const mostPrefetched = 100

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	if op.ScanLength <= 0 {
		return nil
	}
	tx := s.db.NewTransaction(false)
	defer tx.Discard()
	it := tx.NewIterator(badger.IteratorOptions{
		Prefix: s.at.Key[:s.at.Prefix], PrefetchValues: true, PrefetchSize: min(op.ScanLength, mostPrefetched),
	})
	defer it.Close()
	n := 0
	for it.Seek(s.at.Key); n < op.ScanLength && it.Valid(); it.Next() {
		item := it.Item()
		if err := s.give(op, item.Key()[s.at.Prefix:], item); err != nil {
			return err
		}
		if n++; n%scanCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// write runs an operation that changes the record, under the key's lock, and
// commits.
func (s *session) write(op *bindings.Op) error {
	lock := s.binding.locks.Of(s.at.Key)
	lock.Lock()
	defer lock.Unlock()
	tx := s.db.NewTransaction(true)
	defer tx.Discard()
	var err error
	switch op.Kind {
	case traces.Insert:
		err = s.insert(tx, op)
	case traces.Delete:
		err = tx.Delete(s.at.Key)
	default:
		err = s.update(tx, op)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

func (s *session) insert(tx *badger.Txn, op *bindings.Op) error {
	if _, err := keyvalue.RecordSize(op.Write); err != nil {
		return err
	}
	s.record = keyvalue.AppendRecord(s.record[:0], op.Write)
	return tx.Set(s.at.Key, s.record)
}

// update reads the record, gives it to a READMODIFYWRITE, and sets the changed
// one.
func (s *session) update(tx *badger.Txn, op *bindings.Op) error {
	item, err := tx.Get(s.at.Key)
	if err != nil {
		return err
	}
	if op.Kind == traces.ReadModifyWrite {
		if err := s.give(op, op.Key, item); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
	}
	err = item.Value(func(record []byte) error {
		if _, err := s.merger.Size(record, op.Write); err != nil {
			return fmt.Errorf("stored record %q: %w", op.Key, err)
		}
		s.record = s.merger.Append(s.record[:0], record, op.Write)
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Set(s.at.Key, s.record)
}
