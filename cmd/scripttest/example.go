package scripttest

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// RunExamples takes the example of each of the programs' helps and runs it line
// by line in a shell, all in one new directory and in the order given: it must
// work as it is printed. mayFail says of which exit codes beside 0 a machine
// under load may be the cause.
func RunExamples(t *testing.T, helps [][]string, mayFail ...int) {
	dir := t.TempDir()
	for _, help := range helps {
		out, err := exec.Command(help[0], append(slices.Clone(help[1:]), "--help")...).Output()
		if err != nil {
			t.Fatalf("%q --help: %v", help, err)
		}
		lines := example(string(out))
		if len(lines) == 0 {
			t.Errorf("%q --help shows no example:\n%s", help, out)
		}
		if called := strings.Join(help, " "); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, called) }) {
			t.Errorf("the example of %q is not of it: %q", help, lines)
		}
		for _, line := range lines {
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			exit := (*exec.ExitError)(nil)
			switch {
			case errors.As(err, &exit) && slices.Contains(mayFail, exit.ExitCode()):
			case err != nil || bytes.Contains(out, []byte(": error: ")): // also before a pipe
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
}

// example returns the lines of a help text that are its example, without their
// margin: those behind the line "Example:" that are indented further.
func example(help string) []string {
	var lines []string
	margin := -1
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch {
		case text == "Example:":
			margin = indent
		case margin < 0 || text == "":
		case indent > margin:
			lines = append(lines, text)
		default:
			return lines
		}
	}
	return lines
}
