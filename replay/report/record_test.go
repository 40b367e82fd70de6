package report

import (
	"cmp"
	"slices"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
)

// fate is what became of one op.
type fate struct {
	kind               string
	wait, lag, service time.Duration
	// outcome is empty for a completed op, or failed, censored, dropped,
	// unsent, or expected for a miss that counts as completed.
	outcome string
	class   bindings.Class
}

// record adds the fate of one op to the phase, which must have its length: ops
// are due at even distances, and what has no answer is given up at the end.
func record(p *measure.Phase, f fate) {
	due := time.Duration(offered(p)) * ms
	if !p.Paced {
		due = time.Duration(offered(p)) * p.Length / time.Duration(p.Ops)
	}
	decided := due + f.wait + f.lag + f.service
	if f.outcome == "censored" || f.outcome == "dropped" || f.outcome == "unsent" {
		decided = p.Length
	}
	recordAt(p, f, due, min(decided, p.Length-1))
}

// recordAt adds the fate of one op, decided at that time, to the phase.
func recordAt(p *measure.Phase, f fate, due, decided time.Duration) {
	k, slice := kindOf(p, f.kind), intervalOf(p, f.kind, decided)
	k.Counts.Offered++
	intervalAt(p, due).Due++
	c := measure.Counts{}
	switch f.outcome {
	case "dropped":
		c.Dropped = 1
	case "unsent":
		c.Unsent = 1
	case "censored":
		c.Censored = 1
	case "failed":
		c.Failed = 1
		failedClass(k, f.class).Record(f.wait + f.lag + f.service)
	default:
		c.Completed = 1
		k.Response.Record(f.wait + f.lag + f.service)
		slice.Response.Record(f.wait + f.lag + f.service)
		k.Service.Record(f.service)
		if f.outcome == "expected" {
			c.Expected = 1
		}
	}
	k.Counts.Add(c)
	slice.Counts.Add(c)
	if f.outcome != "dropped" && f.outcome != "unsent" {
		k.Wait.Record(f.wait)
		k.Lag.Record(f.lag)
	}
}

// offered returns the number of ops of the phase so far.
func offered(p *measure.Phase) uint64 {
	var n uint64
	for i := range p.Kinds {
		n += p.Kinds[i].Counts.Offered
	}
	return n
}

// intervalAt returns the second of the phase in which t is.
func intervalAt(p *measure.Phase, t time.Duration) *measure.Interval {
	start := t.Truncate(time.Second)
	i, ok := slices.BinarySearchFunc(p.Intervals, start, func(iv measure.Interval, at time.Duration) int { return cmp.Compare(iv.Start, at) })
	if !ok {
		p.Intervals = slices.Insert(p.Intervals, i, measure.Interval{Start: start})
	}
	return &p.Intervals[i]
}

func intervalOf(p *measure.Phase, kind string, t time.Duration) *measure.IntervalKind {
	iv := intervalAt(p, t)
	for i := range iv.Kinds {
		if iv.Kinds[i].Kind == kind {
			return &iv.Kinds[i]
		}
	}
	iv.Kinds = append(iv.Kinds, measure.IntervalKind{Kind: kind, Response: measure.NewHistogram()})
	return &iv.Kinds[len(iv.Kinds)-1]
}

// settle gives the intervals their lengths, and histograms the form in which
// they are read from a file, which is fast to handle.
func settle(p *measure.Phase) {
	for i := range p.Intervals {
		iv := &p.Intervals[i]
		iv.Length = min(time.Second, p.Length-iv.Start)
		for j := range iv.Kinds {
			iv.Kinds[j].Response = iv.Kinds[j].Response.Packed()
		}
	}
	for i := range p.Kinds {
		k := &p.Kinds[i]
		for _, h := range []**measure.Histogram{&k.Response, &k.Service, &k.Wait, &k.Lag} {
			*h = (*h).Packed()
		}
		for j := range k.Failed {
			k.Failed[j].Response = k.Failed[j].Response.Packed()
		}
	}
}

func kindOf(p *measure.Phase, name string) *measure.Kind {
	for i := range p.Kinds {
		if p.Kinds[i].Kind == name {
			return &p.Kinds[i]
		}
	}
	p.Kinds = append(p.Kinds, measure.Kind{
		Kind:     name,
		Response: measure.NewHistogram(), Service: measure.NewHistogram(), Wait: measure.NewHistogram(), Lag: measure.NewHistogram(),
	})
	return &p.Kinds[len(p.Kinds)-1]
}

func failedClass(k *measure.Kind, class bindings.Class) *measure.Histogram {
	for i := range k.Failed {
		if k.Failed[i].Class == class.String() {
			return k.Failed[i].Response
		}
	}
	k.Failed = append(k.Failed, measure.FailedClass{Class: class.String(), Response: measure.NewHistogram()})
	return k.Failed[len(k.Failed)-1].Response
}
