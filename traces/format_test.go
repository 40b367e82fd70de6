package traces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pianola/traces/keymap"
	"pianola/traces/payload"
)

func formatText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example returns the text of the block of FORMAT.md marked with the name.
func example(t *testing.T, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(formatText(t), "<!-- example: "+name+" -->\n```\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("FORMAT.md has no example %q", name)
	}
	return text
}

// exampleBytes returns the bytes of a marked block: hexadecimal digits, and
// remarks behind bars.
func exampleBytes(t *testing.T, name string) []byte {
	t.Helper()
	var out []byte
	for line := range strings.Lines(example(t, name)) {
		digits, _, _ := strings.Cut(line, "|")
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			t.Fatalf("FORMAT.md, example %s: %v in %q", name, err, line)
		}
		out = append(out, b...)
	}
	return out
}

// exampleTrace is the trace of FORMAT.md, section 8.
func exampleTrace(t *testing.T) []byte {
	t.Helper()
	return writeBlocks(t, &Header{
		ToolVersion: "1", Generator: "by hand", Seed: 1, Tick: 1000, Table: "usertable", Records: 2,
		Keys:   payload.Keys{Prefix: "user", Order: payload.Hashed, Padding: 1},
		Fields: payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}},
		Phases: []Phase{{Name: LoadPhase}, {Name: "run", Paced: true, Rate: Rate{1000, 1}, VisibilityOps: 1}},
	}, []*Block{
		{Kinds: []Kind{Insert, Insert}, Keys: []uint64{0, 1}},
		{
			First: 2, Phase: 1, InsertBase: 2, VisibleRecords: 2, Kinds: []Kind{Read, Update, Scan}, Keys: []uint64{1, 0, 0}, Due: []uint64{0, 500, 1000},
			ScanLengths: []uint32{0, 0, 300}, Read: []FieldSet{0, 0, OneField(0)}, Written: []FieldSet{0, OneField(3), 0},
		},
		{
			First: 5, Phase: 1, InsertBase: 2, VisibleRecords: 2, Kinds: []Kind{Insert, ReadModifyWrite, Delete}, Keys: []uint64{2, 1, 0}, Due: []uint64{1500, 1500, 2000},
			Written: []FieldSet{0, OneField(9), 0},
		},
	})
}

func dumpText(t *testing.T, data []byte) string {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), "stream")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Dump(&out, r, false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheExampleOfTheFormatIsTrue(t *testing.T) {
	data := exampleTrace(t)
	var ops strings.Builder
	for line := range strings.Lines(dumpText(t, data)) {
		if !strings.HasPrefix(line, "#") {
			ops.WriteString(line)
		}
	}
	if want := example(t, "ops"); ops.String() != want {
		t.Errorf("ops:\n%s\nFORMAT.md says\n%s", ops.String(), want)
	}
	f := dissect(t, data)
	if want := exampleBytes(t, "block 1"); !bytes.Equal(f.blocks[1], want) {
		t.Errorf("block 1 is %x, FORMAT.md says %x", f.blocks[1], want)
	}
	// What is hashed, against what a Writer made of it.
	same := func(name string, got, want []byte) {
		if !bytes.Equal(got, want) {
			t.Errorf("%s of FORMAT.md is %x, want %x", name, got, want)
		}
	}
	sum := func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }
	load, run := sum(exampleBytes(t, "chunk load")), sum(exampleBytes(t, "chunk run"))
	same("chunk load", load, f.footer.Phases[0].ChunkDigests)
	same("chunk run", run, f.footer.Phases[1].ChunkDigests)
	same("chunk digests", exampleBytes(t, "chunk digests"), append(load, run...))
	parts := slices.Concat(
		[]byte("\x04load\x02"), sum(f.footer.Phases[0].ChunkDigests),
		[]byte("\x03run\x06"), sum(f.footer.Phases[1].ChunkDigests))
	same("phase parts", exampleBytes(t, "phase parts"), parts)
	same("digest of the parts", sum(append(exampleBytes(t, "header part"), parts...)), f.footer.Digest)
	same("digest", exampleBytes(t, "digest"), f.footer.Digest)
}

func TestTheItemsOfTheDigestAreThoseOfTheFormat(t *testing.T) {
	_, section, _ := strings.Cut(formatText(t), "## 8. Digest")
	h, _ := smallTrace()
	at := 0
	for _, item := range h.DigestHeader() {
		i := strings.Index(section[at:], "\n| `"+item.Name+"` |")
		if i < 0 {
			t.Fatalf("FORMAT.md, section 8 lacks item %s, or has it earlier", item.Name)
		}
		at += i
	}
}

