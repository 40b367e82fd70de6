package badger

import (
	"fmt"

	"pianola/bindings"
)

// Facts tells which Badger ran on what, and what it did on its own since the
// database was opened.
func (b *binding) Facts() []bindings.Fact {
	facts := []bindings.Fact{
		{Name: "badger", Value: bindings.ModuleVersion("github.com/dgraph-io/badger/v4")},
		{Name: "directory", Value: b.dir.String()},
		{Name: "durability", Value: b.settings.durability()},
	}
	if b.db == nil {
		return facts
	}
	facts = append(facts, b.health.facts()...)
	hits := "none looked up"
	// Nil without a cache.
	if m := b.db.BlockCacheMetrics(); m != nil && m.Hits()+m.Misses() > 0 {
		hits = fmt.Sprintf("%.2f%% of %d", 100*m.Ratio(), m.Hits()+m.Misses())
	}
	tables, bytes := 0, uint64(0)
	for _, t := range b.db.Tables() {
		tables++
		bytes += uint64(t.OnDiskSize)
	}
	return append(facts,
		bindings.Fact{Name: "block cache hits", Value: hits},
		bindings.Fact{Name: "tables", Value: fmt.Sprint(tables)},
		bindings.Fact{Name: "table bytes", Value: fmt.Sprint(bytes)},
	)
}
