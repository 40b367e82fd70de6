package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"pianola/cmd/status"
	"pianola/tracegen"
)

// position is how far the generation or the reading of a trace has come.
type position struct {
	// doing says what it is, and ends in a blank unless it is empty.
	doing string
	last  atomic.Pointer[reached]
}

// reached is progress in a phase that began at some time.
type reached struct {
	tracegen.Progress
	begin time.Time
}

// set takes the progress after a block. The time of a phase counts from the end
// of its first block.
func (p *position) set(now tracegen.Progress) {
	next := &reached{now, time.Now()}
	if last := p.last.Load(); last != nil && last.Phase == now.Phase {
		next.begin = last.begin
	}
	p.last.Store(next)
}

func (p *position) text() string {
	at := p.last.Load()
	if at == nil {
		return ""
	}
	return fmt.Sprintf("%sphase %s: %s", p.doing, at.Phase, status.Far(at.Done, at.Of, time.Since(at.begin)))
}