func TestTheKeysOfTheFormatAreTrue(t *testing.T) {
	keys := payload.Keys{Prefix: "user", Padding: 1}
	for line := range strings.Lines(example(t, "keys")) {
		n, want := uint64(0), ""
		if _, err := fmt.Sscan(line, &n, &want); err != nil {
			t.Fatal(err)
		}
		if got := string(keys.Append(nil, n)); got != want {
			t.Errorf("key number %d has key %s, FORMAT.md says %s", n, got, want)
		}
	}
}

func TestTheValuesOfTheFormatAreTrue(t *testing.T) {
	for line := range strings.Lines(example(t, "values")) {
		var seed, key, version uint64
		var field, length int
		var want string
		if _, err := fmt.Sscan(line, &seed, &key, &field, &version, &length, &want); err != nil {
			t.Fatal(err)
		}
		f := payload.Fields{Count: 10, Length: payload.Length{Constant: length}}
		if got := string(f.Append(nil, seed, key, field, version)); got != want {
			t.Errorf("%s: the value is %s", strings.TrimSpace(line), got)
		}
	}
}

func TestTheValueLawsOfTheFormatAreTrue(t *testing.T) {
	keys := payload.Keys{Prefix: "user", Padding: 1, Order: payload.Ordered}
	for line := range strings.Lines(example(t, "value laws")) {
		length, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ", ")
		values, rest, _ := strings.Cut(rest, ", ")
		var seed, key, version uint64
		var field, bytes int
		var want string
		if _, err := fmt.Sscan(rest, &seed, &key, &field, &version, &bytes, &want); err != nil {
			t.Fatal(err)
		}
		f := payload.Fields{Count: 10, Prefix: "field"}
		var err error
		if f.Length, err = payload.ParseLength(length); err != nil {
			t.Fatal(err)
		}
		if f.Values, err = payload.ParseValues(values, keys); err != nil {
			t.Fatal(err)
		}
		if got := string(f.Append(nil, seed, key, field, version)); got != want || len(got) != bytes {
			t.Errorf("%s, %s, %d %d %d %d %d %s", length, values, seed, key, field, version, len(got), got)
		}
	}
}

// Errors cite numbers; a number that is not explained, or an explanation that
// nothing cites, is a fault.
func TestEveryInvariantThatAnErrorCitesIsInTheFormat(t *testing.T) {
	numbers, cited := map[string]int{}, map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if inv := n.Names[0].Name; name == "errors.go" && strings.HasPrefix(inv, "inv") && len(n.Values) == 1 {
					numbers[inv], err = strconv.Atoi(n.Values[0].(*ast.BasicLit).Value)
					return false
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "broken" {
					if _, number := n.Args[0].(*ast.BasicLit); number {
						t.Errorf("%s cites an invariant by its number", name)
					}
				}
			case *ast.Ident:
				if name != "errors.go" {
					cited[n.Name] = true
				}
			}
			return err == nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for inv := range numbers {
		if !cited[inv] {
			t.Errorf("nothing cites %s, invariant %d", inv, numbers[inv])
		}
	}
	var explained []int
	_, section, _ := strings.Cut(formatText(t), "## 9. Invariants")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^(\d+)\. \*\*`).FindAllStringSubmatch(section, -1) {
		n, _ := strconv.Atoi(m[1])
		explained = append(explained, n)
	}
	if want := slices.Sorted(maps.Values(numbers)); len(want) == 0 || !slices.Equal(explained, want) {
		t.Errorf("FORMAT.md explains the invariants %v, errors cite %v", explained, want)
	}
}

func TestLimitsAreThoseOfTheFormat(t *testing.T) {
	want := map[string]uint64{
		"headerBytesMax": headerBytesMax, "blockBytesMax": blockBytesMax, "footerShareMax": footerShareMax, "framesMax": framesMax,
		"phasesMax": phasesMax, "hintsMax": hintsMax, "visibilityMax": visibilityMax, "BlockOps": BlockOps, "dueNsMax": dueNsMax,
		"keyMax": keyMax, "scanLengthMax": scanLengthMax, "MaxPadding": payload.MaxPadding, "MaxFields": payload.MaxFields,
		"MaxValueBytes": payload.MaxValueBytes, "MaxVersion": payload.MaxVersion, "MaxBuckets": payload.MaxBuckets,
	}
	_, section, _ := strings.Cut(formatText(t), "## 10. Limits")
	got := map[string]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\w+) \| (\d+) \|`).FindAllStringSubmatch(section, -1) {
		got[m[1]], _ = strconv.ParseUint(m[2], 10, 64)
	}
	if !maps.Equal(got, want) {
		t.Errorf("FORMAT.md lists the limits %v, the code has %v", got, want)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "limits.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if _, listed := want[spec.Names[0].Name]; !listed {
				t.Errorf("limits.go has %s, which FORMAT.md does not list", spec.Names[0].Name)
			}
		}
		return true
	})
	if !strings.Contains(formatText(t), fmt.Sprintf("\nVersion %d. ", FormatVersion)) {
		t.Errorf("FORMAT.md does not describe version %d", FormatVersion)
	}
}

