package traces

import (
	"fmt"
	"io"
	"sort"
)

// position is an op that Scan is to go on with, within the block that comes
// next.
type position struct {
	// op is the index over the trace, due a time in ticks of the phase.
	op, due uint64
	phase   int
}

// in returns the place of the position in b; what is behind its end is left for
// the next block.
func (p *position) in(b *Block) int {
	at := 0
	if p.op > b.First {
		at = int(min(p.op-b.First, uint64(b.Len())))
	}
	if p.due > 0 && b.Phase == p.phase {
		at = max(at, sort.Search(b.Len(), func(i int) bool { return b.Due[i] >= p.due }))
	}
	if at < b.Len() {
		*p = position{}
	}
	return at
}

// Seekable reports whether the reader can seek: a stream is read in order.
func (r *Reader) Seekable() bool {
	_, ok := r.source.(*fileSource)
	return ok
}

// SkipTo makes the next block, and the next op of Scan, the first one of the
// given phase or of a later one, if that is still ahead. Totals of what is left
// out are taken from the footer, everything behind is checked as ever. A stream
// can't be sought in: that is an error.
func (r *Reader) SkipTo(phase int) error {
	f, err := r.seekable(fmt.Sprintf("skip to phase %d", phase))
	if err != nil {
		return err
	}
	if phase < 0 || phase >= len(r.header.Phases) {
		return fmt.Errorf("skip to phase %d of %s: it has %d", phase, r.path, len(r.header.Phases))
	}
	if r.at < r.block.Len() && r.block.Phase < phase {
		r.at = r.block.Len()
	}
	next := r.delivered(f)
	for next < len(r.footer.blocks) && r.footer.blocks[next].phase < phase {
		next++
	}
	if next == r.delivered(f) {
		return nil
	}
	if next == len(r.footer.blocks) {
		// Nothing is left to read: the tally ends where the trace does.
		r.stopAhead()
		f.next = next
		r.tally.resume(len(r.header.Phases)-1, r.end(), r.footer.totals.Phases)
		r.tally.whole = len(r.header.Phases)
		r.tally.totals.Phases = append([]PhaseTotal(nil), r.footer.totals.Phases...)
		return nil
	}
	return r.seek(f, next)
}

// SeekOp makes the op with the given index over the trace the next one of Scan,
// and its block the next one of NextBlock. The blocks before it are not read,
// but for what says which records its ops see.
func (r *Reader) SeekOp(index uint64) error {
	f, err := r.seekable(fmt.Sprintf("seek op %d", index))
	if err != nil {
		return err
	}
	if index >= r.end() {
		return fmt.Errorf("seek op %d of %s: it has %d", index, r.path, r.end())
	}
	blocks := r.footer.blocks
	k := sort.Search(len(blocks), func(i int) bool { return blocks[i].first > index }) - 1
	if err := r.seek(f, k); err != nil {
		return err
	}
	r.from = position{op: index}
	return nil
}

// SeekDue makes the first op of the given phase that is due at the given tick
// or later the next one of Scan, as SeekOp does; behind the last one that is
// what follows the phase. The phase must be paced.
func (r *Reader) SeekDue(phase int, tick uint64) error {
	f, err := r.seekable(fmt.Sprintf("seek tick %d of phase %d", tick, phase))
	if err != nil {
		return err
	}
	if phase < 0 || phase >= len(r.header.Phases) || !r.header.Phases[phase].Paced {
		return fmt.Errorf("seek tick %d of phase %d of %s: there is no such paced phase", tick, phase, r.path)
	}
	blocks := r.footer.blocks
	first := sort.Search(len(blocks), func(i int) bool { return blocks[i].phase >= phase })
	k := first + sort.Search(len(blocks)-first, func(i int) bool {
		b := &blocks[first+i]
		return b.phase > phase || b.tick >= tick
	})
	// Ops before the block's first may have the same due time, or a later one
	// than was asked for.
	k = max(k-1, first)
	if k == len(blocks) || blocks[k].phase != phase {
		return fmt.Errorf("seek tick %d of phase %s of %s: the phase has no ops", tick, r.header.Phases[phase].Name, r.path)
	}
	if err := r.seek(f, k); err != nil {
		return err
	}
	r.from = position{due: tick, phase: phase}
	return nil
}

// end is the number of ops of the trace.
func (r *Reader) end() (ops uint64) {
	for i := range r.footer.totals.Phases {
		ops += r.footer.totals.Phases[i].Count()
	}
	return ops
}

func (r *Reader) seekable(what string) (*fileSource, error) {
	if r.err != nil && r.err != io.EOF {
		return nil, r.err
	}
	f, ok := r.source.(*fileSource)
	if !ok {
		return nil, fmt.Errorf("%s of %s: it is a stream, which is read in order", what, r.path)
	}
	return f, nil
}

// delivered is the index of the block that NextBlock gives next.
func (r *Reader) delivered(f *fileSource) int {
	if r.ahead != nil {
		return r.ahead.delivered
	}
	return f.next
}

// seek makes block k the next one.
func (r *Reader) seek(f *fileSource, k int) error {
	r.stopAhead()
	r.block.Reset()
	r.at, r.from, r.err = 0, position{}, nil
	blocks, totals := r.footer.blocks, r.footer.totals.Phases
	phase, first := blocks[k].phase, blocks[k].first
	r.tally.resume(phase, first, totals)
	r.sight.resume(phase, first, totals)
	f.next = k
	if r.sight.visibility == nil || !r.sight.resumed {
		return nil
	}
	start := first - r.sight.phaseNext
	back := k
	for delay := r.header.Phases[phase].VisibilityOps; back > 0 && blocks[back-1].phase == phase && blocks[back].first+delay > first; {
		back--
	}
	var b Block
	for f.next = back; f.next < k; {
		field, err := f.nextBlock()
		if err == nil {
			_, err = r.codec.open(field, &b)
		}
		if err == nil {
			err = checkRecalled(&b, blocks[f.place.block].blockStart)
		}
		if err != nil {
			r.err = corrupt(r.path, f.where(), err)
			return r.err
		}
		r.sight.recall(b.First-start, b.Kinds)
	}
	return nil
}

// checkRecalled checks the place of a block of which only the kinds are read.
func checkRecalled(b *Block, want blockStart) error {
	if b.First != want.first || b.Phase != want.phase {
		return broken(invTotals, "block with op %d, phase %d; the footer says %d, %d", b.First, b.Phase, want.first, want.phase)
	}
	return nil
}
