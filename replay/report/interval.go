package report

import (
	"fmt"
	"slices"

	"pianola/replay/measure"
)

// allKinds is the name of what is merged of all kinds.
const allKinds = "all"

// intervalKinds returns what was decided in an interval: of each kind of the
// phase in their order, of kinds where nothing was decided too, then of all
// together.
func intervalKinds(phase *measure.Phase, iv *measure.Interval) ([]measure.IntervalKind, error) {
	var out []measure.IntervalKind
	for i := range phase.Kinds {
		name := phase.Kinds[i].Kind
		at := slices.IndexFunc(iv.Kinds, func(k measure.IntervalKind) bool { return k.Kind == name })
		if at < 0 {
			out = append(out, measure.IntervalKind{Kind: name})
		} else {
			out = append(out, iv.Kinds[at])
		}
	}
	all := measure.IntervalKind{Kind: allKinds}
	for i := range iv.Kinds {
		k := &iv.Kinds[i]
		all.Counts.Add(k.Counts)
		switch {
		case k.Response.Count() == 0:
		case all.Response == nil:
			all.Response = k.Response.Packed()
		default:
			if err := all.Response.Merge(k.Response); err != nil {
				return nil, fmt.Errorf("interval at %v of phase %s: %w", iv.Start, plain(phase.Name), err)
			}
		}
	}
	return append(out, all), nil
}

// decided returns an interval's kind as one whose ops offered are those that
// were decided in it, which its quantiles rank over.
func decided(k *measure.IntervalKind) measure.Kind {
	out := measure.Kind{Kind: k.Kind, Counts: k.Counts, Response: k.Response}
	out.Counts.Offered = k.Counts.Decided()
	return out
}
