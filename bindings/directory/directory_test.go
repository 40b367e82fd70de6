package directory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATemporaryDirectoryIsRemovedWithItsFiles(t *testing.T) {
	d, err := Use("", "store")
	if err != nil {
		t.Fatal(err)
	}
	if !d.Temporary || d.String() != "temporary" || !strings.Contains(d.Path, "store") {
		t.Errorf("it is %+v, said to be %q", d, d)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("behind Remove: %v", err)
	}
}

func TestADirectoryThatWasSetStays(t *testing.T) {
	path := t.TempDir()
	d, err := Use(path, "store")
	if err != nil {
		t.Fatal(err)
	}
	if d.Temporary || d.String() != path {
		t.Errorf("it is %+v, said to be %q", d, d)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("behind Remove: %v", err)
	}
}

func TestHolds(t *testing.T) {
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, dir := range []string{"empty", "foreign", "ours", "folder/data"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{at("foreign", "letter"), at("ours", "data"), at("ours", "data-log"), at("file")} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir     string
		holds   bool
		refused string
	}{
		{dir: at("missing")},
		{dir: at("empty")},
		{dir: at("ours"), holds: true},
		{dir: at("foreign"), refused: "other files"},
		{dir: at("folder"), refused: "other files"},
		{dir: at("file"), refused: "not a directory"},
		{dir: at("file", "below"), refused: "not a directory"},
		{dir: "a\x00b", refused: "invalid argument"},
	} {
		holds, err := Directory{Path: c.dir}.Holds("data")
		if holds != c.holds || (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%q: %v, %v; want %v, %q", c.dir, holds, err, c.holds, c.refused)
		}
	}
}
