// Package pianola_test holds the rules of the tree as a whole: which package
// may import which, and what things may be called.
package pianola_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room says what packages may import besides the standard library. Packages
// are named by their directory; "X/..." is X and everything below it.
type room struct {
	packages string
	// ours lists packages of this module, tests those that test files may
	// import as well.
	ours, tests []string
	// outside lists modules of others, testsOutside those for test files.
	outside, testsOutside []string
	// anyOutside is for bindings: a database's client stays inside its binding.
	anyOutside bool
}

// rooms are searched in order; the first that a package is in decides. Nothing
// outside cmd may import cmd, and nothing at all a command.
var rooms = []room{
	{packages: "."},
	{packages: "proto/...", outside: []string{protobuf}},

	{packages: "traces/payload"},
	// What is done for each operation asks what the processor can do.
	{packages: "traces/keymap", ours: []string{"traces/payload"}, outside: []string{processor}},
	{packages: "tracegen/random", ours: []string{"traces/payload"}, tests: []string{"tracegen/chisquare"}, outside: []string{processor}},
	{packages: "traces/archive", tests: []string{"traces"}},
	{packages: "traces", ours: []string{"proto/...", "traces/..."},
		outside: []string{protobuf, processor, "github.com/klauspost/compress"}},
	{packages: "traces/...", ours: []string{"proto/...", "traces/..."},
		outside: []string{protobuf, "github.com/klauspost/compress"}},

	{packages: "tracegen/...", ours: []string{"tracegen/...", "traces", "traces/keymap", "traces/payload"},
		// The table of ratios compares with layouts that others use.
		tests: []string{"traces/...", "proto/..."}, testsOutside: []string{protobuf, "github.com/klauspost/compress"}},

	{packages: "bindings", ours: []string{"traces", "traces/payload"}, tests: []string{"traces/..."}},
	{packages: "bindings/all", ours: []string{"bindings/..."}, tests: []string{"traces/..."},
		// The Compose file is held against the bindings.
		testsOutside: []string{"go.yaml.in/yaml/v3"}},
	// The suite compares with memory, its oracle.
	{packages: "bindings/bindingtest", ours: []string{"bindings", "bindings/memory", "traces", "traces/payload"}},
	// Servers for tests know nothing of what is tested.
	{packages: "bindings/servers/...", ours: []string{"bindings/servers"}},
	// A client of our own has rooms of its own, and its schema.
	{packages: "bindings/hbase/...", ours: []string{"bindings", "bindings/hbase/...", "proto/hbase/...", "traces", "traces/payload"},
		tests: []string{"bindings/bindingtest", "bindings/servers", "replay/...", "traces/..."}, outside: []string{protobuf}},
	// No module holds a client for Ignite; this one knows nothing of bindings.
	{packages: "bindings/ignite/thin", tests: []string{"bindings/servers"}},
	{packages: "bindings/ignite", ours: []string{"bindings", "bindings/ignite/thin", "traces", "traces/payload"},
		tests: []string{"bindings/bindingtest", "bindings/servers", "replay/...", "traces/..."}},
	// What bindings of one kind share.
	{packages: "bindings/directory"},
	{packages: "bindings/keyvalue", ours: []string{"bindings", "traces"}},
	{packages: "bindings/sqltable", ours: []string{"bindings", "traces"}, tests: []string{"traces/payload"}},
	{packages: "bindings/writer", ours: []string{"bindings"}},
	// Outages are seen in runs.
	{packages: "bindings/...", ours: append([]string{"bindings", "traces", "traces/payload"}, bindingParts...),
		tests: []string{"bindings/bindingtest", "bindings/servers", "replay/...", "traces/..."}, anyOutside: true},

	// Outages are tried on real servers.
	{packages: "replay/outagetest", ours: []string{"bindings", "bindings/servers", "replay/...", "traces/..."}},
	// Contents are compared with memory's, after YCSB's workloads.
	{packages: "replay/checktest", ours: []string{"bindings", "bindings/memory", "replay/...", "traces/..."}},
	{packages: "replay/...", ours: []string{"replay/...", "bindings", "traces", "traces/payload"},
		tests:   []string{"bindings/...", "traces/..."},
		outside: []string{"github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/sys"},
		// Result files are held against their schema.
		testsOutside: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},

	{packages: "cmd/tracegen/...", ours: append([]string{"cmd/tracegen/...", "tracegen/...", "traces/..."}, shared...),
		tests: []string{"cmd/scripttest", "bindings/...", "replay/..."}, outside: commands, testsOutside: scripts},
	{packages: "cmd/replay/...", ours: append([]string{"cmd/replay/...", "replay/...", "bindings/...", "traces/..."}, shared...),
		tests: []string{"cmd/scripttest", "tracegen/..."}, outside: commands, testsOutside: scripts},
	{packages: "cmd/scripttest", outside: scripts},
	{packages: "cmd/...", ours: shared, outside: commands},
}

