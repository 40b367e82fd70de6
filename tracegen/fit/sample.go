// Package fit tests whether the operations of a trace follow the laws of its
// spec: it counts them in classes and compares the counts with the shares that
// are stated, and with those of a trace that the same spec makes of another seed.
// The classes don't depend on the seed: where it strews the keys, they are of
// ranks.
package fit

import (
	"math/bits"

	"pianola/traces"
	"pianola/traces/keymap"
)

// Slices of the records loaded that keys without ranks are counted in.
const keySlices = 64

// hotFolded is the number of ranks of a folded law whose records have a class
// each.
const hotFolded = 64

// classes is the greatest number of classes of anything.
const classes = 512

// dueFactor is the odd number that a checksum of due times is multiplied by at
// each, that of FNV-1a in 64 bits.
const dueFactor = 1099511628211

// Sample counts the operations of one phase in classes.
type Sample struct {
	header *traces.Header
	phase  *traces.Phase
	// Kinds by kind; gaps, scan lengths and field sets by the logarithm and the
	// next two bits, keys as the law of the phase asks for.
	kinds                               [traces.KindLimit]uint64
	gaps, keys, lengths, reads, written [classes]uint64

	// ops counts all operations; due is a checksum of their due times in order.
	ops, due uint64

	scramble *keymap.Scramble
	hot      map[uint64]int
	last     uint64
	previous uint64
	// deletes of the trace up to the last operation.
	deletes uint64
}

// NewSample returns an empty sample of a phase of a checked header.
func NewSample(h *traces.Header, phase int) (*Sample, error) {
	s := &Sample{header: h, phase: &h.Phases[phase]}
	m := &s.phase.KeyMap
	var err error
	switch m.Code {
	case traces.CodeScrambled:
		s.scramble, err = keymap.NewScramble(m.Items, m.RoundKeys)
	case traces.CodeFolded:
		var fold keymap.Fold
		if fold, err = keymap.NewFold(m.Items); err == nil {
			s.hot = map[uint64]int{}
			for rank := range hotFolded {
				s.hot[fold.Key(uint64(rank))] = rank
			}
		}
	}
	return s, err
}

// logClass returns the class of a number: 0 to 7 have one each, each octave from
// there on has four.
func logClass(v uint64) int {
	shift := max(bits.Len64(v), 3) - 3
	return shift<<2 + int(v>>shift)
}

// Add counts the operations of a block of the phase.
func (s *Sample) Add(b *traces.Block) {
	s.deletes = b.DeletesBefore
	var op traces.Op
	for j := range b.Len() {
		b.Op(j, &op)
		s.kinds[op.Kind]++
		s.ops++
		if s.phase.Paced {
			s.due = (s.due ^ op.Due*uint64(s.header.Tick)) * dueFactor
			s.gaps[logClass(op.Due-s.last)]++
			s.last = op.Due
		}
		if op.Kind == traces.Scan {
			s.lengths[logClass(uint64(op.ScanLength))]++
		}
		if op.Kind.Reads() {
			s.reads[logClass(uint64(op.Read))]++
		}
		switch op.Kind {
		case traces.Delete:
			s.deletes++
			continue
		case traces.Insert:
			continue // as with deletes the key follows from how many there were before
		}
		visible := b.VisibleRecords
		if len(b.Seen) > 0 {
			visible += uint64(b.Seen[j])
		}
		if op.Kind.Writes() {
			s.written[logClass(uint64(op.Written))]++
		}
		s.keys[s.keyClass(op.Key, visible)]++
	}
}

// record returns the record of a key number.
func (s *Sample) record(key uint64) uint64 {
	h := s.header
	if key-h.FirstKey < h.Records || h.InsertFrom == 0 {
		return key - h.FirstKey
	}
	return key - h.InsertFrom + h.Records
}

// keyClass returns the class of the key of an operation that sees so many
// records.
func (s *Sample) keyClass(key, visible uint64) int {
	record := s.record(key)
	switch s.phase.KeyMap.Code {
	case traces.CodeAge:
		return logClass(visible - 1 - record)
	case traces.CodeSuccessor:
		next := s.previous
		if s.previous = record + 1; s.previous == s.header.Records {
			s.previous = 0
		}
		if record == next {
			return 0
		}
		return 1
	case traces.CodeScrambled:
		return logClass(s.scramble.Inverse(record))
	case traces.CodeFolded:
		if rank, hot := s.hot[record]; hot {
			return keySlices + rank
		}
	}
	high, low := bits.Mul64(record, keySlices)
	slice, _ := bits.Div64(high, low, max(s.header.Records, high+1))
	return int(min(slice, keySlices-1))
}
