package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"

	"github.com/redis/rueidis"

	"pianola/bindings"
)

// words is the class of an error of the server by its first word. Every other
// one means that the command does not suit what is stored.
var words = map[string]bindings.Class{
	"NOAUTH": bindings.Unauthorised, "WRONGPASS": bindings.Unauthorised, "NOPERM": bindings.Unauthorised,
	"OOM": bindings.Overloaded, "BUSY": bindings.Overloaded, "TRYAGAIN": bindings.Overloaded,
	"LOADING": bindings.Unavailable, "CLUSTERDOWN": bindings.Unavailable, "MASTERDOWN": bindings.Unavailable,
	"READONLY": bindings.Unavailable, "MISCONF": bindings.Unavailable, "NOREPLICAS": bindings.Unavailable,
	"UNBLOCKED": bindings.Unavailable, "MOVED": bindings.Unavailable, "ASK": bindings.Unavailable,
	"EXECABORT": bindings.Other,
}

// class returns the class of an error of the client.
func class(err error) bindings.Class {
	var own *bindings.Error
	if errors.As(err, &own) {
		return own.Class
	}
	if re, ok := rueidis.IsRedisErr(err); ok {
		return serverClass(re.Error())
	}
	var network net.Error
	var operation *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return bindings.Other
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &network) && network.Timeout():
		return bindings.Timeout
	case errors.As(err, &operation), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, rueidis.ErrClosing), errors.Is(err, rueidis.ErrNoSlot):
		return bindings.Unavailable
	}
	return bindings.Other
}

func serverClass(text string) bindings.Class {
	word, _, _ := strings.Cut(text, " ")
	if c, ok := words[word]; ok {
		return c
	}
	switch {
	case strings.HasPrefix(text, "max number of clients"), strings.HasPrefix(text, "ERR max number of clients"):
		return bindings.Overloaded
	case strings.Contains(text, "invalid password"), strings.Contains(text, "without any password configured"):
		return bindings.Unauthorised
	}
	return bindings.Invalid
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
