package traces

// BlockPlace is what the index of a trace says of one block.
type BlockPlace struct {
	// Phase is its index, First that of its first op over the trace.
	Phase int
	First uint64
	// Due is when its first op is due, in ticks from the start of the phase.
	Due uint64
	// Bytes of its frame in the file.
	Bytes uint32
}

// Places returns the index, or false as long as it is not known: for a stream
// until NextBlock has returned io.EOF.
func (r *Reader) Places() ([]BlockPlace, bool) {
	if r.footer == nil {
		return nil, false
	}
	out := make([]BlockPlace, len(r.footer.blocks))
	for i := range out {
		b := &r.footer.blocks[i]
		out[i] = BlockPlace{Phase: b.phase, First: b.first, Due: b.tick, Bytes: b.size}
	}
	return out, true
}
