package ignite

import (
	"context"
	"errors"
	"net"
	"strings"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
)

// class returns the class of an error of the client.
func class(err error) bindings.Class {
	var server *thin.ServerError
	var network net.Error
	var operation *net.OpError
	switch {
	case errors.As(err, &server):
		return serverClass(server)
	case errors.Is(err, thin.ErrFull):
		return bindings.Overloaded
	case errors.Is(err, thin.ErrLost), errors.Is(err, thin.ErrNoConnection), errors.Is(err, thin.ErrClosed):
		return bindings.Unavailable
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return bindings.Timeout
	case errors.As(err, &operation):
		return bindings.Unavailable
	}
	return bindings.Other
}

// words tell the class of an error that has no status of its own, by what the
// server writes; the first that fits counts.
var words = []struct {
	text  string
	class bindings.Class
}{
	{"IgniteOutOfMemory", bindings.Overloaded},
	{"timed out", bindings.Timeout},
	{"Failed to acquire lock within provided timeout", bindings.Timeout},
	{"cluster is inactive", bindings.Unavailable},
	{"topology", bindings.Unavailable},
	{"lost partitions", bindings.Unavailable},
	{"Failed to map keys for cache", bindings.Unavailable},
	{"stopping", bindings.Unavailable},
	{"42000", bindings.Invalid},
	{"indexing is disabled", bindings.Invalid},
	{"Failed to resolve class name", bindings.Invalid},
	{"Cannot find metadata", bindings.Invalid},
}

func serverClass(e *thin.ServerError) bindings.Class {
	switch e.Status {
	case thin.StatusNoCache, thin.StatusUnknownOp, thin.StatusDisabled:
		return bindings.Invalid
	case thin.StatusSecurity, thin.StatusUnauthorised:
		return bindings.Unauthorised
	case thin.StatusNodeState, thin.StatusRecovery:
		return bindings.Unavailable
	case thin.StatusTooManyCursors, thin.StatusTooManyTx, thin.StatusTooManyTasks:
		return bindings.Overloaded
	}
	for _, w := range words {
		if strings.Contains(e.Message, w.text) {
			return w.class
		}
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
	return &bindings.Error{Class: class(err), Err: err}
}
