package measure

import (
	"slices"
	"time"

	"pianola/traces"
)

// intervalLength is the length of an interval as it is recorded. A long run
// merges neighbours, so that there are never more than intervalsMax.
const (
	intervalLength = time.Second
	intervalsMax   = 4096
)

// intervalRecord counts what was decided in one interval.
type intervalRecord struct {
	kinds [traces.KindLimit]*intervalKindRecord
}

// intervalKindRecord counts one kind. Wait and lag are for Live alone.
type intervalKindRecord struct {
	counts              Counts
	response, wait, lag Histogram
}

func (r *intervalRecord) kind(kind traces.Kind) *intervalKindRecord {
	k := r.kinds[kind]
	if k == nil {
		k = &intervalKindRecord{response: *newHistogram(intervalFigures), wait: *newHistogram(intervalFigures), lag: *newHistogram(intervalFigures)}
		r.kinds[kind] = k
	}
	return k
}

// openIntervals are the intervals of a stripe that ops may still be decided in.
type openIntervals struct {
	// newest is the record of the interval from which on until until, nil before
	// the first.
	from, until time.Duration
	newest      *intervalRecord
	records     map[int64]*intervalRecord
}

// holds reports whether newest is the record of what is decided at that instant.
func (o *openIntervals) holds(decided time.Duration) bool {
	return decided < o.until && decided >= o.from && o.newest != nil
}

func (o *openIntervals) record(s *Sample, response time.Duration) {
	if decided := max(s.Decided, 0); !o.holds(decided) {
		if o.records == nil {
			o.records = map[int64]*intervalRecord{}
		}
		i := int64(decided / intervalLength)
		rec := o.records[i]
		if rec == nil {
			rec = &intervalRecord{}
			o.records[i] = rec
		}
		o.newest, o.from = rec, time.Duration(i)*intervalLength
		o.until = o.from + intervalLength
	}
	k := o.newest.kind(s.Kind)
	k.counts.count(s.Outcome)
	if s.Outcome.Started() {
		k.wait.Record(s.Ready - s.Due)
		k.lag.Record(s.Start - s.Ready)
	}
	if s.Outcome < Failed {
		k.response.Record(response)
	}
}

// take removes and returns the records of all intervals before limit.
func (o *openIntervals) take(limit int64) map[int64]*intervalRecord {
	var out map[int64]*intervalRecord
	for i, rec := range o.records {
		if i < limit {
			if out == nil {
				out = map[int64]*intervalRecord{}
			}
			out[i] = rec
			delete(o.records, i)
			if rec == o.newest {
				o.newest = nil
			}
		}
	}
	return out
}

// SetLive fills in the figures of the last whole interval before now.
func (r *Recorder) SetLive(l *Live, now time.Duration) error {
	last := int64(now/intervalLength) - 1
	if last < 0 {
		return nil
	}
	var counts Counts
	response, wait, lag := newHistogram(intervalFigures), newHistogram(intervalFigures), newHistogram(intervalFigures)
	for i := range r.stripes {
		if err := r.stripes[i].addInterval(last, &counts, response, wait, lag); err != nil {
			return err
		}
	}
	l.SetWindow(intervalLength, counts, response, wait, lag)
	return nil
}

