package sqlite

import (
	"fmt"

	"pianola/bindings"
)

var properties = []bindings.Property{
	{Name: "sqlite.dir", Help: `Directory of the database, whose file is sqlite.db; made by the load if it is
missing, and kept. The default is a temporary one, removed after the run.`},
	{Name: "sqlite.sync", Default: "false", Help: `true: a write is answered when the log is on disk (synchronous=FULL). false: when
the operating system has it (NORMAL); a crash of the machine can lose the last
ones.`},
	{Name: "sqlite.cache", Default: "2MiB", Help: "Size of the page cache of each connection; there is one for each slot."},
	{Name: "sqlite.mmap", Default: "0", Help: "How much of the file is read through a map in memory instead."},
	{Name: "sqlite.checkpoint", Default: "1000", Help: `Pages in the log at which the write that fills it moves them into the file, within
its own time; 0: only at the end.`},
}

// settings are the properties, read.
type settings struct {
	dir               string
	sync              bool
	cache, mmap, move int64
}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{dir: p["sqlite.dir"]}
	var err error
	if s.sync, err = p.Bool("sqlite.sync"); err != nil {
		return settings{}, err
	}
	if s.cache, err = p.Bytes("sqlite.cache", 1<<12, 1<<40); err != nil {
		return settings{}, err
	}
	if s.mmap, err = p.Bytes("sqlite.mmap", 0, 1<<40); err != nil {
		return settings{}, err
	}
	if s.move, err = p.Int("sqlite.checkpoint", 0, 1<<30); err != nil {
		return settings{}, err
	}
	return s, nil
}

// pragmas set up a connection. What is not said here is SQLite's default.
func (s *settings) pragmas() []string {
	level := "NORMAL"
	if s.sync {
		level = "FULL"
	}
	return []string{
		"busy_timeout=0",
		"synchronous=" + level,
		// Negative: in KiB, not in pages.
		fmt.Sprintf("cache_size=-%d", max(s.cache>>10, 1)),
		fmt.Sprintf("mmap_size=%d", s.mmap),
		fmt.Sprintf("wal_autocheckpoint=%d", s.move),
	}
}

// durability says in words what an answered write has survived.
func (s *settings) durability() string {
	if s.sync {
		return "each write is answered when the log is on disk"
	}
	return "writes are answered when the operating system has the log, before it is on disk"
}
