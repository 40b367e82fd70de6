package tracegen

import (
	"fmt"

	"pianola/traces"
)

// slice reads which key numbers the load writes and from which one on later
// phases insert. As in YCSB, recordcount is the size of the whole table, of which
// insertstart and insertcount are a part.
func (r *specReader) slice(s *Spec) {
	total, at, ok := settle(r, "recordcount", r.records, r.records)
	if ok && total == 0 {
		ok = false
		reason := "a trace needs records"
		if !at.isGiven() {
			reason = "not given, " + reason
		}
		r.failWith(at, reason, "give recordcount=N or --records N")
	}
	start, ok1 := r.whole(r.get("insertstart"), 0, maxKeys-1)
	count, ok2 := r.insertCount()
	from, ok3 := r.insertFrom()
	if !ok || !ok1 || !ok2 || !ok3 {
		return
	}
	g := r.get("insertcount")
	switch {
	case start >= total:
		r.fail(r.get("insertstart"), "not below recordcount=%d: no record is left for the slice", total)
		return
	case !g.isGiven():
		count = total - start
	case count > total-start:
		r.fail(g, "insertstart=%d and insertcount=%d reach beyond recordcount=%d", start, count, total)
		return
	}
	s.FirstKey, s.Records, s.InsertFrom = start, count, start+count
	r.insertsOf(s, total, from)
}

// insertCount reads the size of the slice; it is 0 if it isn't given.
func (r *specReader) insertCount() (uint64, bool) {
	g := r.get("insertcount")
	if !g.isGiven() {
		return 0, true
	}
	return r.whole(g, 1, maxKeys-1)
}

// insertFrom reads the number of the first insert; it is 0 if it isn't given.
func (r *specReader) insertFrom() (uint64, bool) {
	g := r.get("insert.from")
	if !g.isGiven() {
		return 0, true
	}
	return r.whole(g, 0, maxKeys-1)
}

// insertsOf sets where inserts begin: behind the whole table, unless told
// otherwise.
func (r *specReader) insertsOf(s *Spec, total, from uint64) {
	g := r.get("insert.from")
	if g.isGiven() && from < total {
		r.fail(g, "below recordcount=%d: the load of this or another slice writes that key number", total)
		return
	}
	if !r.sound(mixName) {
		return
	}
	if !s.picks(traces.Insert) {
		r.noteWithout("inserts", "insert.from")
		return
	}
	s.InsertFrom = max(total, from)
	if s.Records < total && !g.isGiven() {
		slice := r.get("insertcount")
		if !slice.isGiven() {
			slice = r.get("insertstart")
		}
		r.note(slice, fmt.Sprintf("inserts begin at recordcount=%d, and so do those of every other slice unless it has an insert.from of its own", total))
	}
}
