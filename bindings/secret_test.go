package bindings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain, windows := write("plain", "of the file\nmore\n"), write("windows", "of the file\r\n")
	empty, large := write("empty", "\nbehind"), write("large", strings.Repeat("x", maxSecretBytes+1))
	for _, c := range []struct {
		property, file, variable string
		want, wrong              string
	}{
		{"", "", "", "", ""},
		{"", "", "of the variable", "of the variable", ""},
		{"", plain, "of the variable", "of the file", ""},
		{"", windows, "", "of the file", ""},
		{"of the property", "", "of the variable", "of the property", ""},
		{"of the property", plain, "", "", "both"},
		{"", empty, "of the variable", "", "empty"},
		{"", large, "of the variable", "", "more than"},
		{"", filepath.Join(dir, "none"), "of the variable", "", "no such file"},
	} {
		t.Setenv("PIANOLA_TEST_PASSWORD", c.variable)
		p := Properties{"x.password": c.property, "x.password-file": c.file}
		got, err := p.Secret("x.password", "x.password-file", "PIANOLA_TEST_PASSWORD")
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "of the ") && !strings.Contains(err.Error(), "first line of the") && !strings.Contains(err.Error(), "line of") {
			t.Errorf("%+v: the error shows a secret: %v", c, err)
		}
	}
}
