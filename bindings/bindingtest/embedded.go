package bindingtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// Embedded describes a store in this process, for RunEmbedded.
type Embedded struct {
	Driver *bindings.Driver
	// Dir is the property that names the directory.
	Dir string
	// Durable holds properties under which a write that was answered outlives
	// the process.
	Durable bindings.Properties
}

// RunEmbedded demands what every store in this process promises of its files:
// that a directory that is named keeps them and a temporary one goes, that
// nothing is made before CreateSchema, that what isn't a store's directory is
// refused, and that a killed process loses nothing it shouldn't.
func RunEmbedded(t *testing.T, e Embedded) {
	// A process that is to be killed runs nothing else.
	if dir := os.Getenv(victimVariable); dir != "" {
		e.victim(t, dir)
		return
	}
	t.Run("kept", e.testKept)
	t.Run("temporary", e.testTemporary)
	t.Run("nothing made", e.testNothingMade)
	t.Run("unfit directories", e.testUnfitDirectories)
	t.Run("killed", func(t *testing.T) { e.testKilled(t) })
}

// make returns a binding on a directory.
func (e *Embedded) make(t *testing.T, given bindings.Properties, dir string) bindings.Binding {
	t.Helper()
	all := bindings.Properties{e.Dir: dir}
	for name, value := range given {
		all[name] = value
	}
	p, err := e.Driver.Configure(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Driver.Volatile(p) != (dir == "") {
		t.Errorf("%s on %q is said to be volatile: %v", e.Driver.Name, dir, dir != "")
	}
	b, err := e.Driver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func config() bindings.Config {
	return bindings.Config{Header: header(3, "user"), Clock: wallClock{time.Now()}, Slots: slots}
}

// open opens a binding, makes what is missing, and returns a session.
func open(t *testing.T, b bindings.Binding) bindings.Session {
	t.Helper()
	ctx := context.Background()
	if err := b.Open(ctx, config()); err != nil {
		t.Fatal(err)
	}
	if err := b.(bindings.SchemaCreator).CreateSchema(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := b.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t *testing.T, closers ...io.Closer) {
	t.Helper()
	for _, c := range closers {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// simple returns an operation on the record of a number.
func simple(kind traces.Kind, n int) *bindings.Op {
	op := &bindings.Op{Kind: kind, Table: "usertable", Key: fmt.Appendf(nil, "user%06d", n)}
	if kind.Writes() {
		for i := range 3 {
			op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: fmt.Appendf(nil, "%d of %d", i, n)})
		}
	}
	return op
}

func mustCount(t *testing.T, b bindings.Binding, want uint64) {
	t.Helper()
	n, err := b.(bindings.Counter).Count(context.Background())
	if err != nil || n != want {
		t.Errorf("it has %d records, %v; want %d", n, err, want)
	}
}

func (e *Embedded) testKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "one", "two")
	for round := range 3 {
		b := e.make(t, nil, dir)
		s := open(t, b)
		mustCount(t, b, uint64(round*100))
		for i := range 100 {
			if err := s.Do(context.Background(), simple(traces.Insert, round*100+i)); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, s, b)
	}
}

func (e *Embedded) testTemporary(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, parent)
	}
	left := func() []string {
		names, _ := filepath.Glob(filepath.Join(parent, "*"))
		return names
	}
	b := e.make(t, nil, "")
	s := open(t, b)
	if err := s.Do(context.Background(), simple(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	if len(left()) != 1 || !strings.Contains(left()[0], e.Driver.Name) {
		t.Errorf("while it is open there is %q", left())
	}
	mustClose(t, s, b)
	if len(left()) != 0 {
		t.Errorf("behind Close there is %q", left())
	}
}

func (e *Embedded) testNothingMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	b := e.make(t, nil, dir)
	if err := b.Open(context.Background(), config()); err != nil {
		t.Fatal(err)
	}
	mustCount(t, b, 0)
	if _, err := b.Session(context.Background()); err == nil || !strings.Contains(err.Error(), strconv.Quote(dir)) || !strings.HasSuffix(err.Error(), "\nload it first") {
		t.Errorf("a session on what isn't there: %v", err)
	}
	if r, ok := b.(bindings.Reporter); !ok || len(r.Facts()) == 0 {
		t.Error("no facts")
	}
	mustClose(t, b)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open and Close have made %q: %v", dir, err)
	}
}

func (e *Embedded) testUnfitDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	foreign := t.TempDir()
	for _, name := range []string{file, filepath.Join(foreign, "letter.txt")} {
		if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, reason := range map[string]string{
		file:                       "not a directory",
		foreign:                    "other files",
		filepath.Join(file, "sub"): "not a directory",
		"a\x00b":                   "invalid argument",
	} {
		b := e.make(t, nil, dir)
		err := b.Open(context.Background(), config())
		if err == nil {
			err = b.(bindings.SchemaCreator).CreateSchema(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(dir)) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want an error that names it and %q", dir, err, reason)
		}
		mustClose(t, b)
	}
	if files, _ := os.ReadDir(foreign); len(files) != 1 {
		t.Errorf("a foreign directory has now %d files", len(files))
	}
}

// victimVariable holds the directory of the process that is to be killed.
const victimVariable = "BINDINGTEST_VICTIM"

// victim writes until it is killed, and prints the number of each record once
// its write is answered.
func (e *Embedded) victim(t *testing.T, dir string) {
	b := e.make(t, e.Durable, dir)
	first := open(t, b)
	var out sync.Mutex
	write := func(s bindings.Session, from int) {
		for n := from; ; n += 4 {
			if err := s.Do(context.Background(), simple(traces.Insert, n)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			out.Lock()
			fmt.Println(n)
			out.Unlock()
		}
	}
	for i := range 3 {
		s, err := b.Session(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		go write(s, i+1)
	}
	write(first, 0)
}

// testKilled kills a process in the middle of its writes, opens what it left,
// and looks for every record whose write was answered.
func (e *Embedded) testKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	name, _, _ := strings.Cut(t.Name(), "/")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$")
	child.Env = append(os.Environ(), victimVariable+"="+dir)
	var complaints strings.Builder
	child.Stderr = &complaints
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var answered []int
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // the last line, cut short
		}
		if answered = append(answered, n); len(answered) == 300 {
			child.Process.Kill()
		}
	}
	child.Wait() // it was killed
	if len(answered) < 300 {
		t.Fatalf("it wrote %d records and ended: %s", len(answered), complaints.String())
	}
	b := e.make(t, e.Durable, dir)
	s := open(t, b)
	defer mustClose(t, s, b)
	for _, n := range answered {
		got := &rows{}
		op := simple(traces.Read, n)
		op.Rows = got
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatalf("of %d records whose writes were answered, %d: %v", len(answered), n, err)
		}
		if value := got.records[0]["field2"]; value != fmt.Sprint("2 of ", n) {
			t.Fatalf("record %d holds %q", n, value)
		}
	}
}
