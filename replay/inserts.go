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
	mu    sync.RWMutex
	begun bool
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
	if !l.begun {
		l.mu.Lock()
		l.begun, l.base = true, key
		l.mu.Unlock()
	}
	if page := (key - l.base) / pageInserts; page >= uint64(len(l.pages)) {
		p := new(insertPage)
		p.open.Store(pageInserts)
		l.mu.Lock()
		l.pages = append(l.pages, p)
		l.mu.Unlock()
	}
}

// page returns the page of key, or nil if no insert of this run has it.
func (l *insertLog) page(key uint64) *insertPage {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.begun || key < l.base {
		return nil
	}
	if i := (key - l.base) / pageInserts; i < uint64(len(l.pages)) {
		return l.pages[i]
	}
	return nil
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
		l.mu.Lock()
		l.pages[(key-l.base)/pageInserts] = closedPage
		l.mu.Unlock()
	}
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
