package badger

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"pianola/bindings"
)

var properties = []bindings.Property{
	{Name: "badger.dir", Help: `Directory of the database; made by the load if it is missing, and kept. The
default is a temporary one, removed after the run.`},
	{Name: "badger.sync", Default: "false", Help: `true: a write is answered when the log is on disk. false: when the operating
system has it; a crash of the machine can lose the last ones.`},
	{Name: "badger.cache", Default: "64MiB", Help: "Size of the block cache."},
	{Name: "badger.memtable", Default: "16MiB", Help: `Size of a memtable. Writes stall while five are full and the first is not yet
flushed.`},
	{Name: "badger.compression", Default: "snappy", Help: "Of the tables on disk: none, snappy or zstd."},
	{Name: "badger.compactors", Default: "4", Help: "Number of compactions at a time, 2 or more."},
	{Name: "badger.value-threshold", Default: "1MiB", Help: `Records of this size and more lie in the value log instead of the tree. It is 1MiB
or 15 % of a memtable at most, whichever is less.`},
	{Name: "badger.gc", Default: "0s", Help: `How often to look for files of the value log that are mostly out of date, and
rewrite one. 0s: never, and the value log only grows.`},
}

// settings are the properties, read.
type settings struct {
	dir                        string
	sync                       bool
	cache, memtable, threshold int64
	compression                options.CompressionType
	compactors                 int64
	collect                    time.Duration
}

var compressions = map[string]options.CompressionType{
	"none": options.None, "snappy": options.Snappy, "zstd": options.ZSTD,
}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{dir: p["badger.dir"]}
	var err error
	if s.sync, err = p.Bool("badger.sync"); err != nil {
		return settings{}, err
	}
	if s.cache, err = p.Bytes("badger.cache", 1<<20, 1<<40); err != nil {
		return settings{}, err
	}
	if s.memtable, err = p.Bytes("badger.memtable", 1<<20, 1<<30); err != nil {
		return settings{}, err
	}
	word, err := p.Word("badger.compression", "none", "snappy", "zstd")
	if err != nil {
		return settings{}, err
	}
	s.compression = compressions[word]
	if s.compactors, err = p.Int("badger.compactors", 2, 256); err != nil {
		return settings{}, err
	}
	if s.threshold, err = p.Bytes("badger.value-threshold", 1, 1<<20); err != nil {
		return settings{}, err
	}
	// Badger's own limit: a transaction takes at most that much of a memtable.
	if most := s.memtable * 15 / 100; s.threshold > most {
		return settings{}, p.Unfit("badger.value-threshold", fmt.Sprintf("at most 15 %% of badger.memtable, %d bytes", most))
	}
	if s.collect, err = p.Duration("badger.gc"); err != nil {
		return settings{}, err
	}
	return s, nil
}

// options are what Badger opens a database with; what is not said here is its
// default.
func (s *settings) options(dir string, h *health) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(s.sync).
		WithDetectConflicts(false).
		WithBlockCacheSize(s.cache).
		WithMemTableSize(s.memtable).
		WithCompression(s.compression).
		WithNumCompactors(int(s.compactors)).
		WithValueThreshold(s.threshold).
		// They are variables of the whole process that each operation counts up.
		WithMetricsEnabled(false).
		WithLogger(h)
}

// durability says in words what an answered write has survived.
func (s *settings) durability() string {
	if s.sync {
		return "each write is answered when the log is on disk"
	}
	return "writes are answered when the operating system has the log, before it is on disk"
}