const (
	protobuf  = "google.golang.org/protobuf"
	processor = "golang.org/x/sys/cpu"
)

var (
	// bindingParts is what bindings of one kind share.
	bindingParts = []string{"bindings/directory", "bindings/keyvalue", "bindings/sqltable", "bindings/writer"}
	// shared is what both commands do alike; it knows neither side.
	shared   = []string{"cmd/exit", "cmd/output", "cmd/program", "cmd/status"}
	commands = []string{"github.com/urfave/cli/v2", "golang.org/x/sys", "golang.org/x/term"}
	scripts  = []string{"github.com/rogpeppe/go-internal"}
)

// edge is one import.
type edge struct {
	// from is the directory of the importing package, "." for the root.
	from string
	// to is a directory if ours is set, else an import path.
	to   string
	ours bool
	// test is set in a test file.
	test bool
}

// violation says which rule e breaks, or returns "".
func violation(e edge) string {
	i := slices.IndexFunc(rooms, func(r room) bool { return within(r.packages, e.from) })
	if i < 0 {
		return fmt.Sprintf("%s is in no room; say in layering_test.go what it may import", e.from)
	}
	r := rooms[i]
	if !e.ours {
		if standard(e.to) || r.anyOutside ||
			inModule(r.outside, e.to) || e.test && inModule(r.testsOutside, e.to) {
			return ""
		}
		return fmt.Sprintf("%s may import from outside %s", r.packages, list(r.outside, r.testsOutside))
	}
	inside := func(pattern string) bool { return within(pattern, e.to) }
	if slices.ContainsFunc(r.ours, inside) || e.test && slices.ContainsFunc(r.tests, inside) {
		return ""
	}
	// An external test package imports the package it tests.
	if e.test && e.from == e.to {
		return ""
	}
	return fmt.Sprintf("%s may import of ours %s", r.packages, list(r.ours, r.tests))
}

// within reports whether the package in dir matches pattern.
func within(pattern, dir string) bool {
	tree, ok := strings.CutSuffix(pattern, "/...")
	return dir == tree || ok && strings.HasPrefix(dir, tree+"/")
}

// inModule reports whether a package is in one of the modules.
func inModule(modules []string, pkg string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return within(m+"/...", pkg) })
}

// standard reports whether an import path is the standard library's: their
// first element is no host name.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

func list(always, tests []string) string {
	text := "nothing"
	if len(always) > 0 {
		text = strings.Join(always, ", ")
	}
	if len(tests) > 0 {
		text += "; its tests also " + strings.Join(tests, ", ")
	}
	return text
}

// Files of every system are read, whatever this one is, so build tags hide no
// import.
func TestLayering(t *testing.T) {
	module := modulePath(t)
	imports := 0
	for _, name := range goFiles(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, spec := range file.Imports {
			imports++
			e := edgeOf(module, name, spec)
			if rule := violation(e); rule != "" {
				t.Errorf("%s: %s imports %s: %s", fset.Position(spec.Pos()), e.from, e.to, rule)
			}
		}
	}
	if imports == 0 {
		t.Error("no import was checked")
	}
}

func edgeOf(module, file string, spec *ast.ImportSpec) edge {
	e := edge{from: path.Dir(file), test: strings.HasSuffix(file, "_test.go")}
	e.to, _ = strconv.Unquote(spec.Path.Value)
	if within(module+"/...", e.to) {
		e.ours = true
		e.to = strings.TrimPrefix(strings.TrimPrefix(e.to, module), "/")
	}
	return e
}

