// Package scripttest runs the scripts that test a program as people meet it:
// its exit code, its words and the files that it leaves.
//
// Scripts are those of testscript, with these commands besides:
//
//	exits CODES PROGRAM [ARG...]  run it; its exit code is one of CODES,
//	                              separated by commas
//	files [NAME...]               the current directory holds these and nothing
//	                              else, hidden or temporary files included,
//	                              and the directory for temporary files nothing
//	json-lines FILE               each line of it is one JSON object
//	halve FILE TO                 copy its first half
//	damage FILE TO                copy it with the byte in its middle changed
package scripttest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a program. In scripts, and in whatever is started by
// tests, the program's name stands for the program: the test binary runs main.
func Main(m *testing.M, name string, main func()) {
	testscript.Main(m, map[string]func(){name: main})
}

// Build builds the program in a directory of this module and returns the
// directory in which it is.
func Build(t *testing.T, dir string) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.Command("go", "build", "-o", bin+string(filepath.Separator), ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v in %s: %v\n%s", cmd, dir, err, out)
	}
	return bin
}

// Run runs every script in testdata. Directories in path come first in PATH.
func Run(t *testing.T, path ...string) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for _, dir := range path {
				e.Setenv("PATH", dir+string(filepath.ListSeparator)+e.Getenv("PATH"))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "files": files, "json-lines": jsonLines, "halve": halve, "damage": damage,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODES PROGRAM [ARG...]")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// temporaryDir is where testscript puts TMPDIR, in the work directory.
const temporaryDir = ".tmp"

func files(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! files")
	}
	got := names(ts, ts.MkAbs("."))
	got = slices.DeleteFunc(got, func(name string) bool { return name == temporaryDir })
	want := slices.Sorted(slices.Values(args))
	if !slices.Equal(got, want) {
		ts.Fatalf("there are files %q, want %q", got, want)
	}
	if left := names(ts, filepath.Join(ts.Getenv("WORK"), temporaryDir)); len(left) > 0 {
		ts.Fatalf("temporary files are left: %q", left)
	}
}

func names(ts *testscript.TestScript, dir string) []string {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ts.Check(err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json-lines FILE")
	}
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		n++
		if err := json.Unmarshal([]byte(line), &map[string]any{}); err != nil {
			ts.Fatalf("line %d: %v", n, err)
		}
	}
	if n == 0 {
		ts.Fatalf("%s has no line", args[0])
	}
}

func halve(ts *testscript.TestScript, neg bool, args []string) {
	copyWith(ts, neg, args, func(b []byte) []byte { return b[:len(b)/2] })
}

func damage(ts *testscript.TestScript, neg bool, args []string) {
	copyWith(ts, neg, args, func(b []byte) []byte {
		b[len(b)/2] ^= 0xff
		return b
	})
}

func copyWith(ts *testscript.TestScript, neg bool, args []string, change func([]byte) []byte) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: halve|damage FILE TO")
	}
	b := change([]byte(ts.ReadFile(args[0])))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}
