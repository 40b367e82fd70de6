package tracegen

import "time"

// warmup reads when the phase before phase run ends: after a number of
// operations, or after a time.
func (r *specReader) warmup(s *Spec) {
	g, seconds := r.get("warmup"), r.get("warmuptime")
	ops, d, ok1 := r.opsOrSpan(g)
	timed, ok2 := r.seconds(seconds)
	if !ok1 || !ok2 {
		return
	}
	if g.isGiven() && timed > 0 && (ops > 0 || d != timed) {
		r.fail(seconds, "disagrees with warmup=%s", quoted(g.Value))
		return
	}
	s.WarmupOps, s.WarmupDuration = ops, max(d, timed)
}

// opsOrSpan reads a number of operations, or a duration with its unit.
func (r *specReader) opsOrSpan(g givenProperty) (uint64, time.Duration, bool) {
	text, ok := r.scalar(g, "a number of operations or a duration")
	if !ok {
		return 0, 0, false
	}
	g.Value = text // the blanks around it are dropped, and noted, once
	if wholeNumber.MatchString(text) {
		n, ok := r.ops(g)
		return n, 0, ok
	}
	if decimalNumber.MatchString(text) {
		r.fail(g, "neither a whole number of operations nor a duration with its unit")
		return 0, 0, false
	}
	d, ok := r.span(g)
	return 0, d, ok
}
