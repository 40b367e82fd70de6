package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	plain := errors.New("it broke")
	for _, c := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"nothing", nil, Done, ""},
		{"an error without a code", plain, Failed, "error: it broke\n"},
		{"a code", With(Usage, plain), Usage, "error: it broke\n"},
		{"a code around a code", With(Invalid, With(Usage, plain)), Usage, "error: it broke\n"},
		{"a code inside an error", fmt.Errorf("open: %w", With(Usage, plain, "do this")), Usage, "error: open: it broke\nhint: do this\n"},
		{"hints", With(Failed, plain, "do this", "or that"), Failed, "error: it broke\nhint: do this\nhint: or that\n"},
		{"further lines are hints", With(Usage, errors.New("it broke\ndo this"), "or that"), Usage, "error: it broke\nhint: do this\nhint: or that\n"},
		{"several, each with its hint", errors.Join(With(Usage, errors.New("one"), "do this"), With(Usage, errors.New("two"), "or that")), Usage,
			"error: one\nhint: do this\nerror: two\nhint: or that\n"},
		{"a hint that is the same is told once", errors.Join(With(Usage, errors.New("one"), "do this"), With(Usage, errors.New("two"), "do this")), Usage,
			"error: one\nhint: do this\nerror: two\n"},
		{"a code for several", With(Usage, errors.Join(errors.New("one"), errors.New("two\ndo this")), "or that"), Usage,
			"error: one\nerror: two\nhint: do this\nhint: or that\n"},
		{"several inside others", errors.Join(errors.Join(errors.New("one"), errors.New("two")), With(Errors, errors.New("three"))), Failed,
			"error: one\nerror: two\nerror: three\n"},
		{"an error that wraps two and has its own text", fmt.Errorf("%w at %w", plain, fs.ErrClosed), Failed, "error: it broke at file already closed\n"},
	} {
		var out strings.Builder
		if code := Report(&out, "program", c.err); code != c.code {
			t.Errorf("%s: code %d, want %d", c.name, code, c.code)
		}
		want := ""
		for line := range strings.Lines(c.want) {
			want += "program: " + line
		}
		if out.String() != want {
			t.Errorf("%s: printed\n%swant\n%s", c.name, out.String(), want)
		}
	}
}

// The first that applies of 130, 2, 1, 4, 3, 5.
func TestTheGravestCodeCounts(t *testing.T) {
	order := []int{Interrupted, Usage, Failed, Invalid, Errors, Regression}
	for i, graver := range order {
		for _, other := range order[i:] {
			for _, err := range []error{
				errors.Join(With(graver, errors.New("a")), With(other, errors.New("b"))),
				errors.Join(With(other, errors.New("b")), With(graver, errors.New("a"))),
			} {
				if code := Report(&strings.Builder{}, "program", err); code != graver {
					t.Errorf("of %d and %d the code is %d", graver, other, code)
				}
			}
		}
	}
}

func TestSystemCallsAreLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent")
	_, err := os.Open(path)
	var out strings.Builder
	Report(&out, "program", fmt.Errorf("read trace: %w", err))
	if want := "program: error: read trace: " + path + ": no such file or directory\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestNoErrorStaysNone(t *testing.T) {
	if err := With(Usage, nil, "hint"); err != nil {
		t.Errorf("it became %v", err)
	}
}
