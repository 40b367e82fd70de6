package mongodb

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"pianola/bindings"
)

func TestClasses(t *testing.T) {
	command := func(code int32, labels ...string) error { return mongo.CommandError{Code: code, Labels: labels} }
	write := func(code int) error { return mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code}}} }
	for _, c := range []struct {
		err  error
		want bindings.Class
	}{
		{nil, bindings.OK},
		{mongo.ErrNoDocuments, bindings.NotFound},
		{bindings.ErrNotFound, bindings.NotFound},
		{write(11000), bindings.Duplicate},
		{command(11000), bindings.Duplicate},
		{context.DeadlineExceeded, bindings.Timeout},
		{driver.ErrDeadlineWouldBeExceeded, bindings.Timeout},
		{topology.WaitQueueTimeoutError{Wrapped: context.DeadlineExceeded}, bindings.Timeout},
		{command(50), bindings.Timeout},
		{mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, bindings.Timeout},
		{topology.ConnectionError{Wrapped: context.DeadlineExceeded}, bindings.Timeout},
		// Where there is no server, its deadline is not what an operation lacks.
		{topology.ServerSelectionError{Wrapped: context.DeadlineExceeded}, bindings.Unavailable},
		{topology.ConnectionError{Wrapped: errors.New("broken pipe")}, bindings.Unavailable},
		{command(0, "NetworkError"), bindings.Unavailable},
		{command(10107), bindings.Unavailable},
		{write(11600), bindings.Unavailable},
		{mongo.ErrClientDisconnected, bindings.Unavailable},
		{command(462), bindings.Overloaded},
		{write(112), bindings.Overloaded},
		{command(1, driver.ErrSystemOverloadedError), bindings.Overloaded},
		{command(13), bindings.Unauthorised},
		{topology.ConnectionError{Wrapped: driver.Error{Code: 18}}, bindings.Unauthorised},
		{driver.ErrDocumentTooLarge, bindings.Invalid},
		{command(10334), bindings.Invalid},
		{mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 100}}, bindings.Invalid},
		{command(8), bindings.Other},
		{errors.New("something else"), bindings.Other},
		{context.Canceled, bindings.Other},
	} {
		if got := bindings.ClassOf(classed(c.err)); got != c.want {
			t.Errorf("%T %v is of the class %v, want %v", c.err, c.err, got, c.want)
		}
		if c.err == nil {
			continue
		}
		if got := bindings.ClassOf(classed(fmt.Errorf("wrapped: %w", c.err))); got != c.want {
			t.Errorf("wrapped, %T %v is of the class %v, want %v", c.err, c.err, got, c.want)
		}
	}
}
