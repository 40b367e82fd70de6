package tracegen

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"pianola/traces"
)

// Progress is how far a Generator has come, in operations.
type Progress struct {
	Phase string
	// Done of the phase; Of is the number it will have, at most.
	Done, Of uint64
}

// Write writes all operations to w and reports each block to progress, if it
// is not nil. It ends early with ctx's error. Each call writes the same.
//
// Blocks are made by as many goroutines as there are processors, and written in
// order by the caller's.
func (g *Generator) Write(ctx context.Context, w *traces.Writer, progress func(Progress)) error {
	p := press{writer: w, progress: progress, workers: runtime.GOMAXPROCS(0)}
	for _, s := range g.phases {
		if err := p.print(ctx, s); err != nil {
			return err
		}
		p.phase++
	}
	return nil
}

// press makes the blocks of one phase after another in parallel.
type press struct {
	writer   *traces.Writer
	workers  int
	progress func(Progress)
	// phase is the index of the phase, first that of its first operation over the
	// trace, begins what came before it.
	phase  int
	first  uint64
	begins mark
}

// pressSlot holds a block from its beginning until it is written: that of
// number k of its phase is in slot k modulo their number.
type pressSlot struct {
	workspace
	encoded traces.EncodedBlock
	// mark brings the mark in front of the block. The goroutine of the block
	// before sends it as soon as it has counted, long before its block is done.
	mark chan mark
	// made says that the block is there.
	made chan made
}

// made is what is known of a block that was made.
type made struct {
	end mark
	err error
}

// print makes and writes a phase.
func (p *press) print(ctx context.Context, s *phaseSource) error {
	slots := make([]pressSlot, 2*p.workers)
	for i := range slots {
		slots[i].mark, slots[i].made = make(chan mark, 1), make(chan made, 1)
	}
	run := s.start(p.begins, len(slots))
	run.phase, run.first = p.phase, p.first
	slots[0].mark <- run.begins
	blocks := (s.ops + traces.BlockOps - 1) / traces.BlockOps

	// Blocks are begun in order, so that the one before has always begun. Those
	// that are begun end: whoever is waited for does not wait for what is behind.
	begun := make(chan uint64, len(slots))
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(begun)
	for range p.workers {
		workers.Go(func() {
			encoder := p.writer.NewEncoder()
			for k := range begun {
				at, next := &slots[k%uint64(len(slots))], &slots[(k+1)%uint64(len(slots))]
				at.made <- p.make(run, k, at, next, encoder)
			}
		})
	}
	next := uint64(0)
	for done := uint64(0); done < blocks; done++ {
		for ; next < blocks && next < done+uint64(len(slots)); next++ {
			begun <- next
		}
		slot := &slots[done%uint64(len(slots))]
		m := <-slot.made
		if err := ctx.Err(); err != nil {
			return err
		}
		if m.err != nil {
			return fmt.Errorf("generate phase %s: %w", s.name, m.err)
		}
		n := uint64(slot.block.Len())
		if n > 0 {
			if err := p.writer.Append(&slot.encoded); err != nil {
				return err
			}
			p.first += n
			p.begins = m.end
		}
		end := done*traces.BlockOps + n
		short := n < traces.BlockOps
		if p.progress != nil && n > 0 {
			of := s.ops
			if short {
				of = end
			}
			p.progress(Progress{s.name, end, of})
		}
		if short {
			return nil
		}
	}
	return nil
}

// make makes and encodes block k of a phase.
func (p *press) make(run *phaseRun, k uint64, at, next *pressSlot, encoder *traces.Encoder) made {
	sum := run.sketch(&at.workspace, k)
	begins := <-at.mark
	run.begin(k, begins)
	next.mark <- begins.after(sum)
	end, err := run.finish(&at.workspace, begins)
	if err == nil && at.block.Len() > 0 {
		err = encoder.Encode(&at.block, &at.encoded)
	}
	return made{end, err}
}
