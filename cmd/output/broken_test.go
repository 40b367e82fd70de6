package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A write that failed leaves a file that must not be taken for a complete one,
// even by a caller who goes on.
func TestAFailedWriteIsNeverCommitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	target, err := Check(path, false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Create(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("first")); err != nil {
		t.Fatal(err)
	}
	whole := f.w
	f.w = writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left on device") })
	if _, err := f.Write([]byte("second")); err == nil {
		t.Fatal("the write did not fail")
	}
	f.w = whole
	if err := f.Commit(); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("commit: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