func TestLayeringCatches(t *testing.T) {
	ours := func(from, to string) edge { return edge{from: from, to: to, ours: true} }
	testOf := func(e edge) edge { e.test = true; return e }
	outside := func(from, to string) edge { return edge{from: from, to: to} }

	for _, c := range []struct {
		name string
		edge edge
		ok   bool
	}{
		{"standard library", outside("traces/payload", "encoding/binary"), true},
		{"schemas import nothing of ours", ours("proto/trace/v1", "traces"), false},
		{"schemas import protobuf", outside("proto/trace/v1", "google.golang.org/protobuf/proto"), true},
		{"payload lies below traces", ours("traces/payload", "traces"), false},
		{"payload does not know schemas", ours("traces/payload", "proto/trace/v1"), false},
		{"payload's external test", testOf(ours("traces/payload", "traces/payload")), true},
		{"traces knows schemas", ours("traces", "proto/trace/v1"), true},
		{"traces does not know its generator", ours("traces", "tracegen"), false},
		{"nor do its tests", testOf(ours("traces", "tracegen")), false},
		{"schemas stay behind traces", ours("tracegen", "proto/trace/v1"), false},
		{"generator writes traces", ours("tracegen", "traces"), true},
		{"draws ask the processor", outside("tracegen/random", "golang.org/x/sys/cpu"), true},
		{"laws don't", outside("tracegen/dist", "golang.org/x/sys/cpu"), false},
		{"generator compresses nothing", outside("tracegen", "github.com/klauspost/compress/zstd"), false},
		{"its table compares with what does", testOf(outside("tracegen", "github.com/klauspost/compress/zstd")), true},
		{"generator knows no replay", ours("tracegen", "replay/measure"), false},
		{"distributions know no bindings", ours("tracegen/dist", "bindings"), false},
		{"bindings know no binding", ours("bindings", "bindings/null"), false},
		{"bindings know no replay", ours("bindings", "replay"), false},
		{"one binding does not use another", ours("bindings/pebble", "bindings/memory"), false},
		{"a binding is tested by the suite", testOf(ours("bindings/pebble", "bindings/bindingtest")), true},
		{"and only tested by it", ours("bindings/pebble", "bindings/bindingtest"), false},
		{"a binding is tested on a server", testOf(ours("bindings/redis", "bindings/servers")), true},
		{"and starts none itself", ours("bindings/redis", "bindings/servers"), false},
		{"servers know no binding", ours("bindings/servers", "bindings/redis"), false},
		{"a binding is tested in a run", testOf(ours("bindings/redis", "replay")), true},
		{"a client of our own stays with its binding", ours("bindings/redis", "bindings/hbase/rpc"), false},
		{"it has a schema", ours("bindings/hbase/rpc", "proto/hbase/v1"), true},
		{"which is not that of traces", ours("bindings/hbase/rpc", "proto/trace/v1"), false},
		{"a client of ours", ours("bindings/ignite", "bindings/ignite/thin"), true},
		{"knows no binding", ours("bindings/ignite/thin", "bindings"), false},
		{"and stays inside its own", ours("bindings/redis", "bindings/ignite/thin"), false},
		{"the suite has an oracle", ours("bindings/bindingtest", "bindings/memory"), true},
		{"the suite knows no other binding", ours("bindings/bindingtest", "bindings/pebble"), false},
		{"the list names bindings", ours("bindings/all", "bindings/pebble"), true},
		{"a binding does not know the list", ours("bindings/null", "bindings/all"), false},
		{"replay knows bindings", ours("replay", "bindings"), true},
		{"replay knows no binding", ours("replay", "bindings/null"), false},
		{"replay does not know the list", ours("replay/report", "bindings/all"), false},
		{"replay's tests may", testOf(ours("replay", "bindings/null")), true},
		{"replay does not generate", ours("replay", "tracegen"), false},
		{"nor does it in tests", testOf(ours("replay", "tracegen/random")), false},
		{"a command joins its side", ours("cmd/replay", "bindings/all"), true},
		{"the generator's command does not replay", ours("cmd/tracegen", "replay"), false},
		{"nobody imports a command", ours("replay", "cmd/replay"), false},
		{"no other command either", testOf(ours("cmd/replay", "cmd/tracegen")), false},
		{"commands share their manners", ours("cmd/tracegen", "cmd/exit"), true},
		{"manners build on each other", ours("cmd/output", "cmd/exit"), true},
		{"manners know no side", ours("cmd/exit", "replay"), false},
		{"manners import no command", ours("cmd/output", "cmd/replay"), false},
		{"manners stay in cmd", ours("replay/report", "cmd/output"), false},
		{"a client inside its binding", outside("bindings/pebble", "github.com/cockroachdb/pebble/v2"), true},
		{"a client in the contract", outside("bindings", "github.com/cockroachdb/pebble/v2"), false},
		{"a client in the suite", outside("bindings/bindingtest", "github.com/cockroachdb/pebble/v2"), false},
		{"a client in replay", outside("replay", "github.com/cockroachdb/pebble/v2/vfs"), false},
		{"a client in a command", outside("cmd/replay", "github.com/cockroachdb/pebble/v2"), false},
		{"a module whose name only begins alike", outside("replay", "golang.org/x/system"), false},
		{"scripts in a command's tests", testOf(outside("cmd/replay", "github.com/rogpeppe/go-internal/testscript")), true},
		{"scripts in a command", outside("cmd/replay", "github.com/rogpeppe/go-internal/testscript"), false},
		{"scripts in what runs them", outside("cmd/scripttest", "github.com/rogpeppe/go-internal/testscript"), true},
		{"commands run scripts in tests only", ours("cmd/replay", "cmd/scripttest"), false},
		{"a room that is not there", outside("internal/cache", "sync"), false},
	} {
		if rule := violation(c.edge); (rule == "") != c.ok {
			t.Errorf("%s: violation(%+v) = %q, want a violation: %v", c.name, c.edge, rule, !c.ok)
		}
	}
}

