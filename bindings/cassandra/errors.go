package cassandra

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/gocql/gocql"

	"pianola/bindings"
)

// classed gives an error of the driver or the server its class. Those of the
// context stay as they are.
func classed(err error) error {
	switch err {
	case nil:
		return nil
	case context.DeadlineExceeded, context.Canceled:
		return err
	}
	return &bindings.Error{Class: classOf(err), Err: err}
}

// driverClasses are the errors of the driver itself.
var driverClasses = []struct {
	err   error
	class bindings.Class
}{
	{gocql.ErrTimeoutNoResponse, bindings.Timeout},
	{context.DeadlineExceeded, bindings.Timeout},
	{gocql.ErrNoStreams, bindings.Overloaded},
	{gocql.ErrNoConnections, bindings.Unavailable},
	{gocql.ErrConnectionClosed, bindings.Unavailable},
	{gocql.ErrSessionClosed, bindings.Unavailable},
	{gocql.ErrNoConnectionsStarted, bindings.Unavailable},
	{io.EOF, bindings.Unavailable},
	{io.ErrUnexpectedEOF, bindings.Unavailable},
}

// serverClasses are the codes of the protocol's ERROR; what is not in it is
// other: a replica's failure and faults of the server.
var serverClasses = map[int]bindings.Class{
	gocql.ErrCodeProtocol:        bindings.Invalid,
	gocql.ErrCodeCredentials:     bindings.Unauthorised,
	gocql.ErrCodeUnavailable:     bindings.Unavailable,
	gocql.ErrCodeOverloaded:      bindings.Overloaded,
	gocql.ErrCodeBootstrapping:   bindings.Unavailable,
	gocql.ErrCodeWriteTimeout:    bindings.Timeout,
	gocql.ErrCodeReadTimeout:     bindings.Timeout,
	gocql.ErrCodeCASWriteUnknown: bindings.Timeout,
	gocql.ErrCodeFunctionFailure: bindings.Invalid,
	gocql.ErrCodeSyntax:          bindings.Invalid,
	gocql.ErrCodeUnauthorized:    bindings.Unauthorised,
	gocql.ErrCodeInvalid:         bindings.Invalid,
	gocql.ErrCodeConfig:          bindings.Invalid,
	gocql.ErrCodeAlreadyExists:   bindings.Duplicate,
}

func classOf(err error) bindings.Class {
	var answer gocql.RequestError
	if errors.As(err, &answer) {
		if class, ok := serverClasses[answer.Code()]; ok {
			return class
		}
		return bindings.Other
	}
	for _, d := range driverClasses {
		if errors.Is(err, d.err) {
			return d.class
		}
	}
	var network net.Error
	if errors.As(err, &network) {
		if network.Timeout() {
			return bindings.Timeout
		}
		return bindings.Unavailable
	}
	return bindings.Other
}
