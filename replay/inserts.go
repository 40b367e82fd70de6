package replay

import (
	"sync"
	"sync/atomic"
)

// insertLog knows which inserts of this run are acknowledged and which failed,
// so that a miss can be told from a lost record. It keeps two bits for each
// insert of a page of 65,536 while the page has one that is open or failed, and
// eight bytes for each page afterwards.
type insertLog struct {
	// Key numbers below limit belong to pages that have begun; every insert of
	// this run below closed is acknowledged. Both are 0 before the first insert.
	// Most keys lie outside and are told by these alone.
	closed, limit atomic.Uint64
	mu            sync.RWMutex
	// base is the key number of the first insert.
	base  uint64
	pages []*insertPage
}

const pageInserts = 1 << 16

type insertPage struct {
	acknowledged, failed [pageInserts / 64]atomic.Uint64
	open                 atomic.Int32
	anyFailed            atomic.Bool
}

// closedPage stands for every page whose inserts are all acknowledged.
var closedPage = new(insertPage)

// begin makes room for the insert of key, before it is sent. Inserts begin in
// the order of their key numbers, from one goroutine at a time.
func (l *insertLog) begin(key uint64) {
	limit := l.limit.Load()
	if limit == 0 {
		l.base, limit = key, key
		l.closed.Store(key)
	}
	if key < limit {
		return
	}
	p := new(insertPage)
	p.open.Store(pageInserts)
	l.mu.Lock()
	l.pages = append(l.pages, p)
	l.mu.Unlock()
	l.limit.Store(limit + pageInserts)
}

// page returns the page of key, or nil if no insert of this run has it or all
// those around it are acknowledged.
func (l *insertLog) page(key uint64) *insertPage {
	if key < l.closed.Load() || key >= l.limit.Load() {
		return nil
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.pages[(key-l.base)/pageInserts]
}

func bitOf(key uint64) (word int, bit uint64) {
	return int(key % pageInserts / 64), 1 << (key % 64)
}

// end notes that the insert of key was answered or given up.
func (l *insertLog) end(key uint64, ok bool) {
	p := l.page(key)
	word, bit := bitOf(key - l.base)
	if ok {
		p.acknowledged[word].Or(bit)
	} else {
		p.failed[word].Or(bit)
		p.anyFailed.Store(true)
	}
	if p.open.Add(-1) == 0 && !p.anyFailed.Load() {
		l.close((key - l.base) / pageInserts)
	}
}

// close drops a page whose inserts are all acknowledged.
func (l *insertLog) close(page uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages[page] = closedPage
	closed := l.closed.Load()
	for i := (closed - l.base) / pageInserts; i < uint64(len(l.pages)) && l.pages[i] == closedPage; i++ {
		closed += pageInserts
	}
	l.closed.Store(closed)
}

// open reports whether the insert of key has begun in this run and is not
// acknowledged.
func (l *insertLog) open(key uint64) bool {
	p := l.page(key)
	if p == nil || p == closedPage {
		return false
	}
	word, bit := bitOf(key - l.base)
	return p.acknowledged[word].Load()&bit == 0
}

// orphan reports whether the insert of key failed in this run.
func (l *insertLog) orphan(key uint64) bool {
	p := l.page(key)
	if p == nil || p == closedPage {
		return false
	}
	word, bit := bitOf(key - l.base)
	return p.failed[word].Load()&bit != 0
}
