package tracegen

import (
	"pianola/tracegen/dist"
	"pianola/tracegen/random"
)

// keyLaw chooses the keys of everything but inserts. n is the number of records
// that may be read: key numbers below it.
type keyLaw interface {
	key(src *random.Source, n uint64) uint64
}

// rankLaw draws the popularity ranks of a folded law.
type rankLaw interface {
	Sample(src *random.Source) uint64
}

// redrawMax bounds the draws for a key that may be read. Where most of a law's
// range isn't inserted yet (few records, many inserts) the law would be drawn
// from for ever; a key is then drawn uniformly. A key that may be read in one
// draw of 100 is missed for that long once in 10^17.
const redrawMax = 4096

func redraw(src *random.Source, n uint64, draw func() uint64) uint64 {
	for range redrawMax {
		if key := draw(); key < n {
			return key
		}
	}
	return src.Below(n)
}

// uniformLaw draws from the records loaded, as YCSB does.
type uniformLaw struct{ records uint64 }

func (l *uniformLaw) key(src *random.Source, _ uint64) uint64 { return src.Below(l.records) }

// latestLaw is zipf over the age of the records, the newest first.
type latestLaw struct{ ages *dist.Growing }

func (l *latestLaw) key(src *random.Source, n uint64) uint64 { return n - 1 - l.ages.Sample(src, n) }

// exactLaw is zipf over the records and the expected inserts, scrambled.
type exactLaw struct {
	ranks    *dist.Zipf
	scramble *dist.Scramble
}

func (l *exactLaw) key(src *random.Source, n uint64) uint64 {
	return redraw(src, n, func() uint64 { return l.scramble.Map(l.ranks.Sample(src)) })
}

// foldedLaw is YCSB's: ranks of 10^10 + 1 items, folded by a hash.
type foldedLaw struct {
	ranks rankLaw
	fold  dist.Fold
}

func (l *foldedLaw) key(src *random.Source, n uint64) uint64 {
	return redraw(src, n, func() uint64 { return l.fold.Key(l.ranks.Sample(src)) })
}
