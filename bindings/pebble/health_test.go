package pebble

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pianola/bindings"
	"pianola/traces"
)

func factOf(t *testing.T, facts []bindings.Fact, name string) string {
	t.Helper()
	i := slices.IndexFunc(facts, func(f bindings.Fact) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no fact %q in %v", name, facts)
	}
	return facts[i].Value
}

// steppedClock is set by hand.
type steppedClock struct{ now time.Duration }

func (c *steppedClock) Now() time.Duration          { return c.now }
func (c *steppedClock) SleepUntil(at time.Duration) { c.now = max(c.now, at) }

func TestStallsAreAddedUp(t *testing.T) {
	clock := &steppedClock{}
	h := &health{clock: clock}
	l := h.listener()
	stall := func(reason string, begin, end time.Duration) {
		clock.now = begin
		l.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: reason})
		clock.now = end
		l.WriteStallEnd()
	}
	stall("memtables", 10*time.Second, 12*time.Second)
	stall("L0 files", 20*time.Second, 20500*time.Millisecond)
	stall("memtables", 30*time.Second, 30*time.Second)
	if got := factOf(t, h.facts(), "write stalls"); got != "3, 1: L0 files, 2: memtables" {
		t.Errorf("write stalls are %q", got)
	}
	if got := factOf(t, h.facts(), "write stall time"); got != "2.5s" {
		t.Errorf("they took %q", got)
	}
	clock.now = time.Minute
	l.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "memtables"})
	clock.now += time.Second
	if got := factOf(t, h.facts(), "write stall time"); got != "3.5s" {
		t.Errorf("with one under way they took %q", got)
	}
}

func TestTheStoresOwnWorkIsInTheFacts(t *testing.T) {
	b := configured(t, bindings.Properties{"pebble.dir": "data", "pebble.memtable": "64KiB", "pebble.cache": "1MiB"})
	b.fs = vfs.NewMem()
	s := open(t, b)
	defer mustClose(t, b)
	for i := range 2000 {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		if err := s.Do(context.Background(), whole(traces.Read, i)); err != nil {
			t.Fatal(err)
		}
	}
	facts := b.Facts()
	for _, name := range []string{"flushes", "log bytes", "table bytes"} {
		if factOf(t, facts, name) == "0" {
			t.Errorf("2 MB written through a memtable of 64 KiB, and %q is 0", name)
		}
	}
	if got := factOf(t, facts, "block cache hits"); !strings.Contains(got, "% of ") {
		t.Errorf("block cache hits are %q", got)
	}
	if got := factOf(t, facts, "directory"); got != "data" {
		t.Errorf("the directory is %q", got)
	}
	if got := factOf(t, facts, "errors of its own"); got != "0" {
		t.Errorf("errors of its own: %q", got)
	}
}

// failing is a file system on which operations of one kind can be made to fail,
// on files with a part of their name.
func failing(kind errorfs.OpKind, part string, on *atomic.Bool, err error) vfs.FS {
	return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on.Load() && op.Kind == kind && strings.Contains(op.Path, part) {
			return err
		}
		return nil
	}))
}

