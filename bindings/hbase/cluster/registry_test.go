package cluster

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"pianola/bindings"
	"pianola/bindings/hbase/rpc"
)

func TestClasses(t *testing.T) {
	moved := rpc.NamedError("a.b.RegionMovedException", "x")
	for _, c := range []struct {
		err    error
		class  bindings.Class
		passes bool
	}{
		{errNoRegion, bindings.Unavailable, true},
		{errNotYet, bindings.Unavailable, true},
		{errNode, bindings.Unavailable, false},
		{errClosed, bindings.Unavailable, false},
		{moved, bindings.Unavailable, true},
		{rpc.NamedError("PleaseHoldException", ""), bindings.Unavailable, true},
		{rpc.NamedError("CallQueueTooBigException", ""), bindings.Overloaded, false},
		{&rpc.BrokenError{Address: "a", Cause: net.ErrClosed}, bindings.Unavailable, false},
		{rpc.ErrTimeout, bindings.Timeout, false},
		{errors.New("x"), bindings.Other, false},
	} {
		err := fmt.Errorf("around it: %w", errors.Join(c.err))
		if got := bindings.ClassOf(Classed(err)); got != c.class || Passes(err) != c.passes {
			t.Errorf("%v is of class %v, want %v; passes %v", err, got, c.class, Passes(err))
		}
	}
	if Classed(nil) != nil {
		t.Error("nothing is an error")
	}
}
