package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"pianola/bindings"
	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
)

// Action is one of those that Multi does, and what has become of it.
type Action struct {
	wire.Action

	// Err is its error, with a class; nil if it was done.
	Err error
	// Cells is what a Get has read, Exists the answer to one with ExistenceOnly.
	Cells  []wire.Cell
	Exists bool
}

func (a *Action) row() []byte {
	if a.Get != nil {
		return a.Get.Row
	}
	return a.Mutate.Row
}

// check refuses what would cost the other actions of its call.
func (a *Action) check() error {
	switch n := len(a.row()); {
	case n == 0 || n > maxRow:
		return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("a key of %d bytes, rows have 1 to %d", n, maxRow)}
	case a.Mutate != nil && a.Mutate.Absent != "":
		return &bindings.Error{Class: bindings.Invalid, Err: errors.New("a condition has no place in a Multi")}
	}
	return nil
}

// maxRow is the length of the longest key of a row (HConstants.MAX_ROW_LENGTH).
const maxRow = 1<<15 - 1

// Multi does actions on any rows of the table, with one call to each server that
// has some of them, all at the same time, and returns when each action has its
// answer. Each has its own: what one of them is refused for is nothing to the
// others, nothing is undone, and a server does them in an order of its own. What
// fails for a call as a whole fails for its actions.
//
// An action whose region is served elsewhere was not done. Where the region is
// now is looked up, and the action sent again, until ctx ends; elsewhere is how
// often that was. Calls go by the connections of a slot.
func (c *Cluster) Multi(ctx context.Context, slot int, actions []*Action) (elsewhere int) {
	left := make([]*Action, 0, len(actions))
	for _, a := range actions {
		if a.Err = a.check(); a.Err == nil {
			left = append(left, a)
		}
	}
	for attempt := 0; len(left) > 0; attempt++ {
		if err := Pause(ctx, attempt); err != nil {
			for _, a := range left {
				a.Err = rpc.Classed(err)
			}
			break
		}
		left = c.multi(ctx, slot, left)
		elsewhere += len(left)
	}
	return elsewhere
}

// multi sends actions once. It returns those that were not done since nobody
// serves their region where it was sought.
func (c *Cluster) multi(ctx context.Context, slot int, actions []*Action) (again []*Action) {
	var calls []*serverCall
	nowhere := false
	for _, a := range actions {
		r, err := c.Find(a.row()), errNoRegion
		if r == nil && !nowhere { // one lookup in vain is enough for an attempt
			r, err = c.Locate(ctx, a.row())
		}
		switch {
		case r != nil:
			calls = addTo(calls, r, a)
		case Passes(err) && ctx.Err() == nil:
			nowhere = true
			again = append(again, a)
		default:
			a.Err = Classed(err)
		}
	}
	var underWay sync.WaitGroup
	for _, call := range calls {
		underWay.Go(func() { call.do(ctx, c, slot) })
	}
	underWay.Wait()
	for _, call := range calls {
		again = append(again, call.again...)
	}
	return again
}

// serverCall is the call to one server.
type serverCall struct {
	server  *Server
	regions []*Region
	actions [][]*Action // by region
	again   []*Action
}

// addTo adds an action to the call to the server of its region.
func addTo(calls []*serverCall, r *Region, a *Action) []*serverCall {
	at := slices.IndexFunc(calls, func(call *serverCall) bool { return call.server == r.Server })
	if at < 0 {
		at, calls = len(calls), append(calls, &serverCall{server: r.Server})
	}
	call := calls[at]
	i := slices.Index(call.regions, r)
	if i < 0 {
		i = len(call.regions)
		call.regions, call.actions = append(call.regions, r), append(call.actions, nil)
	}
	call.actions[i] = append(call.actions[i], a)
	return calls
}

func (s *serverCall) do(ctx context.Context, c *Cluster, slot int) {
	conn, err := s.server.Connect(ctx, slot)
	if err != nil {
		for i, r := range s.regions {
			c.Forget(r) // the next asks again where it is
			s.fail(i, err)
		}
		return
	}
	request := &wire.Multi{Regions: make([]wire.RegionActions, len(s.regions))}
	for i, r := range s.regions {
		request.Regions[i].Region = r.Name
		for _, a := range s.actions[i] {
			request.Regions[i].Actions = append(request.Regions[i].Actions, a.Action)
		}
	}
	if n := request.Size(); n > wire.MaxFrame {
		for i := range s.regions {
			s.fail(i, &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("a call of %d bytes, at most %d are possible", n, wire.MaxFrame)})
		}
		return
	}
	var answers [][]wire.ActionAnswer
	err = conn.AskFor(ctx, request, func(r *wire.Response) (err error) {
		answers, err = wire.ParseMulti(&wire.Response{Message: r.Message, Cells: bytes.Clone(r.Cells)}, request)
		return err
	})
	for i, r := range s.regions {
		if err == nil {
			s.take(c, i, answers[i])
		} else if isElsewhere(err) {
			c.Forget(r)
			s.again = append(s.again, s.actions[i]...)
		} else {
			s.fail(i, err)
		}
	}
}

// fail gives the actions for a region an error.
func (s *serverCall) fail(region int, err error) {
	for _, a := range s.actions[region] {
		a.Err = rpc.Classed(err)
	}
}

// take gives the actions for a region their answers.
func (s *serverCall) take(c *Cluster, region int, answers []wire.ActionAnswer) {
	moved := false
	for i, a := range s.actions[region] {
		answer := &answers[i]
		a.Err, a.Cells, a.Exists = nil, answer.Cells, answer.Exists
		if answer.Exception == nil {
			continue
		}
		remote := rpc.NamedError(answer.Exception.GetName(), string(answer.Exception.GetValue()))
		if remote.Elsewhere() {
			moved = true
			s.again = append(s.again, a)
		} else {
			a.Err = rpc.Classed(remote)
		}
	}
	if moved {
		c.Forget(s.regions[region])
	}
}
