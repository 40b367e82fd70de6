package badger

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"pianola/bindings"
)

// health takes what Badger tells on the side, which must not get between the
// lines of this program.
type health struct {
	mu sync.Mutex
	// count is of errors and warnings, first the first of either.
	errors, warnings       int
	firstError, firstWarns string
	// collected counts files of the value log that were rewritten.
	collected int
}

var _ badger.Logger = (*health)(nil)

// Debugf drops a message: there is one for each compaction.
func (h *health) Debugf(string, ...any) {}

// Infof drops a message: there is one for each flush.
func (h *health) Infof(string, ...any) {}

// Warningf counts a message and keeps the first for the facts.
func (h *health) Warningf(format string, args ...any) {
	h.note(&h.warnings, &h.firstWarns, format, args)
}

// Errorf counts a message and keeps the first for the facts.
func (h *health) Errorf(format string, args ...any) {
	h.note(&h.errors, &h.firstError, format, args)
}

func (h *health) note(count *int, first *string, format string, args []any) {
	message := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if *count++; *count == 1 {
		*first = message
	}
}

// facts tells of errors and warnings.
func (h *health) facts() []bindings.Fact {
	h.mu.Lock()
	defer h.mu.Unlock()
	facts := []bindings.Fact{
		{Name: "errors of its own", Value: fmt.Sprint(h.errors)},
		{Name: "warnings of its own", Value: fmt.Sprint(h.warnings)},
		{Name: "value log files rewritten", Value: fmt.Sprint(h.collected)},
	}
	if h.errors > 0 {
		facts = append(facts, bindings.Fact{Name: "first error of its own", Value: h.firstError})
	}
	if h.warnings > 0 {
		facts = append(facts, bindings.Fact{Name: "first warning of its own", Value: h.firstWarns})
	}
	return facts
}

// staleShare is the share of a file of the value log that has to be out of date
// before it is rewritten; Badger's documentation recommends it.
const staleShare = 0.5

// collect rewrites files of the value log from time to time, until it is
// stopped.
func (b *binding) collect() {
	ticker := time.NewTicker(b.settings.collect)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-ticker.C:
		}
		b.health.collection(b.db.RunValueLogGC(staleShare))
	}
}

// collection takes the answer of a collection.
func (h *health) collection(err error) {
	switch {
	case err == nil:
		h.mu.Lock()
		h.collected++
		h.mu.Unlock()
	case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrRejected):
	default:
		h.Errorf("collect the value log: %v", err)
	}
}
