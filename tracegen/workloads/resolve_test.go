package workloads_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pianola/tracegen/workloads"
)

func TestResolveFindsReadySpecsFilesAndStdin(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "my.spec", "a=1")
	write(t, "workloadb", "b=1")
	ready, _ := workloads.Read("workloada")
	readyB, _ := workloads.Read("workloadb")
	for _, c := range []struct{ arg, name, text, note string }{
		{"workloada", "workloada", string(ready), ""},
		{"my.spec", "my.spec", "a=1", ""},
		{"workloadb", "workloadb", string(readyB), "workloadb is the ready spec, not the file of that name: write ./workloadb for the file"},
		{"./workloadb", "./workloadb", "b=1", ""},
		{filepath.Join("..", filepath.Base(workingDirectory(t)), "my.spec"), filepath.Join("..", filepath.Base(workingDirectory(t)), "my.spec"), "a=1", ""},
		{"-", "stdin", "c=1", ""},
	} {
		got, err := workloads.Resolve(c.arg, strings.NewReader("c=1"))
		if err != nil || got.Name != c.name || string(got.Text) != c.text || got.Note != c.note {
			t.Errorf("%q: %q, %.20q, %q, %v", c.arg, got.Name, got.Text, got.Note, err)
		}
	}
}

func TestResolveNamesWhatIsKnownInstead(t *testing.T) {
	t.Chdir(t.TempDir())
	const known = "known are workloada, workloadb, workloadc, workloadd, workloade, workloadf"
	for arg, want := range map[string]string{
		"workload_b":          `open workload spec "workload_b": file does not exist, nor is it a ready spec: ` + known + `, the nearest is workloadb`,
		"WorkloadC":           `open workload spec "WorkloadC": file does not exist, nor is it a ready spec: ` + known + `, the nearest is workloadc`,
		"workloads/workloadf": `open workload spec "workloads/workloadf": file does not exist, nor is it a ready spec: ` + known + `, the nearest is workloadf`,
		"orders.properties":   `open workload spec "orders.properties": file does not exist, nor is it a ready spec: ` + known,
		"":                    `open workload spec "": file does not exist, nor is it a ready spec: ` + known,
	} {
		_, err := workloads.Resolve(arg, nil)
		if err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v\nwant %s", arg, err, want)
		}
	}
}

func TestResolveRefusesWhatIsNoSpec(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "large", string(bytes.Repeat([]byte("#"), workloads.MaxBytes+1)))
	write(t, "full", string(bytes.Repeat([]byte("#"), workloads.MaxBytes)))
	if _, err := workloads.Resolve("full", nil); err != nil {
		t.Error(err)
	}
	for _, arg := range []string{"large", "."} {
		_, err := workloads.Resolve(arg, nil)
		if err == nil || !strings.HasPrefix(err.Error(), `read workload spec "`+arg+`": `) {
			t.Errorf("%q: %v", arg, err)
		}
	}
	failed := errors.New("torn")
	if _, err := workloads.Resolve("-", brokenReader{failed}); !errors.Is(err, failed) {
		t.Errorf("stdin: %v", err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func workingDirectory(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return wd
}
