package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pianola/cmd/exit"
)

func create(t *testing.T, path string, force bool) *File {
	t.Helper()
	target, err := Check(path, force)
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Create(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	return f
}

// holds reports the names in dir and what the file at path holds.
func holds(t *testing.T, dir, path, text string, files int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != files {
		t.Errorf("the directory holds %v, %v, want %d", entries, err, files)
	}
	b, err := os.ReadFile(path)
	if text == "" && !errors.Is(err, fs.ErrNotExist) || text != "" && (err != nil || string(b) != text) {
		t.Errorf("the file holds %q, %v, want %q", b, err, text)
	}
}

func TestCommitPutsTheFileInPlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f := create(t, path, false)
	holds(t, dir, path, "", 1) // under its temporary name
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, path, "new", 1)
	if err := f.Commit(); err == nil {
		t.Error("it could be committed twice")
	}
	f.Abort() // changes nothing any more
	holds(t, dir, path, "new", 1)
	if runtime.GOOS == "windows" {
		return
	}
	ordinary, err := os.Create(filepath.Join(dir, "ordinary"))
	if err != nil {
		t.Fatal(err)
	}
	ordinary.Close()
	mine, _ := os.Stat(path)
	other, _ := os.Stat(ordinary.Name())
	if mine.Mode() != other.Mode() {
		t.Errorf("its mode is %v, that of any other file %v", mine.Mode(), other.Mode())
	}
}

func TestAbortLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	create(t, path, true).Abort()
	holds(t, dir, path, "old", 1)
	create(t, path, true)
	create(t, filepath.Join(dir, "other"), false)
	AbortAll()
	holds(t, dir, path, "old", 1)
	AbortAll()
	if err := create(t, path, true).Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, path, "new", 1)
}

// A name that is as long as names may be leaves no room for more of it.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	if err := create(t, path, false).Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, path, "new", 1)
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		force      bool
		want       string
	}{
		{"a file that is there", file, false, "it exists"},
		{"a directory", dir, true, "it is a directory"},
		{"a missing directory", filepath.Join(dir, "absent", "file"), true, "there is no directory " + filepath.Join(dir, "absent")},
		{"no name", "", true, "its name is empty"},
	} {
		_, err := Check(c.path, c.force)
		var coded *exit.Error
		if !errors.As(err, &coded) || coded.Code != exit.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one of the command line with %q", c.name, err, c.want)
		}
	}
}

func TestLinksStayLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Symlink("two", at("one")); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skipf("Windows lets few users make links: %v", err)
	}
	if err := os.Symlink(at("target"), at("two")); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} { // to what is not there, then to what is
		if err := create(t, at("one"), force).Commit(); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, at("target"), "new", 3)
		for _, name := range []string{"one", "two"} {
			if info, err := os.Lstat(at(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("%s is no link any more", name)
			}
		}
	}
	if err := os.Symlink("loop", at("loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(at("loop"), true); err == nil {
		t.Error("a link to itself was taken")
	}
}

func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("there", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target, path string
		want         bool
	}{
		{"there", "./there", true},
		{"there", filepath.Join(dir, "there"), true},
		{"there", "other", false},
		{"new", "./new", true},
		{"new", filepath.Join(dir, "dir", "..", "new"), true},
		{"new", "dir/new", false},
		{"new", "absent/new", false},
		{"-", "-", false},
	} {
		target, err := Check(c.target, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Is(c.path); got != c.want {
			t.Errorf("%q is %q: %v", c.target, c.path, got)
		}
	}
}

func TestStandardOutput(t *testing.T) {
	target, err := Check("-", false)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	f, err := target.Create(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil || out.String() != "text" || !target.Direct() {
		t.Errorf("%v, %q, direct %v", err, out.String(), target.Direct())
	}
}

func TestNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, w := range []any{null, &strings.Builder{}, nil} {
		if _, ok := Terminal(w); ok {
			t.Errorf("%T is a terminal", w)
		}
	}
}