// vague are names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "base", "types"}

// vagueName returns the word of a file's path or of a package's name that says
// nothing, or "".
func vagueName(name string) string {
	words := strings.FieldsFunc(strings.TrimSuffix(name, path.Ext(name)), func(r rune) bool {
		return strings.ContainsRune("/_-.", r)
	})
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(vague, w) }); i >= 0 {
		return words[i]
	}
	return ""
}

func TestNames(t *testing.T) {
	for _, name := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		word := vagueName(name)
		if word == "" {
			word = vagueName(file.Name.Name)
		}
		if word != "" {
			t.Errorf("%s: %q is no name: it does not say what is inside", name, word)
		}
	}
}

func TestNamesCatches(t *testing.T) {
	for name, want := range map[string]string{
		"replay/util/clock.go":        "util",
		"traces/types.go":             "types",
		"replay/helpers_test.go":      "helpers",
		"replay/base_linux.go":        "base",
		"bindings/common_test":        "common",
		"traces/block.go":             "",
		"replay/measure/baseline.go":  "",
		"tracegen/dist/commonwell.go": "",
	} {
		if got := vagueName(name); got != want {
			t.Errorf("vagueName(%q) = %q, want %q", name, got, want)
		}
	}
}

// The root shows the rooms and nothing else.
func TestTopLevel(t *testing.T) {
	allowed := strings.Fields(`cmd proto tracegen replay bindings traces docs
		go.mod go.sum buf.yaml buf.gen.yaml README.md CHANGELOG.md CONTRIBUTING.md
		LICENSE Makefile .ci .gitignore layering_test.go`)
	for _, name := range topLevel(t) {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s is at the top level, which holds only %s", name, strings.Join(allowed, " "))
		}
	}
}

// topLevel lists the names in the root that git keeps, or those that are there
// where the tree is no checkout.
func topLevel(t *testing.T) []string {
	t.Helper()
	var names []string
	if out, err := exec.Command("git", "ls-files", "-z").Output(); err == nil && len(out) > 0 {
		for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			first, _, _ := strings.Cut(file, "/")
			names = append(names, first)
		}
		return slices.Compact(names)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// goFiles lists the Go files of the module, generated ones too, by slash paths
// from the root. Like the go command it passes by testdata and names that begin
// with a dot or an underscore.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && (entry.Name() == "testdata" || strings.ContainsAny(entry.Name()[:1], "._")):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 {
		t.Fatalf("found the Go files %q, which cannot be all", files)
	}
	return files
}

// modulePath reads the module's path from go.mod: whoever publishes it sets
// another.
func modulePath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(text)
	if match == nil {
		t.Fatal("go.mod has no module line")
	}
	return string(match[1])
}
