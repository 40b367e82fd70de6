package checktest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"pianola/bindings"
	"pianola/bindings/memory"
	"pianola/traces"
)

// flawed is memory, but for one operation in ten.
type flawed struct {
	bindings.Binding
	flaw func(op *bindings.Op) (lost bool)
	done atomic.Uint64
}

func (f *flawed) Session(ctx context.Context) (bindings.Session, error) {
	s, err := f.Binding.Session(ctx)
	return &flawedSession{s, f}, err
}

func (f *flawed) Drop(ctx context.Context) error { return f.Binding.(bindings.Dropper).Drop(ctx) }

type flawedSession struct {
	bindings.Session
	binding *flawed
}

func (s *flawedSession) Do(ctx context.Context, op *bindings.Op) error {
	given := *op
	if s.binding.done.Add(1)%10 == 0 && s.binding.flaw(&given) {
		return nil
	}
	return s.Session.Do(ctx, &given)
}

// A database with a flaw doesn't pass.
func TestFlawsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, workload string
		flaw           func(op *bindings.Op) bool
		// want is in the error, and same tells whether the contents are right.
		want string
		same bool
	}{
		{"none", "format1-a", func(*bindings.Op) bool { return false }, "", true},
		{"lost updates", "format1-a", func(op *bindings.Op) bool { return op.Kind == traces.Update }, " stale", false},
		{"updates of another field", "format1-f", func(op *bindings.Op) bool {
			if op.Kind == traces.ReadModifyWrite {
				op.Write = []bindings.Field{{Name: "field9", Value: op.Write[0].Value}}
			}
			return false
		}, "ops mismatched", false},
		{"deletes that are answered and not done", "format1-deletes", func(op *bindings.Op) bool { return op.Kind == traces.Delete }, "", false},
		{"reads of nothing", "format1-c", func(op *bindings.Op) bool { return op.Kind == traces.Read && op.Rows != nil }, "it gave 0 records", true},
		{"scans that end early", "format1-e", func(op *bindings.Op) bool { op.ScanLength = 1; return false }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, c.workload)
			want, err := replayed(t.Context(), path, Database{Driver: &memory.Driver})
			if err != nil {
				t.Fatal(err)
			}
			driver := memory.Driver
			driver.New = func(p bindings.Properties) (bindings.Binding, error) {
				b, err := memory.Driver.New(p)
				return &flawed{Binding: b, flaw: c.flaw}, err
			}
			got, err := replayed(t.Context(), path, Database{Driver: &driver})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("found: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found: %v, want it to hold %q", err, c.want)
			}
			if got != nil && (*got == *want) != c.same {
				t.Errorf("contents %+v, those of memory are %+v", got, want)
			}
		})
	}
}
