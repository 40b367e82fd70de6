package pebble

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pianola/bindings"
)

var properties = []bindings.Property{
	{Name: "pebble.dir", Help: `Directory of the database; made by the load if it is missing, and kept. The
default is a temporary one, removed after the run.`},
	{Name: "pebble.sync", Default: "false", Help: `true: a write is answered when the log is on disk. false: when it is in memory
and on its way to the log; a crash can lose the last ones.`},
	{Name: "pebble.cache", Default: "64MiB", Help: "Size of the block cache; memtables take their room from it too."},
	{Name: "pebble.memtable", Default: "16MiB", Help: `Size of a memtable. Writes stall while two are full and the first is not yet
flushed.`},
	{Name: "pebble.bloom", Default: "10", Help: "Bits of the Bloom filter for each key; 0 for none."},
	{Name: "pebble.compression", Default: "snappy", Help: "Of the tables on disk: none, snappy or zstd."},
	{Name: "pebble.compactions", Default: "1", Help: "Greatest number of compactions at a time."},
}

// settings are the properties, read.
type settings struct {
	dir             string
	sync            bool
	cache, memtable int64
	bloom           int64
	compression     *sstable.CompressionProfile
	compactions     int64
}

var compressions = map[string]*sstable.CompressionProfile{
	"none": sstable.NoCompression, "snappy": sstable.SnappyCompression, "zstd": sstable.ZstdCompression,
}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{dir: p["pebble.dir"]}
	var err error
	if s.sync, err = p.Bool("pebble.sync"); err != nil {
		return settings{}, err
	}
	if s.cache, err = p.Bytes("pebble.cache", 1<<20, 1<<40); err != nil {
		return settings{}, err
	}
	// Pebble's own limit is just below 4 GiB.
	if s.memtable, err = p.Bytes("pebble.memtable", 1<<16, 2<<30); err != nil {
		return settings{}, err
	}
	if s.bloom, err = p.Int("pebble.bloom", 0, 64); err != nil {
		return settings{}, err
	}
	word, err := p.Word("pebble.compression", "none", "snappy", "zstd")
	if err != nil {
		return settings{}, err
	}
	s.compression = compressions[word]
	if s.compactions, err = p.Int("pebble.compactions", 1, 256); err != nil {
		return settings{}, err
	}
	return s, nil
}

// options are what Pebble opens a database with; what is not said here is its
// default. A database that exists keeps its format version, so that whatever
// wrote it can still read it.
func (s *settings) options(version pebble.FormatMajorVersion, fs vfs.FS, h *health) *pebble.Options {
	o := &pebble.Options{
		FS:                         vfs.OnDiskFull(fs, h.diskFull),
		FormatMajorVersion:         version,
		CacheSize:                  s.cache,
		MemTableSize:               uint64(s.memtable),
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, int(s.compactions) },
		Logger:                     h,
		EventListener:              h.listener(),
	}
	for i := range o.Levels {
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return s.compression }
		if s.bloom > 0 {
			o.Levels[i].FilterPolicy = bloom.FilterPolicy(s.bloom)
		}
	}
	return o
}

// durability says in words what an answered write has survived.
func (s *settings) durability() string {
	if s.sync {
		return "each write is answered when the log is on disk"
	}
	return "writes are answered before the log is on disk"
}
