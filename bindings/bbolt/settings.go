package bbolt

import (
	"time"

	"go.etcd.io/bbolt"

	"pianola/bindings"
)

var properties = []bindings.Property{
	{Name: "bbolt.dir", Help: `Directory of the database, whose file is bbolt.db; made by the load if it is
missing, and kept. The default is a temporary one, removed after the run.`},
	{Name: "bbolt.sync", Default: "false", Help: `true: a write is answered when it is on disk. false: when the operating system
has it; a crash of the machine can then damage the file.`},
	{Name: "bbolt.mmap", Default: "1GiB", Help: `How much of the file is mapped into memory at first. Each time that the file
outgrows it, reads and writes wait for each other. On Windows the file has this
size from the start.`},
	{Name: "bbolt.freelist", Default: "hashmap", Help: `How free pages are kept in memory: hashmap, or array, bbolt's own default, which
is slow on a large file with many of them.`},
}

// lockPatience is how long a file that another program has open is waited for.
const lockPatience = time.Second

// settings are the properties, read.
type settings struct {
	dir      string
	sync     bool
	mmap     int64
	freelist bbolt.FreelistType
}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{dir: p["bbolt.dir"]}
	var err error
	if s.sync, err = p.Bool("bbolt.sync"); err != nil {
		return settings{}, err
	}
	if s.mmap, err = p.Bytes("bbolt.mmap", 0, 1<<46); err != nil {
		return settings{}, err
	}
	word, err := p.Word("bbolt.freelist", "hashmap", "array")
	if err != nil {
		return settings{}, err
	}
	s.freelist = bbolt.FreelistType(word)
	return s, nil
}

// options are what bbolt opens a database with; what is not said here is its
// default.
func (s *settings) options() *bbolt.Options {
	o := *bbolt.DefaultOptions
	o.Timeout = lockPatience
	o.NoSync = !s.sync
	o.NoGrowSync = !s.sync
	o.InitialMmapSize = int(s.mmap)
	o.FreelistType = s.freelist
	return &o
}

// durability says in words what an answered write has survived.
func (s *settings) durability() string {
	if s.sync {
		return "each write is answered when it is on disk"
	}
	return "writes are answered when the operating system has them, before they are on disk"
}
