package measure

import "time"

// timeline counts events in slices of time of equal width. When time runs past
// its end the slices are folded in pairs, so that it never grows.
type timeline struct {
	// A slice is 2^(sliceBits+fold) ns wide.
	fold   int
	slices []uint64
}

const (
	sliceBits  = 20 // 1.05 ms
	sliceCount = 4096
)

func (t *timeline) add(at time.Duration) {
	i := int64(max(at, 0)) >> (sliceBits + t.fold)
	if i >= int64(len(t.slices)) {
		i = t.makeRoom(at)
	}
	t.slices[i]++
}

func (t *timeline) makeRoom(at time.Duration) int64 {
	if t.slices == nil {
		t.slices = make([]uint64, sliceCount)
	}
	for int64(at)>>(sliceBits+t.fold) >= sliceCount {
		t.foldOnce()
	}
	return int64(max(at, 0)) >> (sliceBits + t.fold)
}

func (t *timeline) foldOnce() {
	for i := range sliceCount / 2 {
		t.slices[i] = t.slices[2*i] + t.slices[2*i+1]
	}
	clear(t.slices[sliceCount/2:])
	t.fold++
}

// foldTo makes the slices at least as wide as fold says.
func (t *timeline) foldTo(fold int) {
	if t.slices == nil {
		t.slices = make([]uint64, sliceCount)
	}
	for t.fold < fold {
		t.foldOnce()
	}
}

// merge adds o's counts. Both are as coarse as the coarser one afterwards.
func (t *timeline) merge(o *timeline) {
	t.foldTo(o.fold)
	o.foldTo(t.fold)
	for i, n := range o.slices {
		t.slices[i] += n
	}
}

// backlog compares the due times with the instants at which fates were decided.
func backlog(due, decided *timeline, schedule time.Duration) Backlog {
	due.foldTo(decided.fold)
	decided.foldTo(due.fold)
	sliceOf := func(at time.Duration) int { return int(int64(at) >> (sliceBits + due.fold)) }
	half, end := sliceOf(schedule/2), sliceOf(schedule)
	var out Backlog
	var dues, decisions, dueAtHalf uint64
	for i := 0; i <= end; i++ {
		dues += due.slices[i]
		decisions += decided.slices[i]
		open := dues - min(decisions, dues)
		out.Max = max(out.Max, open)
		if i == half {
			out.Half, dueAtHalf = open, dues
		}
		out.End = open
	}
	out.DueSecondHalf = dues - dueAtHalf
	return out
}
