package pebble

import (
	"fmt"

	"pianola/bindings"
)

// Facts tells which Pebble ran on what, and what it did on its own since the
// database was opened.
func (b *binding) Facts() []bindings.Fact {
	facts := []bindings.Fact{
		{Name: "pebble", Value: bindings.ModuleVersion("github.com/cockroachdb/pebble/v2")},
		{Name: "directory", Value: b.dir.String()},
		{Name: "durability", Value: b.settings.durability()},
	}
	if b.db == nil {
		return facts
	}
	facts = append(facts, b.health.facts()...)
	if err := b.health.broken(); err != nil {
		return append(facts, bindings.Fact{Name: "gave up", Value: err.Error()})
	}
	m := b.db.Metrics()
	hits := "none looked up"
	if looked := m.BlockCache.Hits + m.BlockCache.Misses; looked > 0 {
		hits = fmt.Sprintf("%.2f%% of %d", 100*float64(m.BlockCache.Hits)/float64(looked), looked)
	}
	return append(facts,
		bindings.Fact{Name: "format version", Value: fmt.Sprint(uint64(b.db.FormatMajorVersion()))},
		bindings.Fact{Name: "block cache hits", Value: hits},
		bindings.Fact{Name: "flushes", Value: fmt.Sprint(m.Flush.Count)},
		bindings.Fact{Name: "compactions", Value: fmt.Sprint(m.Compact.Count)},
		bindings.Fact{Name: "compaction debt bytes", Value: fmt.Sprint(m.Compact.EstimatedDebt)},
		bindings.Fact{Name: "log bytes", Value: fmt.Sprint(m.WAL.BytesWritten)},
		bindings.Fact{Name: "table bytes", Value: fmt.Sprint(m.Table.Local.LiveSize)},
	)
}
