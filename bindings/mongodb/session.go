package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"pianola/bindings"
	"pianola/traces"
)

// session runs one operation at a time on buffers of its own.
type session struct {
	binding *binding
	// table is the name of collection.
	table      string
	collection *mongo.Collection

	filter, document, projection []byte
	// scanLength is the limit that scanOptions set.
	scanLength int
	one        findOne
	oneSome    findOne
	scanAll    find
	scanSome   find
	upsert     *options.ReplaceOptionsBuilder
}

// findOne and find are options made once: the client's own builders allocate
// for every operation.
type (
	findOne []func(*options.FindOneOptions) error
	find    []func(*options.FindOptions) error
)

func (f findOne) List() []func(*options.FindOneOptions) error { return f }
func (f find) List() []func(*options.FindOptions) error       { return f }

// ascending sorts by key.
var ascending = bson.D{{Key: idField, Value: 1}}

func newSession(b *binding) *session {
	s := &session{binding: b, upsert: options.Replace().SetUpsert(true)}
	s.oneSome = findOne{func(o *options.FindOneOptions) error {
		o.Projection = bson.Raw(s.projection)
		return nil
	}}
	s.scanAll = find{func(o *options.FindOptions) error {
		limit, batch := int64(s.scanLength), int32(s.scanLength+1)
		o.Limit, o.BatchSize, o.Sort = &limit, &batch, ascending
		return nil
	}}
	s.scanSome = append(append(find{}, s.scanAll...), func(o *options.FindOptions) error {
		o.Projection = bson.Raw(s.projection)
		return nil
	})
	return s
}

// Close does nothing: connections belong to the pool.
func (s *session) Close() error { return nil }

// errLate is the answer to what is late before it is sent.
var errLate error = &bindings.Error{Class: bindings.Timeout, Err: errors.New("its deadline had passed before it was sent")}

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if op.Deadline > 0 {
		left := op.Deadline - s.binding.clock.Now()
		if left <= 0 {
			return errLate
		}
		limited, cancel := context.WithTimeout(ctx, left)
		defer cancel()
		ctx = limited
	}
	if s.collection == nil || op.Table != s.table {
		s.table = strings.Clone(op.Table)
		s.collection = s.binding.database.Collection(s.table)
	}
	return classed(s.run(ctx, op))
}

func (s *session) run(ctx context.Context, op *bindings.Op) error {
	switch op.Kind {
	case traces.Read:
		return s.read(ctx, op)
	case traces.Scan:
		return s.scan(ctx, op)
	case traces.Insert:
		return s.insert(ctx, op)
	case traces.Update:
		return s.update(ctx, op)
	case traces.ReadModifyWrite:
		if err := s.read(ctx, op); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
		return s.update(ctx, op)
	case traces.Delete:
		return s.remove(ctx, op)
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("mongodb has no operation %v", op.Kind)}
}

// project makes the projection of the fields that are asked for.
func (s *session) project(op *bindings.Op) (err error) {
	s.projection, err = appendProjection(s.projection[:0], op.Read)
	return err
}

func (s *session) read(ctx context.Context, op *bindings.Op) error {
	s.filter = appendID(s.filter[:0], op.Key, false)
	which := s.one
	if len(op.Read) > 0 {
		if err := s.project(op); err != nil {
			return err
		}
		which = s.oneSome
	}
	document, err := s.collection.FindOne(ctx, bson.Raw(s.filter), which).Raw()
	if err != nil {
		return err
	}
	return s.give(op, document)
}

// give hands a document to the operation's rows.
func (s *session) give(op *bindings.Op, document []byte) error {
	if err := give(op.Rows, document, s.binding.names); err != nil {
		return fmt.Errorf("document of table %q: %w", s.table, err)
	}
	return nil
}

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	if op.ScanLength <= 0 {
		return nil
	}
	s.filter = appendID(s.filter[:0], op.Key, true)
	s.scanLength = min(op.ScanLength, math.MaxInt32-1)
	which := s.scanAll
	if len(op.Read) > 0 {
		if err := s.project(op); err != nil {
			return err
		}
		which = s.scanSome
	}
	cursor, err := s.collection.Find(ctx, bson.Raw(s.filter), which)
	if err != nil {
		return err
	}
	for s.next(ctx, cursor) {
		if err := s.give(op, cursor.Current); err != nil {
			cursor.Close(ctx) // the first error is the one to tell
			return err
		}
	}
	if err := cursor.Err(); err != nil {
		cursor.Close(ctx)
		return err
	}
	return cursor.Close(ctx)
}

// next goes on to the next document, and counts round trips.
func (s *session) next(ctx context.Context, cursor *mongo.Cursor) bool {
	if cursor.RemainingBatchLength() == 0 && cursor.ID() != 0 {
		s.binding.pool.getMores.Add(1)
	}
	return cursor.Next(ctx)
}

func (s *session) insert(ctx context.Context, op *bindings.Op) (err error) {
	if s.document, err = appendRecord(s.document[:0], op.Key, op.Write); err != nil {
		return err
	}
	if s.binding.settings.upsert {
		s.filter = appendID(s.filter[:0], op.Key, false)
		_, err = s.collection.ReplaceOne(ctx, bson.Raw(s.filter), bson.Raw(s.document), s.upsert)
		return err
	}
	_, err = s.collection.InsertOne(ctx, bson.Raw(s.document))
	return err
}

func (s *session) update(ctx context.Context, op *bindings.Op) (err error) {
	s.filter = appendID(s.filter[:0], op.Key, false)
	if s.document, err = appendChange(s.document[:0], op.Write); err != nil {
		return err
	}
	result, err := s.collection.UpdateOne(ctx, bson.Raw(s.filter), bson.Raw(s.document))
	if err != nil {
		return err
	}
	if result.Acknowledged && result.MatchedCount == 0 {
		return bindings.ErrNotFound
	}
	return nil
}

func (s *session) remove(ctx context.Context, op *bindings.Op) error {
	s.filter = appendID(s.filter[:0], op.Key, false)
	result, err := s.collection.DeleteOne(ctx, bson.Raw(s.filter))
	if err != nil {
		return err
	}
	if result.Acknowledged && result.DeletedCount == 0 {
		return bindings.ErrNotFound
	}
	return nil
}
