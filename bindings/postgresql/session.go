package postgresql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pianola/bindings"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

// session runs one operation at a time on a connection of its own.
type session struct {
	binding *binding
	conn    *pgconn.PgConn
	// prepared holds the names of the statements on the connection.
	prepared map[sqltable.Shape]string
	// values are the parameters of a statement; used again.
	values [][]byte
	limit  [8]byte
	// copied brings the answer to a row that was copied; nil before the first.
	copied chan error
}

// binaryFormat is that of all parameters and columns.
var binaryFormat = []int16{1}

func (s *session) Close() error { return closeConn(s.conn) }

// connect opens the connection and prepares the statements in one round trip.
func (s *session) connect(ctx context.Context) error {
	conn, err := s.binding.connect(ctx)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx, conn, s.binding.table.Shapes()); err != nil {
		closeConn(conn)
		return fmt.Errorf("prepare the statements on table %s at %s: %w", s.binding.table.Name, s.binding.settings.address(), err)
	}
	s.conn = conn
	return nil
}

func (s *session) prepare(ctx context.Context, conn *pgconn.PgConn, shapes []sqltable.Shape) error {
	s.prepared = make(map[sqltable.Shape]string, len(shapes))
	p := conn.StartPipeline(ctx)
	for i, of := range shapes {
		name := statementName(i)
		p.SendPrepare(name, s.binding.table.Statement(of), nil)
		s.prepared[of] = name
	}
	if err := p.Sync(); err != nil {
		return errors.Join(err, p.Close())
	}
	// One answer for each statement and one for the end.
	for range len(shapes) + 1 {
		if _, err := p.GetResults(); err != nil {
			// Close repeats it.
			p.Close()
			return err
		}
	}
	return p.Close()
}

func statementName(i int) string { return "s" + strconv.Itoa(i) }

// statement returns the name of a statement, and prepares it if need be.
func (s *session) statement(ctx context.Context, of sqltable.Shape) (string, error) {
	if name, ok := s.prepared[of]; ok {
		return name, nil
	}
	of.Fields = strings.Clone(of.Fields)
	name := statementName(len(s.prepared))
	if _, err := s.conn.Prepare(ctx, name, s.binding.table.Statement(of), nil); err != nil {
		return "", err
	}
	s.prepared[of] = name
	return name, nil
}

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if op.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, op.Deadline-s.binding.clock.Now())
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return classed(err)
	}
	if s.conn.IsClosed() {
		if err := s.connect(ctx); err != nil {
			return classed(err)
		}
		s.binding.reopened.Add(1)
	}
	err := s.do(ctx, op)
	clear(s.values[:cap(s.values)])
	if err != nil && err != bindings.ErrNotFound {
		// After the deadline the server's word for a cancelled statement says less.
		if own := ctx.Err(); own != nil {
			err = fmt.Errorf("%w: %w", own, err)
		} else if s.conn.IsClosed() && class(err) == bindings.Other {
			err = &bindings.Error{Class: bindings.Unavailable, Err: err}
		}
	}
	return classed(err)
}

func (s *session) do(ctx context.Context, op *bindings.Op) error {
	switch op.Kind {
	case traces.Read:
		return s.read(ctx, op)
	case traces.Scan:
		return s.scan(ctx, op)
	case traces.Insert:
		return s.insert(ctx, op)
	case traces.Update:
		return s.write(ctx, op, op.Kind)
	case traces.ReadModifyWrite:
		if err := s.read(ctx, op); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
		return s.write(ctx, op, traces.Update)
	case traces.Delete:
		return s.run(ctx, sqltable.Shape{Kind: traces.Delete}, append(s.values[:0], op.Key))
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("postgresql has no operation %v", op.Kind)}
}

// query sends a statement that answers with rows.
func (s *session) query(ctx context.Context, of sqltable.Shape, values [][]byte) (*pgconn.ResultReader, error) {
	s.values = values
	name, err := s.statement(ctx, of)
	if err != nil {
		return nil, err
	}
	return s.conn.ExecPrepared(ctx, name, values, binaryFormat, binaryFormat), nil
}

func (s *session) read(ctx context.Context, op *bindings.Op) error {
	of := s.binding.table.Reading(traces.Read, op.Read)
	rows, err := s.query(ctx, of, append(s.values[:0], op.Key))
	if err != nil {
		return err
	}
	found := rows.NextRow()
	if found {
		s.give(op, op.Key, rows.Values())
	}
	if _, err := rows.Close(); err != nil {
		return err
	}
	if !found {
		return bindings.ErrNotFound
	}
	return nil
}

// give hands a row to the operation's rows. A column without a value is a field
// that isn't there.
func (s *session) give(op *bindings.Op, key []byte, values [][]byte) {
	if op.Rows == nil {
		return
	}
	names := s.binding.table.Named(op.Read)
	op.Rows.Row(key)
	for i, v := range values {
		if v != nil {
			op.Rows.Field(names[i], v)
		}
	}
}

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	of := s.binding.table.Reading(traces.Scan, op.Read)
	binary.BigEndian.PutUint64(s.limit[:], uint64(max(op.ScanLength, 0)))
	rows, err := s.query(ctx, of, append(s.values[:0], op.Key, s.limit[:]))
	if err != nil {
		return err
	}
	for rows.NextRow() {
		values := rows.Values()
		last := len(values) - 1
		s.give(op, values[last], values[:last])
	}
	_, err = rows.Close()
	return err
}

// insert writes a record, by COPY if that is what the phase does.
func (s *session) insert(ctx context.Context, op *bindings.Op) error {
	if s.binding.copying.Load() && s.binding.table.Writing(traces.Insert, op.Write) == (sqltable.Shape{Kind: traces.Insert}) {
		if err := s.copy(ctx, op); err != errSingly {
			return err
		}
	}
	return s.write(ctx, op, traces.Insert)
}

// copy writes a record by COPY; errSingly means that it did not.
func (s *session) copy(ctx context.Context, op *bindings.Op) error {
	if s.copied == nil {
		s.copied = make(chan error, 1)
	}
	until := op.Deadline
	if until <= 0 {
		until = s.binding.clock.Now() + bindings.DefaultDeadline
	}
	if !s.binding.copier.add(op, until, s.copied) {
		return errSingly
	}
	select {
	case err := <-s.copied:
		return err
	case <-ctx.Done():
		s.binding.copier.withdraw(s.copied)
		s.copied = nil // an answer that comes yet comes to nobody
		return ctx.Err()
	}
}

// write runs an INSERT or an UPDATE.
func (s *session) write(ctx context.Context, op *bindings.Op, kind traces.Kind) error {
	if len(op.Write) == 0 {
		return sqltable.ErrNoField
	}
	values := s.values[:0]
	for i := range op.Write {
		value := op.Write[i].Value
		if value == nil {
			// Nil would be no value at all.
			value = []byte{}
		}
		values = append(values, value)
	}
	return s.run(ctx, s.binding.table.Writing(kind, op.Write), append(values, op.Key))
}

// run runs a statement that changes one row; none means not found.
func (s *session) run(ctx context.Context, of sqltable.Shape, values [][]byte) error {
	rows, err := s.query(ctx, of, values)
	if err != nil {
		return err
	}
	done, err := rows.Close()
	if err == nil && done.RowsAffected() == 0 {
		return bindings.ErrNotFound
	}
	return err
}
