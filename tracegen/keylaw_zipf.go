package tracegen

import (
	"sort"

	"pianola/tracegen/dist"
	"pianola/tracegen/random"
	"pianola/traces"
	"pianola/traces/keymap"
)

// directShare says when the laws below stop drawing from all of their range and
// throwing away what is not visible: where less than 1 in so many of its
// records are there.
const directShare = 8

// rankLaw draws the popularity ranks of a folded law.
type rankLaw interface {
	Sample(src *random.Source) uint64
	Fill(out []uint64, stream random.Stream, first uint64)
	Share(rank uint64) float64
	From(rank uint64) float64
}

// exactLaw is zipf over the records and the expected inserts, scrambled.
type exactLaw struct {
	ranks    *dist.Zipf
	scramble *keymap.Scramble
	// direct draws where fewer than directBelow records are visible.
	direct      *weightTable
	directBelow uint64
}

// directMax bounds the table of an exactLaw, 8 bytes a record. Beyond it an
// operation takes as many draws on average as the law's range is times what is
// visible; the number falls as fast as inserts come.
const directMax = 1 << 20

func newExactLaw(records, expected uint64, theta float64, stream random.Stream) (*exactLaw, error) {
	n := records + expected
	l := &exactLaw{directBelow: min(n/directShare, directMax)}
	var err error
	if l.ranks, err = dist.NewZipf(n, theta); err != nil {
		return nil, err
	}
	if l.scramble, err = newScramble(n, stream); err != nil {
		return nil, err
	}
	if records < l.directBelow {
		l.direct = newWeightTable(int(l.directBelow), func(record int) float64 {
			return l.ranks.Share(l.scramble.Inverse(uint64(record)))
		})
	}
	return l, nil
}

func (l *exactLaw) ranked() bool { return true }
func (l *exactLaw) keyMap() traces.KeyMap {
	return traces.KeyMap{Code: traces.CodeScrambled, Items: l.scramble.Items(), RoundKeys: l.scramble.Keys()}
}

func (l *exactLaw) fill(c *choices) {
	from := 0
	if l.direct != nil {
		from = c.until(0, l.directBelow)
		c.drawAll(l, 0, from)
	}
	ranks, keys := c.ranks[from:], c.keys[from:]
	l.ranks.Fill(ranks, c.stream, c.first+uint64(from))
	l.scramble.MapAll(keys, ranks)
	if c.victims != nil || len(c.seen) > 0 || c.visible < l.ranks.N() {
		c.settle(l, from, len(c.keys))
	}
}

func (l *exactLaw) draw(src *random.Source, n uint64) (rank, record uint64) {
	if l.direct != nil && n <= l.directBelow {
		record = uint64(l.direct.draw(src, int(n)))
		return l.scramble.Inverse(record), record
	}
	rank = l.ranks.Sample(src)
	return rank, l.scramble.Map(rank)
}

func (l *exactLaw) rankOf(record uint64) uint64 { return l.scramble.Inverse(record) }
func (l *exactLaw) reach() uint64               { return l.ranks.N() }

// foldedLaw is YCSB's: ranks of 10^10 + 1 items, folded by a hash.
type foldedLaw struct {
	ranks   rankLaw
	fold    keymap.Fold
	modulus uint64
	direct  *directFold
}

// notRanked stands for a record that was chosen without a rank.
const notRanked = 1<<64 - 1

func newFoldedLaw(records, modulus uint64, ranks rankLaw) (*foldedLaw, error) {
	l := &foldedLaw{ranks: ranks, modulus: modulus}
	var err error
	if l.fold, err = keymap.NewFold(modulus); err != nil {
		return nil, err
	}
	if records <= modulus/directShare {
		l.direct = newDirectFold(ranks, l.fold, modulus)
	}
	return l, nil
}

func (l *foldedLaw) ranked() bool { return true }
func (l *foldedLaw) keyMap() traces.KeyMap {
	return traces.KeyMap{Code: traces.CodeFolded, Items: l.modulus}
}

func (l *foldedLaw) fill(c *choices) {
	from := 0
	if l.direct != nil {
		from = c.until(0, l.modulus/directShare)
		c.drawAll(l, 0, from)
	}
	ranks, keys := c.ranks[from:], c.keys[from:]
	l.ranks.Fill(ranks, c.stream, c.first+uint64(from))
	l.fold.Keys(keys, ranks)
	c.settle(l, from, len(c.keys))
}

func (l *foldedLaw) draw(src *random.Source, n uint64) (rank, record uint64) {
	if l.direct != nil && n <= l.modulus/directShare {
		return l.direct.draw(src, n)
	}
	rank = l.ranks.Sample(src)
	return rank, l.fold.Key(rank)
}

func (l *foldedLaw) rankOf(uint64) uint64 { return notRanked }
func (l *foldedLaw) reach() uint64        { return everyRecord }

// weightTable draws outcomes below a limit that each draw states, with given
// weights.
type weightTable struct {
	// below[k] is the sum of the weights of outcomes below k.
	below []float64
}

// newWeightTable makes the table of the outcomes below n.
func newWeightTable(n int, weight func(outcome int) float64) *weightTable {
	t := &weightTable{below: make([]float64, n+1)}
	for k := range n {
		t.below[k+1] = t.below[k] + weight(k)
	}
	return t
}

// draw draws an outcome below n >= 1.
func (t *weightTable) draw(src *random.Source, n int) int {
	return t.at(float64(src.Float64()*t.below[n]), n)
}

// at returns the outcome below n >= 1 whose part of the sum holds u.
func (t *weightTable) at(u float64, n int) int {
	return sort.Search(n-1, func(k int) bool { return t.below[k+1] > u })
}

// directFold draws from the records of a folded law that are visible. Those of
// the hottest ranks come with the weights of these ranks. All the other ranks,
// 10^10 of them, give each record the same weight, which is what the hash makes
// of them on average; no one can tell how it strews them but by folding all.
type directFold struct {
	// Ranks below foldApart, in the order of the records they fold to.
	records, ranks []uint64
	weights        *weightTable
	// rest is the weight that the other ranks give to each record.
	rest float64
}

// foldApart is the number of ranks that a directFold draws one by one.
const foldApart = 1 << 17

func newDirectFold(law rankLaw, fold keymap.Fold, modulus uint64) *directFold {
	d := &directFold{records: make([]uint64, foldApart), ranks: make([]uint64, foldApart)}
	for i := range d.ranks {
		d.ranks[i] = uint64(i)
	}
	sort.Slice(d.ranks, func(a, b int) bool {
		ra, rb := d.ranks[a], d.ranks[b]
		if ka, kb := fold.Key(ra), fold.Key(rb); ka != kb {
			return ka < kb
		}
		return ra < rb
	})
	for i, rank := range d.ranks {
		d.records[i] = fold.Key(rank)
	}
	d.weights = newWeightTable(foldApart, func(i int) float64 { return law.Share(d.ranks[i]) })
	d.rest = law.From(foldApart) / float64(modulus)
	return d
}

// draw draws a record below n.
func (d *directFold) draw(src *random.Source, n uint64) (rank, record uint64) {
	hot := sort.Search(len(d.records), func(i int) bool { return d.records[i] >= n })
	apart := d.weights.below[hot]
	if u := float64(src.Float64() * (apart + float64(d.rest*float64(n)))); u < apart {
		i := d.weights.at(u, hot)
		return d.ranks[i], d.records[i]
	}
	return notRanked, src.Below(n)
}
