// Package workloads holds the ready specs, YCSB's workloads A to F in YCSB's
// format, and finds the spec that a name or a path stands for.
package workloads

import (
	"bytes"
	"embed"
	"slices"
)

//go:embed ready
var files embed.FS

// ready lists the specs in the order in which they are shown. A summary is
// half a line.
var ready = []struct{ name, summary string }{
	{"workloada", "update heavy: 50 % READ, 50 % UPDATE, zipfian"},
	{"workloadb", "read mostly: 95 % READ, 5 % UPDATE, zipfian"},
	{"workloadc", "read only: 100 % READ, zipfian"},
	{"workloadd", "read latest: 95 % READ, 5 % INSERT, the newest most often"},
	{"workloade", "short ranges: 95 % SCAN of 1 to 100 records, 5 % INSERT, zipfian"},
	{"workloadf", "read-modify-write: 50 % READ, 50 % READMODIFYWRITE, zipfian"},
}

// Names returns the names of the ready specs, sorted.
func Names() []string {
	var names []string
	for _, r := range ready {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}

// Read returns the text of a ready spec, in the format of properties.
func Read(name string) ([]byte, bool) {
	if _, ok := Summary(name); !ok {
		return nil, false
	}
	text, err := files.ReadFile("ready/" + name)
	return bytes.Clone(text), err == nil
}

// Summary says in half a line what a ready spec does.
func Summary(name string) (string, bool) {
	for _, r := range ready {
		if r.name == name {
			return r.summary, true
		}
	}
	return "", false
}
