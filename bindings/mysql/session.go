package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pianola/bindings"
	"pianola/bindings/sqltable"
	"pianola/traces"
)

// session runs one operation at a time on a connection of its own.
type session struct {
	binding *binding
	conn    *conn
	// prepared holds the statements on the connection.
	prepared map[sqltable.Shape]statement
	// parameters and columns are used again.
	parameters []driver.NamedValue
	columns    []driver.Value
}

// statement is a prepared statement of the client with what we use of it.
type statement struct {
	query driver.StmtQueryContext
	exec  driver.StmtExecContext
}

// Close closes the connection; its statements end with it.
func (s *session) Close() error {
	closeConn(s.conn)
	return nil
}

// connect opens the connection and prepares the statements.
func (s *session) connect(ctx context.Context) error {
	c, err := s.binding.connect(ctx)
	if err != nil {
		return err
	}
	shapes := s.binding.table.Shapes()
	prepared := make(map[sqltable.Shape]statement, len(shapes))
	for _, of := range shapes {
		if prepared[of], err = s.prepare(ctx, c, of); err != nil {
			closeConn(c)
			return fmt.Errorf("prepare the statements on table %s at %s: %w", s.binding.table.Name, s.binding.settings.config.Addr, err)
		}
	}
	s.conn, s.prepared = c, prepared
	return nil
}

func (s *session) prepare(ctx context.Context, c *conn, of sqltable.Shape) (statement, error) {
	p, err := c.PrepareContext(ctx, s.binding.table.Statement(of))
	if err != nil {
		return statement{}, err
	}
	return statement{p.(driver.StmtQueryContext), p.(driver.StmtExecContext)}, nil
}

// statement returns a statement, and prepares it if need be.
func (s *session) statement(ctx context.Context, of sqltable.Shape) (statement, error) {
	if p, ok := s.prepared[of]; ok {
		return p, nil
	}
	of.Fields = strings.Clone(of.Fields)
	p, err := s.prepare(ctx, s.conn, of)
	if err != nil {
		return statement{}, err
	}
	s.prepared[of] = p
	return p, nil
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
	if !s.conn.IsValid() {
		if err := s.connect(ctx); err != nil {
			return classed(err)
		}
		s.binding.reopened.Add(1)
	}
	s.parameters = s.parameters[:0]
	err := s.do(ctx, op)
	clear(s.parameters)
	if own := ctx.Err(); err != nil && own != nil && !errors.Is(err, own) {
		err = fmt.Errorf("%w: %w", own, err)
	}
	if broken(err) {
		// The client may not have noticed: an answer that broke off, say.
		closeConn(s.conn)
	}
	return classed(err)
}

// broken reports whether a connection is of no use after an error.
func broken(err error) bool {
	if err == nil || err == bindings.ErrNotFound {
		return false
	}
	c := class(err)
	return c == bindings.Unavailable || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (s *session) do(ctx context.Context, op *bindings.Op) error {
	switch op.Kind {
	case traces.Read:
		return s.read(ctx, op)
	case traces.Scan:
		return s.scan(ctx, op)
	case traces.Insert, traces.Update:
		return s.write(ctx, op, op.Kind)
	case traces.ReadModifyWrite:
		if err := s.read(ctx, op); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
		s.parameters = s.parameters[:0]
		return s.write(ctx, op, traces.Update)
	case traces.Delete:
		s.bind(op.Key)
		return s.run(ctx, sqltable.Shape{Kind: traces.Delete})
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("mysql has no operation %v", op.Kind)}
}

// bind adds a parameter.
func (s *session) bind(value driver.Value) {
	s.parameters = append(s.parameters, driver.NamedValue{Ordinal: len(s.parameters) + 1, Value: value})
}

// query runs a statement that answers with rows and gives each to take, whose
// values are valid during the call.
func (s *session) query(ctx context.Context, of sqltable.Shape, take func(values []driver.Value) error) error {
	p, err := s.statement(ctx, of)
	if err != nil {
		return err
	}
	rows, err := p.query.QueryContext(ctx, s.parameters)
	if err != nil {
		return err
	}
	n := len(rows.Columns())
	s.columns = slices.Grow(s.columns[:0], n)[:n]
	for {
		err := rows.Next(s.columns)
		if err == nil {
			err = take(s.columns)
		}
		if err == io.EOF {
			return rows.Close()
		}
		if err != nil {
			rows.Close() // what it says is the same
			return err
		}
	}
}

func (s *session) read(ctx context.Context, op *bindings.Op) error {
	s.bind(op.Key)
	found := false
	err := s.query(ctx, s.binding.table.Reading(traces.Read, op.Read), func(values []driver.Value) error {
		found = true
		return s.give(op, op.Key, values)
	})
	if err == nil && !found {
		return bindings.ErrNotFound
	}
	return err
}

// give hands a row to the operation's rows. A column without a value is a field
// that isn't there.
func (s *session) give(op *bindings.Op, key []byte, values []driver.Value) error {
	if op.Rows == nil {
		return nil
	}
	names := s.binding.table.Named(op.Read)
	op.Rows.Row(key)
	for i, v := range values {
		if v == nil {
			continue
		}
		value, err := raw(v, names[i])
		if err != nil {
			return err
		}
		op.Rows.Field(names[i], value)
	}
	return nil
}

// raw returns the bytes of a column, which must be of a type of text or bytes.
func raw(v driver.Value, column string) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("column %q holds neither text nor bytes", column)}
	}
	return b, nil
}

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	s.bind(op.Key)
	s.bind(int64(max(op.ScanLength, 0)))
	return s.query(ctx, s.binding.table.Reading(traces.Scan, op.Read), func(values []driver.Value) error {
		last := len(values) - 1
		key, err := raw(values[last], keyColumn)
		if err != nil {
			return err
		}
		return s.give(op, key, values[:last])
	})
}

// write runs an INSERT or an UPDATE.
func (s *session) write(ctx context.Context, op *bindings.Op, kind traces.Kind) error {
	if len(op.Write) == 0 {
		return sqltable.ErrNoField
	}
	for i := range op.Write {
		value := op.Write[i].Value
		if value == nil {
			// Nil would be no value at all.
			value = []byte{}
		}
		s.bind(value)
	}
	s.bind(op.Key)
	return s.run(ctx, s.binding.table.Writing(kind, op.Write))
}

// run runs a statement that changes one row; none means not found.
func (s *session) run(ctx context.Context, of sqltable.Shape) error {
	p, err := s.statement(ctx, of)
	if err != nil {
		return err
	}
	done, err := p.exec.ExecContext(ctx, s.parameters)
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return bindings.ErrNotFound
	}
	return err
}
