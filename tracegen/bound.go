package tracegen

import (
	"math"
	"math/big"

	"pianola/tracegen/dist"
	"pianola/traces"
	"pianola/traces/keymap"
)

// Bound is the entropy of one operation of a phase by the laws that made it, in
// bits on average: no file that holds every operation on its own, whatever its
// format, takes fewer (Shannon, "A Mathematical Theory of Communication", 1948).
type Bound struct {
	Phase                                  string
	Kinds, Keys, Gaps, ScanLengths, Fields float64
}

// Total returns the sum of the parts.
func (b *Bound) Total() float64 { return b.Kinds + b.Keys + b.Gaps + b.ScanLengths + b.Fields }

// Bounds returns the bounds of the phases, in the order of the header. Keys are
// reckoned over the records loaded, and with inserts over half of those to come
// as well: what a law gives is then right to a hundredth of a bit, unless inserts
// outnumber the records. The keys of a load, of inserts and of deletes follow
// from what was before.
func (g *Generator) Bounds() []Bound {
	out := make([]Bound, len(g.phases))
	for i, p := range g.phases {
		out[i].Phase = p.name
		if p.onlyInserts {
			continue
		}
		g.bound(&out[i], p)
	}
	return out
}

func (g *Generator) bound(b *Bound, p *phaseSource) {
	s := g.spec
	share := map[traces.Kind]float64{}
	kinds, parts := shares(s)
	for i, k := range kinds {
		share[k], _ = parts[i].Float64()
		b.Kinds += surprise(share[k])
	}
	b.Keys = (1 - share[traces.Insert] - share[traces.Delete]) * g.keyEntropy(p)
	if s.Arrivals == Poisson {
		// A gap is exponential, in ticks of a hundredth of its mean at the most.
		mean := 1e9 * float64(s.Rate.Denominator) / float64(s.Rate.Numerator) / float64(g.tick)
		b.Gaps = math.Log2(math.E * mean)
	}
	if n := share[traces.Scan]; n > 0 {
		b.ScanLengths = n * s.scanEntropy()
	}
	one := math.Log2(float64(s.Fields.Count))
	for k, n := range share {
		if k.Reads() && !s.ReadAllFields {
			b.Fields += n * one
		}
		if k.Writes() && k != traces.Insert && !s.WriteAllFields {
			b.Fields += n * one
		}
	}
}

// surprise returns -p·log2(p).
func surprise(p float64) float64 {
	if p <= 0 {
		return 0
	}
	return -p * math.Log2(p)
}

// scanEntropy is that of one scan length.
func (s *Spec) scanEntropy() float64 {
	span := uint64(s.ScanMax-s.ScanMin) + 1
	if s.ScanLaw != ScanZipfian {
		return math.Log2(float64(span))
	}
	law, err := dist.NewZipf(span, dist.YCSBTheta)
	if err != nil {
		return 0
	}
	return ranksEntropy(law, span)
}

// keyEntropy is that of one key.
func (g *Generator) keyEntropy(p *phaseSource) float64 {
	s := g.spec
	records := float64(s.Records)
	if p.mix.inserts {
		records += float64(g.expectedInserts()) / 2
	}
	switch s.KeyLaw {
	case Sequential:
		return 0
	case Hotspot:
		data, _ := s.HotData.Float64()
		ops, _ := s.HotOps.Float64()
		return surprise(ops) + surprise(1-ops) + ops*math.Log2(max(1, data*records)) + (1-ops)*math.Log2(max(1, (1-data)*records))
	case Exponential:
		data, _ := s.NewestData.Float64()
		rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), s.NewestOps).Float64()
		return math.Log2(math.E * data * float64(s.Records) / -math.Log(rest))
	case Latest, ZipfianExact:
		law, err := dist.NewZipf(uint64(records), s.Theta)
		if err != nil {
			return 0
		}
		return ranksEntropy(law, uint64(records))
	case ZipfianYCSB:
		return foldedEntropy(p.law.(*foldedLaw), uint64(records))
	}
	return math.Log2(float64(s.Records))
}

// ranked is a law over ranks that fall in probability.
type ranked interface {
	Share(rank uint64) float64
	From(rank uint64) float64
}

const (
	// ranksApart are summed one by one, the others in octaves cut so finely that
	// the probability hardly falls within a piece.
	ranksApart  = 1 << 14
	octavePiece = 1.0 / 64
)

// ranksEntropy is that of a rank below n.
func ranksEntropy(law ranked, n uint64) (h float64) {
	for rank := range min(n, ranksApart) {
		h += surprise(law.Share(rank))
	}
	for from := uint64(ranksApart); from < n; {
		to := min(n, from+max(1, uint64(float64(from)*octavePiece)))
		if p := law.From(from) - law.From(to); p > 0 {
			h += surprise(p) + p*math.Log2(float64(to-from))
		}
		from = to
	}
	return h
}

// foldedEntropy is that of a record of a folded law: the hottest ranks give
// their records what they have, all others together the same to each record.
func foldedEntropy(l *foldedLaw, records uint64) (h float64) {
	fold, err := keymap.NewFold(l.modulus)
	if err != nil {
		return 0
	}
	hot := map[uint64]float64{}
	for rank := range uint64(foldApart) {
		if record := fold.Key(rank); record < records {
			hot[record] += l.ranks.Share(rank)
		}
	}
	rest := l.ranks.From(foldApart) / float64(l.modulus)
	seen := rest * float64(min(records, l.modulus)) // less is drawn again
	for _, p := range hot {
		seen += p
	}
	for _, p := range hot {
		h += surprise((p + rest) / seen)
	}
	return h + float64(min(records, l.modulus)-uint64(len(hot)))*surprise(rest/seen)
}
