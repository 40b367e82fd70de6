package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

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

// Close ends the statements, without which the connection would stay, and the
// connection.
func (s *session) Close() error {
	var errs []error
	for _, p := range s.prepared {
		// The one that could not be prepared is none.
		if p.Stmt != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// statement returns a statement, and prepares it if need be.
func (s *session) statement(of sqltable.Shape) (statement, error) {
	if p, ok := s.prepared[of]; ok {
		return p, nil
	}
	of.Fields = strings.Clone(of.Fields)
	p, err := s.conn.prepare(s.binding.table.Statement(of))
	if err != nil {
		return statement{}, err
	}
	s.prepared[of] = p
	return p, nil
}

func (s *session) Do(ctx context.Context, op *bindings.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.do(ctx, op)
	clear(s.parameters[:cap(s.parameters)])
	return classed(err)
}

func (s *session) do(ctx context.Context, op *bindings.Op) error {
	switch op.Kind {
	case traces.Read:
		return s.read(op)
	case traces.Scan:
		return s.scan(ctx, op)
	case traces.Insert, traces.Update:
		return s.write(op, op.Kind)
	case traces.ReadModifyWrite:
		if err := s.read(op); err != nil {
			return err
		}
		op.ReadEnded = s.binding.clock.Now()
		return s.write(op, traces.Update)
	case traces.Delete:
		s.begin()
		s.bind(asText(op.Key))
		return s.run(sqltable.Shape{Kind: traces.Delete})
	}
	return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("sqlite has no operation %v", op.Kind)}
}

// begin forgets the parameters of the last statement.
func (s *session) begin() { s.parameters = s.parameters[:0] }

// bind adds a parameter.
func (s *session) bind(value driver.Value) {
	s.parameters = append(s.parameters, driver.NamedValue{Ordinal: len(s.parameters) + 1, Value: value})
}

// asText returns a key as the client knows text, without a copy: the client
// makes its own, and the runner leaves the key alone until the answer.
func asText(key []byte) string { return unsafe.String(unsafe.SliceData(key), len(key)) }

// query runs a statement that answers with rows and gives each to take, whose
// values are valid during the call.
func (s *session) query(of sqltable.Shape, take func(values []driver.Value) error) (err error) {
	p, err := s.statement(of)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(context.Background(), s.parameters)
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
			return errors.Join(err, rows.Close())
		}
	}
}

func (s *session) read(op *bindings.Op) error {
	s.begin()
	s.bind(asText(op.Key))
	found := false
	err := s.query(s.binding.table.Reading(traces.Read, op.Read), func(values []driver.Value) error {
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

// raw returns the bytes of a column, which must hold text or bytes.
func raw(v driver.Value, column string) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return v, nil
	case string:
		return []byte(v), nil
	}
	return nil, &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("column %q holds neither text nor bytes", column)}
}

// scanCheck is the number of records between two looks at the context.
const scanCheck = 1 << 8

func (s *session) scan(ctx context.Context, op *bindings.Op) error {
	s.begin()
	s.bind(asText(op.Key))
	s.bind(int64(max(op.ScanLength, 0)))
	n := 0
	return s.query(s.binding.table.Reading(traces.Scan, op.Read), func(values []driver.Value) error {
		if n++; n%scanCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		last := len(values) - 1
		key, err := raw(values[last], keyColumn)
		if err != nil {
			return err
		}
		return s.give(op, key, values[:last])
	})
}

// write runs an INSERT or an UPDATE.
func (s *session) write(op *bindings.Op, kind traces.Kind) error {
	if len(op.Write) == 0 {
		return sqltable.ErrNoField
	}
	s.begin()
	for i := range op.Write {
		value := op.Write[i].Value
		if value == nil {
			// Nil would be no value at all.
			value = []byte{}
		}
		s.bind(value)
	}
	s.bind(asText(op.Key))
	return s.run(s.binding.table.Writing(kind, op.Write))
}

// run runs a statement that changes one row, when it is its turn; none means not
// found.
func (s *session) run(of sqltable.Shape) error {
	p, err := s.statement(of)
	if err != nil {
		return err
	}
	s.binding.turn.Take()
	done, err := p.ExecContext(context.Background(), s.parameters)
	s.binding.turn.Give()
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return bindings.ErrNotFound
	}
	return err
}
