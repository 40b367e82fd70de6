package sqlite

import (
	"context"
	"fmt"
	"os"
	"strings"

	"pianola/bindings"
)

// Facts tells which SQLite ran on what, and how long its writes waited.
func (b *binding) Facts() []bindings.Fact {
	facts := []bindings.Fact{
		{Name: "modernc.org/sqlite", Value: bindings.ModuleVersion("modernc.org/sqlite")},
		{Name: "directory", Value: b.dir.String()},
		{Name: "durability", Value: b.settings.durability()},
	}
	if b.control == nil {
		return facts
	}
	facts = append(facts, b.turn.Facts()...)
	for _, q := range []struct{ name, statement string }{
		{"SQLite", "SELECT sqlite_version()"}, {"journal mode", "PRAGMA journal_mode"}, {"synchronous", "PRAGMA synchronous"}, {"page bytes", "PRAGMA page_size"},
	} {
		value, err := b.control.ask(context.Background(), q.statement)
		if err != nil {
			value = "unknown: " + strings.Join(strings.Fields(err.Error()), " ")
		}
		facts = append(facts, bindings.Fact{Name: q.name, Value: value})
	}
	for _, f := range []struct{ name, path string }{{"file bytes", b.path()}, {"log bytes", b.path() + "-wal"}} {
		if info, err := os.Stat(f.path); err == nil {
			facts = append(facts, bindings.Fact{Name: f.name, Value: fmt.Sprint(info.Size())})
		}
	}
	return facts
}
