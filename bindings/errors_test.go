package bindings

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{nil, OK},
		{ErrNotFound, NotFound},
		{fmt.Errorf("read: %w", ErrNotFound), NotFound},
		{ErrDuplicate, Duplicate},
		{&Error{Overloaded, errors.New("busy")}, Overloaded},
		{context.DeadlineExceeded, Timeout},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), Timeout},
		{&Error{Unavailable, context.DeadlineExceeded}, Unavailable},
		{context.Canceled, Other},
		{errors.New("anything"), Other},
	} {
		if got := ClassOf(c.err); got != c.want {
			t.Errorf("ClassOf(%v) = %v, want %v", c.err, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { ClassOf(ErrNotFound) }); n != 0 {
		t.Errorf("ClassOf(ErrNotFound) allocates %v times", n)
	}
}

func TestEveryClassHasAName(t *testing.T) {
	seen := map[string]bool{}
	for c := OK; c < ClassLimit; c++ {
		if name := c.String(); name == "" || seen[name] {
			t.Errorf("class %d is called %q", c, name)
		} else {
			seen[name] = true
		}
	}
	if got := ClassLimit.String(); got != "class 9" {
		t.Errorf("a class that isn't known is called %q", got)
	}
}

func TestPlaceNames(t *testing.T) {
	for p, want := range map[Place]string{Nowhere: "nowhere", Embedded: "embedded", Remote: "remote", 9: "place 9"} {
		if got := p.String(); got != want {
			t.Errorf("Place(%d) is called %q, want %q", int(p), got, want)
		}
	}
}