func TestAFullDiskFailsTheRun(t *testing.T) {
	for _, sync := range []string{"true", "false"} {
		t.Run("sync="+sync, func(t *testing.T) {
			var full atomic.Bool
			b := configured(t, bindings.Properties{"pebble.dir": "data", "pebble.sync": sync})
			b.fs = failing(errorfs.OpFileWrite, ".log", &full, syscall.ENOSPC)
			s := open(t, b)
			if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
				t.Fatal(err)
			}
			full.Store(true)
			// Without sync it is noticed when a block of 32 KiB is written, by
			// Pebble's own goroutine; a read asks whether it has been.
			var err error
			for i := 0; i < 40 && err == nil; i++ {
				err = s.Do(context.Background(), whole(traces.Insert, i))
			}
			for err == nil {
				time.Sleep(time.Millisecond)
				err = s.Do(context.Background(), whole(traces.Read, 1))
			}
			if bindings.ClassOf(err) != bindings.Unavailable || !strings.Contains(err.Error(), "no space left") {
				t.Fatalf("on a full disk: %v", err)
			}
			for _, kind := range []traces.Kind{traces.Read, traces.Insert, traces.Update} {
				if again := s.Do(context.Background(), whole(kind, 1)); again != err {
					t.Errorf("the next, %v: %v, want the same", kind, again)
				}
			}
			if _, err := b.Count(context.Background()); err == nil {
				t.Error("Count finds nothing wrong")
			}
			if got := factOf(t, b.Facts(), "gave up"); got != err.Error() {
				t.Errorf("the facts say %q", got)
			}
			if err := b.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// TestAWriteThatIsNotSyncedFails: with pebble.sync=true no write is answered
// with success whose sync failed.
func TestAWriteThatIsNotSyncedFails(t *testing.T) {
	for _, kind := range []traces.Kind{traces.Insert, traces.Update, traces.ReadModifyWrite, traces.Delete} {
		var on atomic.Bool
		b := configured(t, bindings.Properties{"pebble.dir": "data", "pebble.sync": "true"})
		b.fs = failing(errorfs.OpFileSyncData, ".log", &on, syscall.EIO)
		s := open(t, b)
		if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
			t.Fatal(err)
		}
		on.Store(true)
		if err := s.Do(context.Background(), whole(kind, 1)); bindings.ClassOf(err) != bindings.Unavailable {
			t.Errorf("%v: %v", kind, err)
		}
		if err := b.Close(); err == nil {
			t.Errorf("%v: Close finds nothing wrong", kind)
		}
	}
}

// TestAFullDiskInTheBackground: what Pebble can't go on from is on a goroutine
// of its own, but the disk was found full before, so the run can be reported.
func TestAFullDiskInTheBackground(t *testing.T) {
	var full atomic.Bool
	b := configured(t, bindings.Properties{"pebble.dir": "data"})
	b.fs = failing(errorfs.OpFileWrite, "MANIFEST", &full, syscall.ENOSPC)
	s := open(t, b)
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	if _, err := b.db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		time.Sleep(time.Millisecond)
		err = s.Do(context.Background(), whole(traces.Read, 1))
	}
	if bindings.ClassOf(err) != bindings.Unavailable {
		t.Errorf("READ: %v", err)
	}
	if err := b.Close(); err == nil {
		t.Error("Close finds nothing wrong")
	}
}

func TestALostLogFailsClose(t *testing.T) {
	var full atomic.Bool
	b := configured(t, bindings.Properties{"pebble.dir": "data"})
	b.fs = failing(errorfs.OpFileWrite, ".log", &full, syscall.ENOSPC)
	s := open(t, b)
	full.Store(true)
	if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Close: %v, but the record is lost", err)
	}
}

func TestALockedDirectoryIsExplained(t *testing.T) {
	var on atomic.Bool
	on.Store(true)
	b := configured(t, bindings.Properties{"pebble.dir": "data"})
	b.fs = failing(errorfs.OpLock, "LOCK", &on, syscall.EAGAIN)
	if err := b.Open(context.Background(), testConfig()); err != nil {
		t.Fatal(err)
	}
	err := b.CreateSchema(context.Background())
	if err == nil || !strings.Contains(err.Error(), `"data"`) || !strings.HasSuffix(err.Error(), "\nanother program has it open") {
		t.Errorf("a locked directory: %v", err)
	}
}

func TestAFailedReadIsUnavailable(t *testing.T) {
	var on atomic.Bool
	b := configured(t, bindings.Properties{"pebble.dir": "data", "pebble.cache": "1MiB"})
	b.fs = failing(errorfs.OpFileReadAt, ".sst", &on, &os.PathError{Op: "read", Path: "x.sst", Err: syscall.EIO})
	s := open(t, b)
	defer mustClose(t, b)
	for i := range 5000 {
		if err := s.Do(context.Background(), whole(traces.Insert, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.db.Flush(); err != nil {
		t.Fatal(err)
	}
	on.Store(true)
	failed := 0
	for i := range 5000 {
		if err := s.Do(context.Background(), whole(traces.Read, i)); err != nil {
			if failed++; bindings.ClassOf(err) != bindings.Unavailable {
				t.Fatalf("READ: %v, of class %v", err, bindings.ClassOf(err))
			}
		}
	}
	on.Store(false)
	if failed == 0 {
		t.Error("no READ met the fault")
	}
	if err := s.Do(context.Background(), whole(traces.Read, 1)); err != nil {
		t.Errorf("behind the fault: %v", err)
	}
}

func TestAPanicOfTheLanguageIsNotTaken(t *testing.T) {
	h := &health{}
	defer func() {
		if recover() == nil {
			t.Error("an index out of range was taken for an answer")
		}
	}()
	h.guard(func() error {
		var none []int
		return errors.New(string(rune(none[len(none)])))
	})
}

// childVariable says that this process is the child of a test, and which.
const childVariable = "PEBBLE_TEST_CHILD"

// TestFatalInTheBackgroundEndsTheProgram makes a flush fail where Pebble can't
// go on, in a process of its own.
func TestFatalInTheBackgroundEndsTheProgram(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		var full atomic.Bool
		b := configured(t, bindings.Properties{"pebble.dir": "data"})
		b.fs = failing(errorfs.OpFileWrite, "MANIFEST", &full, syscall.EIO)
		s := open(t, b)
		if err := s.Do(context.Background(), whole(traces.Insert, 1)); err != nil {
			t.Fatal(err)
		}
		full.Store(true)
		if _, err := b.db.AsyncFlush(); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childVariable+"=1")
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(string(out), "unavailable: pebble can't go on: MANIFEST") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v:\n%s", err, out)
	}
}
