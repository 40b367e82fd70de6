package postgresql

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"pianola/bindings"
)

// codes is the class of an error of the server by its SQLSTATE, or by the first
// two characters of it.
var codes = map[string]bindings.Class{
	"23505": bindings.Duplicate,
	"57014": bindings.Timeout, "25P03": bindings.Timeout, "55P03": bindings.Timeout,
	"53": bindings.Overloaded, "54": bindings.Invalid,
	"08": bindings.Unavailable, "57": bindings.Unavailable, "58": bindings.Unavailable, "25006": bindings.Unavailable,
	"28": bindings.Unauthorised, "42501": bindings.Unauthorised,
	"0A": bindings.Invalid, "22": bindings.Invalid, "23": bindings.Invalid, "42": bindings.Invalid, "3D": bindings.Invalid, "3F": bindings.Invalid,
}

// class returns the class of an error of the client.
func class(err error) bindings.Class {
	var own *bindings.Error
	var refused *pgconn.PgError
	var operation *net.OpError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &own):
		return own.Class
	case errors.As(err, &refused):
		if c, ok := codes[refused.Code]; ok {
			return c
		}
		if c, ok := codes[refused.Code[:min(2, len(refused.Code))]]; ok {
			return c
		}
		return bindings.Other
	case errors.Is(err, context.Canceled):
		return bindings.Other
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return bindings.Timeout
	case errors.As(err, &operation), errors.As(err, &connect), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return bindings.Unavailable
	}
	return bindings.Other
}

// classed gives an error of the client its class.
func classed(err error) error {
	if err == nil || err == bindings.ErrNotFound {
		return err
	}
	if own, ok := err.(*bindings.Error); ok {
		return own
	}
	c := class(err)
	if c == bindings.Duplicate {
		return bindings.ErrDuplicate
	}
	return &bindings.Error{Class: c, Err: err}
}