// program returns a command of another project that must be there.
func program(t *testing.T, name, debianPackage string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%s is missing; install Debian's package %s, or what has it elsewhere", name, debianPackage)
	}
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

func traceFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.trace.zst")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// fullBlock returns a block of BlockOps that continues smallTrace.
func fullBlock() *Block {
	_, blocks := workloadB(1)
	b := blocks[0]
	b.First, b.Phase, b.InsertBase, b.VisibleRecords, b.DeletesBefore = 21, 1, 9, 8, 3
	for i := range b.Due {
		b.Due[i] += 3000
	}
	return b
}

func TestForeignToolsReadATrace(t *testing.T) {
	h, blocks := smallTrace()
	path := traceFile(t, writeBlocks(t, h, append(blocks, fullBlock())))
	if err := program(t, "zstd", "zstd", "-tq", path).Run(); err != nil {
		t.Errorf("zstd -t: %v", err)
	}

	path = traceFile(t, exampleTrace(t))
	message, err := program(t, "zstd", "zstd", "-dc", path).Output()
	if err != nil {
		t.Fatalf("zstd -dc: %v", err)
	}
	cmd := program(t, "protoc", "protobuf-compiler", "-I", "../proto", "--decode=trace.v1.Trace", "trace/v1/trace.proto")
	cmd.Stdin = bytes.NewReader(message)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("protoc --decode: %v", err)
	}
	for _, want := range []string{
		example(t, "protoc"), "table: \"usertable\"\n", "    order: KEY_ORDER_HASHED\n", "    length: \"constant 100\"\n",
		"  phases {\n    name: \"run\"\n    paced: true\n", "    visibility_ops: 1\n", "  first_free_key: 3\n",
		"    kinds {\n      kind: KIND_READ_MODIFY_WRITE\n      ops: 1\n    }\n", "    last_tick: 2000\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("protoc prints\n%s\nwithout\n%s", text, want)
		}
	}
	// Nothing is left that protoc does not know: it would print bare numbers.
	if unknown := regexp.MustCompile(`(?m)^\s*\d+:`).Find(text); unknown != nil {
		t.Errorf("protoc prints an unknown field %s:\n%s", unknown, text)
	}
}

func TestASecondReaderReadsTheSame(t *testing.T) {
	program(t, "zstd", "zstd")
	h, blocks := smallTrace()
	h.Table, h.Spec, h.Phases[1].KeyLaw = "tä\tble", "a=1\nb=\\2\n", "hot\nkeys"
	small := writeBlocks(t, h, blocks)
	h.Tick, h.Keys.Order, h.Keys.Padding = 1000, payload.Ordered, 9
	for name, data := range map[string][]byte{
		"the example": exampleTrace(t), "every kind": small, "a full block": writeBlocks(t, h, append(blocks, fullBlock())),
	} {
		got, err := program(t, "python3", "python3", "testdata/reader.py", traceFile(t, data)).Output()
		if err != nil {
			t.Errorf("%s: testdata/reader.py: %v", name, err)
		}
		if want := dumpText(t, data); string(got) != want {
			t.Errorf("%s: testdata/reader.py prints\n%.3000s\nthe dump is\n%.3000s", name, got, want)
		}
	}
}

func TestTheScrambleOfTheFormatIsTrue(t *testing.T) {
	s := mustScramble(1000, [keymap.Rounds]uint64{1, 2, 3, 4})
	for line := range strings.Lines(example(t, "scramble")) {
		var x, want uint64
		if _, err := fmt.Sscan(line, &x, &want); err != nil {
			t.Fatal(err)
		}
		if got := s.Map(x); got != want {
			t.Errorf("%d goes to %d, FORMAT.md says %d", x, got, want)
		}
	}
}
