package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	client "modernc.org/sqlite"

	"pianola/bindings/sqltable"
)

// keyColumn is YCSB's.
const keyColumn = "YCSB_KEY"

var dialect = sqltable.Dialect{Key: keyColumn, Quote: quoted, Place: sqltable.Question}

// quoted returns a name in MySQL's quotes: one in SQL's own that is no column
// would be taken for a text.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// conn is a connection of the client. Operations give it no context that can
// end: the client would start a goroutine for each.
type conn struct{ driver.Conn }

// statement is a prepared statement of the client with what we use of it.
type statement struct {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

// opener opens connections; it has no functions of anybody else's on them.
var opener client.Driver

// connect opens a connection to a file and sets it up.
func connect(ctx context.Context, path string, pragmas ...string) (*conn, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// As a URL a path may have any character in it.
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}
	if !strings.HasPrefix(address.Path, "/") {
		address.Path = "/" + address.Path
	}
	opened, err := opener.Open(address.String())
	if err != nil {
		return nil, err
	}
	c := &conn{opened}
	for _, p := range pragmas {
		if _, err := c.ask(ctx, "PRAGMA "+p); err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", p, err), c.Close())
		}
	}
	return c, nil
}

func (c *conn) prepare(text string) (statement, error) {
	p, err := c.Prepare(text)
	if err != nil {
		return statement{}, err
	}
	return statement{p, p.(driver.StmtQueryContext), p.(driver.StmtExecContext)}, nil
}

// ask runs a statement and returns the first value of its answer as text, or "".
func (c *conn) ask(ctx context.Context, text string, parameters ...string) (answer string, err error) {
	p, err := c.prepare(text)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var named []driver.NamedValue
	for i, value := range parameters {
		named = append(named, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	rows, err := p.QueryContext(ctx, named)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(values); {
	case err == io.EOF:
		return "", nil
	case err != nil:
		return "", err
	case len(values) == 0:
		return "", nil
	}
	if b, ok := values[0].([]byte); ok {
		return string(b), nil
	}
	return fmt.Sprint(values[0]), nil
}