// addInterval adds what the stripe recorded of one interval.
func (p *Stripe) addInterval(i int64, counts *Counts, response, wait, lag *Histogram) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.countBatches()
	rec := p.open.records[i]
	if rec == nil {
		return nil
	}
	for _, k := range rec.kinds {
		if k == nil {
			continue
		}
		counts.Add(k.counts)
		for _, pair := range [][2]*Histogram{{response, &k.response}, {wait, &k.wait}, {lag, &k.lag}} {
			if err := pair[0].Merge(pair[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// intervals are those that are over, encoded. Each spans 1 << fold recorded ones.
type intervals struct {
	fold    int
	records map[int64]*closedInterval
}

type closedInterval struct {
	kinds [traces.KindLimit]*closedKind
}

type closedKind struct {
	counts  Counts
	encoded []byte
}

// CloseIntervals encodes the intervals that ended well before now, so that a
// long run keeps few histograms. It is called from one goroutine.
func (r *Recorder) CloseIntervals(now time.Duration) error {
	const late = 2 // intervals that samples may still be recorded in
	return r.closeBefore(int64(now/intervalLength) - late)
}

func (r *Recorder) closeBefore(limit int64) error {
	for i := range r.stripes {
		p := &r.stripes[i]
		p.mu.Lock()
		p.countBatches()
		taken := p.open.take(limit)
		p.mu.Unlock()
		for i, rec := range taken {
			if err := r.closed.add(i, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *intervals) add(i int64, rec *intervalRecord) error {
	if c.records == nil {
		c.records = map[int64]*closedInterval{}
	}
	to := c.at(i >> c.fold)
	for kind, k := range rec.kinds {
		if k == nil {
			continue
		}
		if err := to.merge(kind, k.counts, &k.response); err != nil {
			return err
		}
	}
	for len(c.records) > intervalsMax {
		if err := c.foldOnce(); err != nil {
			return err
		}
	}
	return nil
}

func (c *intervals) at(i int64) *closedInterval {
	to := c.records[i]
	if to == nil {
		to = &closedInterval{}
		c.records[i] = to
	}
	return to
}

func (c *intervals) foldOnce() error {
	old := c.records
	c.fold++
	c.records = make(map[int64]*closedInterval, len(old)/2+1)
	for i, rec := range old {
		to := c.at(i >> 1)
		for kind, k := range rec.kinds {
			if k == nil {
				continue
			}
			h, err := decodeInterval(k.encoded)
			if err != nil {
				return err
			}
			if err := to.merge(kind, k.counts, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge adds one kind's counts and responses.
func (c *closedInterval) merge(kind int, counts Counts, response *Histogram) error {
	to := c.kinds[kind]
	if to == nil {
		to = &closedKind{}
		c.kinds[kind] = to
	}
	to.counts.Add(counts)
	if to.encoded != nil && response.Count() == 0 {
		return nil
	}
	if to.encoded != nil {
		before, err := decodeInterval(to.encoded)
		if err != nil {
			return err
		}
		if err := response.Merge(before); err != nil {
			return err
		}
	}
	var err error
	to.encoded, err = response.MarshalJSON()
	return err
}

func decodeInterval(encoded []byte) (*Histogram, error) {
	h := new(Histogram)
	err := h.UnmarshalJSON(encoded)
	return h, err
}

// intervals closes all intervals and returns them in order.
func (r *Recorder) intervals(end time.Duration) ([]Interval, error) {
	const all = 1 << 62
	if err := r.closeBefore(all); err != nil {
		return nil, err
	}
	c := &r.closed
	for i, due := range r.offers[0].each {
		if due > 0 && c.records == nil {
			c.records = map[int64]*closedInterval{}
		}
		if due > 0 {
			c.at(int64(i) >> c.fold)
		}
	}
	length := intervalLength << c.fold
	var out []Interval
	for i := range c.records {
		out = append(out, Interval{Start: time.Duration(i) * length})
	}
	slices.SortFunc(out, func(a, b Interval) int { return int(a.Start/length - b.Start/length) })
	for i := range out {
		iv := &out[i]
		iv.Length = min(length, max(end-iv.Start, 0))
		at := int64(iv.Start / length)
		for j := at << c.fold; j < (at+1)<<c.fold && j < int64(len(r.offers[0].each)); j++ {
			iv.Due += r.offers[0].each[j]
		}
		for kind, k := range c.records[at].kinds {
			if k == nil {
				continue
			}
			h, err := decodeInterval(k.encoded)
			if err != nil {
				return nil, err
			}
			iv.Kinds = append(iv.Kinds, IntervalKind{traces.Kind(kind).String(), k.counts, h})
		}
	}
	return out, nil
}
