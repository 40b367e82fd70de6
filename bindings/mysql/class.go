package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"

	"pianola/bindings"
)

// numbers is the class of an error of the server. Those not listed mean that the
// statement doesn't suit the table, or something of the server's own.
var numbers = map[uint16]bindings.Class{
	1062: bindings.Duplicate, 1586: bindings.Duplicate,
	1205: bindings.Timeout, 1317: bindings.Timeout, 1969: bindings.Timeout, 3024: bindings.Timeout,
	// Too many connections, of all or of one user; too many prepared statements;
	// out of memory, threads or disk.
	1040: bindings.Overloaded, 1203: bindings.Overloaded, 1226: bindings.Overloaded, 1461: bindings.Overloaded,
	1037: bindings.Overloaded, 1041: bindings.Overloaded, 1135: bindings.Overloaded, 1021: bindings.Overloaded, 1114: bindings.Overloaded,
	// Shutting down, killed, read only, behind a load balancer without a server.
	1053: bindings.Unavailable, 1077: bindings.Unavailable, 1152: bindings.Unavailable, 1184: bindings.Unavailable,
	1290: bindings.Unavailable, 1792: bindings.Unavailable, 1836: bindings.Unavailable, 1927: bindings.Unavailable,
	1044: bindings.Unauthorised, 1045: bindings.Unauthorised, 1142: bindings.Unauthorised, 1143: bindings.Unauthorised,
	1227: bindings.Unauthorised, 1370: bindings.Unauthorised, 1698: bindings.Unauthorised,
	1046: bindings.Invalid, 1048: bindings.Invalid, 1049: bindings.Invalid, 1054: bindings.Invalid, 1064: bindings.Invalid,
	1118: bindings.Invalid, 1146: bindings.Invalid, 1153: bindings.Invalid, 1193: bindings.Invalid, 1264: bindings.Invalid,
	1300: bindings.Invalid, 1364: bindings.Invalid, 1366: bindings.Invalid, 1406: bindings.Invalid, 3988: bindings.Invalid,
}

// class returns the class of an error of the client.
func class(err error) bindings.Class {
	var own *bindings.Error
	var refused *mysql.MySQLError
	var operation *net.OpError
	var network net.Error
	switch {
	case errors.As(err, &own):
		return own.Class
	case errors.Is(err, context.Canceled):
		return bindings.Other
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return bindings.Timeout
	case errors.As(err, &refused):
		if c, ok := numbers[refused.Number]; ok {
			return c
		}
		return bindings.Other
	case errors.Is(err, mysql.ErrPktTooLarge):
		return bindings.Invalid
	case errors.As(err, &operation), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
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
