// Package archive holds a small trace of each of YCSB's workloads, as they were
// written when their format was released. They are never written anew: whatever
// is released later reads them, makes the same digests of the same specs and
// replays them. MANIFEST says what each holds; a new format adds traces of its
// own beside them.
package archive

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed MANIFEST *.trace.zst
var files embed.FS

// Entry is one trace of the archive.
type Entry struct {
	// Name is that of the file, without ".trace.zst".
	Name string
	// Workload is the ready spec, and Properties what was set beside it, name=value.
	Workload   string
	Properties []string
	Seed       uint64
	// Ops of all phases.
	Ops uint64
	// Digest in hexadecimal digits.
	Digest string
	// Tool is the version of tracegen that wrote it, Format that of the file.
	Tool   string
	Format int
}

// fieldCount is the number of fields of a line of MANIFEST.
const fieldCount = 8

// Entries returns what MANIFEST lists, in its order: a line for each trace, with
// the fields of Entry between tabs, properties between blanks. Lines that begin
// with # are remarks.
func Entries() ([]Entry, error) {
	text, err := files.ReadFile("MANIFEST")
	if err != nil {
		return nil, fmt.Errorf("read the archive of traces: %w", err)
	}
	var out []Entry
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("archive of traces: MANIFEST:%d: %w", n+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func parseEntry(line string) (e Entry, err error) {
	f := strings.Split(line, "\t")
	if len(f) != fieldCount {
		return e, fmt.Errorf("%d fields, want %d", len(f), fieldCount)
	}
	e = Entry{Name: f[0], Workload: f[1], Properties: strings.Fields(f[2]), Digest: f[5], Tool: f[6]}
	if e.Seed, err = strconv.ParseUint(f[3], 10, 64); err != nil {
		return e, err
	}
	if e.Ops, err = strconv.ParseUint(f[4], 10, 64); err != nil {
		return e, err
	}
	e.Format, err = strconv.Atoi(f[7])
	return e, err
}

// Read returns the bytes of a trace.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".trace.zst")
	if err != nil {
		return nil, fmt.Errorf("read the archive of traces: %w", err)
	}
	return data, nil
}
