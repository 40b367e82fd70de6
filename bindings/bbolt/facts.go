package bbolt

import (
	"fmt"
	"os"
	"time"

	"pianola/bindings"
)

// Facts tells which bbolt ran on what, and what its writes cost since the
// database was opened.
func (b *binding) Facts() []bindings.Fact {
	facts := []bindings.Fact{
		{Name: "bbolt", Value: bindings.ModuleVersion("go.etcd.io/bbolt")},
		{Name: "directory", Value: b.dir.String()},
		{Name: "durability", Value: b.settings.durability()},
	}
	if b.db == nil {
		return facts
	}
	facts = append(facts, b.turn.Facts()...)
	stats := b.db.Stats()
	size := "unknown"
	if info, err := os.Stat(b.db.Path()); err == nil {
		size = fmt.Sprint(info.Size())
	}
	return append(facts,
		bindings.Fact{Name: "page bytes", Value: fmt.Sprint(b.db.Info().PageSize)},
		bindings.Fact{Name: "file bytes", Value: size},
		bindings.Fact{Name: "free pages", Value: fmt.Sprint(stats.FreePageN + stats.PendingPageN)},
		bindings.Fact{Name: "page bytes written", Value: fmt.Sprint(stats.TxStats.GetPageAlloc())},
		bindings.Fact{Name: "time writing to the file", Value: stats.TxStats.GetWriteTime().Round(time.Microsecond).String()},
	)
}
