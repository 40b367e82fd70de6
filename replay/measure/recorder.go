package measure

import (
	"strings"
	"sync"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// Recorder takes the fate of every op of one phase and makes the phase's
// figures of it. Stripes are recorded to independently; a recorder needs as
// many as threads that record at the same time, not as many as slots.
type Recorder struct {
	stripes []Stripe
	// offers are added up in the first of them when all are over.
	offers   []offers
	errors   sync.Mutex
	messages map[errorKey]string
	closed   intervals
}

type errorKey struct {
	kind  traces.Kind
	class bindings.Class
}

// Stripe is one part of the recorder, with what keeps it on cache lines of its own.
// What its batches hold is not counted yet: whoever reads what is counted has them
// counted first.
type Stripe struct {
	mu      sync.Mutex
	kinds   [traces.KindLimit]*kindRecord
	decided timeline
	last    time.Duration
	open    openIntervals
	_       [64]byte
}

// kindRecord counts the ops of one kind. Its histograms are in place: every op
// goes through them, and each pointer less is some ns.
type kindRecord struct {
	batch                        batch
	counts                       Counts
	response, service, wait, lag Histogram
	orderWait                    time.Duration
	failed                       [bindings.ClassLimit]*Histogram
	parts                        *partsRecord
}

// partsRecord holds the times of the parts of READMODIFYWRITEs.
type partsRecord struct{ read, update partRecord }

type partRecord struct{ response, service *Histogram }

func newPartsRecord() *partsRecord {
	return &partsRecord{partRecord{NewHistogram(), NewHistogram()}, partRecord{NewHistogram(), NewHistogram()}}
}

// record takes an op whose read ended within it.
func (p *partsRecord) record(s *Sample) {
	p.read.response.Record(s.ReadEnded - s.Due)
	p.read.service.Record(s.ReadEnded - s.Start)
	p.update.response.Record(s.Decided - s.Due)
	p.update.service.Record(s.Decided - s.ReadEnded)
}

func (p *partsRecord) merge(o *partsRecord) error {
	for _, pair := range [][2]*Histogram{
		{p.read.response, o.read.response}, {p.read.service, o.read.service},
		{p.update.response, o.update.response}, {p.update.service, o.update.service},
	} {
		if err := pair[0].Merge(pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func (p *partsRecord) result() []Part {
	return []Part{
		{traces.Read.String(), p.read.response, p.read.service},
		{traces.Update.String(), p.update.response, p.update.service},
	}
}

// NewRecorder returns the recorder of one phase.
func NewRecorder(stripes int) *Recorder {
	return &Recorder{stripes: make([]Stripe, stripes), offers: make([]offers, stripes), messages: map[errorKey]string{}}
}

// Offer counts an op as offered, before anything else is said of it. Each
// goroutine that does so at the same time as others has a number of its own.
func (r *Recorder) Offer(by int, kind traces.Kind, due time.Duration) {
	if by >= len(r.offers) {
		by %= len(r.offers)
	}
	r.offers[by].add(kind, due)
}

// Record counts the fate of an op.
func (r *Recorder) Record(at int, s *Sample) {
	p := r.Hold(at)
	p.Record(s)
	p.Release()
}

// Hold returns a stripe for several ops, which nobody else records to until it is
// released.
func (r *Recorder) Hold(at int) *Stripe {
	if at >= len(r.stripes) {
		at %= len(r.stripes)
	}
	p := &r.stripes[at]
	p.mu.Lock()
	return p
}

// Release ends what Hold began.
func (p *Stripe) Release() { p.mu.Unlock() }

// Record counts the fate of an op.
func (p *Stripe) Record(s *Sample) {
	p.decided.add(s.Decided)
	p.last = max(p.last, s.Decided)
	if k := p.kinds[s.Kind]; k != nil && s.Outcome == Completed && s.KeyFree <= s.Due && s.ReadEnded == 0 && p.open.holds(s.Decided) {
		if k.batch.add(s); k.batch.n == batchMax {
			p.countBatch(s.Kind)
		}
	} else {
		if !p.open.holds(s.Decided) {
			p.countBatches() // which are of another interval
		}
		p.count(s)
	}
}

// count counts one op.
func (p *Stripe) count(s *Sample) {
	k := p.kinds[s.Kind]
	if k == nil {
		k = &kindRecord{response: *NewHistogram(), service: *NewHistogram(), wait: *NewHistogram(), lag: *NewHistogram()}
		p.kinds[s.Kind] = k
	}
	response := s.Decided - s.Due
	k.counts.count(s.Outcome)
	if s.Outcome.Started() {
		k.wait.Record(s.Ready - s.Due)
		k.lag.Record(s.Start - s.Ready)
		k.orderWait += max(s.KeyFree-s.Due, 0)
	}
	switch {
	case s.Outcome < Failed:
		k.response.Record(response)
		k.service.Record(s.Decided - s.Start)
		if s.Outcome == Completed && s.ReadEnded >= s.Start && s.ReadEnded <= s.Decided && s.ReadEnded > 0 {
			if k.parts == nil {
				k.parts = newPartsRecord()
			}
			k.parts.record(s)
		}
	case s.Outcome == Failed:
		if k.failed[s.Class] == nil {
			k.failed[s.Class] = NewHistogram()
		}
		k.failed[s.Class].Record(response)
	}
	p.open.record(s, response)
}

// count counts one op with the given outcome, offers aside.
func (c *Counts) count(o Outcome) {
	switch o {
	case Failed:
		c.Failed++
	case Censored:
		c.Censored++
	case Dropped:
		c.Dropped++
	case Unsent:
		c.Unsent++
	default:
		c.Completed++
	}
	switch o {
	case Expected:
		c.Expected++
	case Raced:
		c.Raced++
	case Orphaned:
		c.Orphaned++
	}
}

// Message keeps the first message of each class of each kind, without the class.
func (r *Recorder) Message(kind traces.Kind, class bindings.Class, err error) {
	r.errors.Lock()
	if _, known := r.messages[errorKey{kind, class}]; !known {
		r.messages[errorKey{kind, class}] = strings.TrimPrefix(err.Error(), class.String()+": ")
	}
	r.errors.Unlock()
}

// Counts returns the counts so far, while ops are recorded.
func (r *Recorder) Counts() Counts {
	var out Counts
	for i := range r.stripes {
		p := &r.stripes[i]
		p.mu.Lock()
		p.countBatches()
		for _, k := range p.kinds {
			if k != nil {
				out.Add(k.counts)
			}
		}
		p.mu.Unlock()
	}
	for i := range r.offers {
		out.Offered += r.offers[i].shown.Load()
	}
	out.Offered = max(out.Offered, out.Decided())
	return out
}

// Finish fills in what was recorded: kinds, errors, intervals, backlog, length
// and, for a paced phase, the schedule's length. Nothing may be recorded
// afterwards.
func (r *Recorder) Finish(p *Phase) error {
	offered := &r.offers[0]
	for i := range r.offers[1:] {
		offered.merge(&r.offers[1+i])
	}
	decided := timeline{}
	for i := range r.stripes {
		s := r.Hold(i)
		s.countBatches()
		s.Release() // Counts may be called still, and finds nothing to count
		p.Length = max(p.Length, s.last)
		decided.merge(&s.decided)
	}
	if p.Paced {
		p.Schedule = offered.last
		p.Backlog = backlog(&offered.due, &decided, offered.last)
	}
	for kind := range traces.KindLimit {
		k, err := r.kind(kind)
		if err != nil {
			return err
		}
		if k.Counts.Offered > 0 || k.Counts.Decided() > 0 {
			p.Kinds = append(p.Kinds, k)
		}
		for class := range bindings.ClassLimit {
			if msg, ok := r.messages[errorKey{kind, class}]; ok {
				p.Errors = append(p.Errors, Error{kind.String(), class.String(), msg})
			}
		}
	}
	var err error
	p.Intervals, err = r.intervals(p.Length)
	return err
}

// kind merges the stripes' records of one kind.
func (r *Recorder) kind(kind traces.Kind) (Kind, error) {
	out := Kind{Kind: kind.String(), Response: NewHistogram(), Service: NewHistogram(), Wait: NewHistogram(), Lag: NewHistogram()}
	var failed [bindings.ClassLimit]*Histogram
	var parts *partsRecord
	for i := range r.stripes {
		k := r.stripes[i].kinds[kind]
		if k == nil {
			continue
		}
		out.Counts.Add(k.counts)
		out.OrderWait += k.orderWait
		for _, pair := range [][2]*Histogram{{out.Response, &k.response}, {out.Service, &k.service}, {out.Wait, &k.wait}, {out.Lag, &k.lag}} {
			if err := pair[0].Merge(pair[1]); err != nil {
				return out, err
			}
		}
		if k.parts != nil {
			if parts == nil {
				parts = newPartsRecord()
			}
			if err := parts.merge(k.parts); err != nil {
				return out, err
			}
		}
		for class, h := range k.failed {
			if h == nil {
				continue
			}
			if failed[class] == nil {
				failed[class] = NewHistogram()
			}
			if err := failed[class].Merge(h); err != nil {
				return out, err
			}
		}
	}
	for class, h := range failed {
		if h != nil {
			out.Failed = append(out.Failed, FailedClass{bindings.Class(class).String(), h})
		}
	}
	if parts != nil {
		out.Parts = parts.result()
	}
	out.Counts.Offered = r.offers[0].kinds[kind]
	return out, nil
}
