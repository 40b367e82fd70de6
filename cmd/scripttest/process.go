package scripttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Process is a program that a test has started and may send signals to.
type Process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr buffer
	ended          chan struct{}
}

// Start starts cmd with its standard output and error kept. It is killed at the
// end of the test.
func Start(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait() // what it says is in ProcessState
		close(p.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// Await returns once a file is there that a pattern of names matches and that
// holds a match of the regular expression text. It ends the test if the program
// ends before.
func (p *Process) Await(name, text string) {
	p.t.Helper()
	re := regexp.MustCompile(text)
	p.await(func() bool {
		found, _ := filepath.Glob(name) // the pattern is the test's own
		for _, file := range found {
			if b, err := os.ReadFile(file); err == nil && re.Match(b) {
				return true
			}
		}
		return false
	})
}

// AwaitStderr returns once standard error holds a match of text.
func (p *Process) AwaitStderr(text string) {
	p.t.Helper()
	re := regexp.MustCompile(text)
	p.await(func() bool { return re.MatchString(p.Stderr()) })
}

func (p *Process) await(is func() bool) {
	p.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-p.ended:
			p.t.Fatalf("%v ended: %v\n%s", p.cmd, p.cmd.ProcessState, p.Stderr())
		case <-tick.C:
		}
	}
}

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Wait waits for the end and returns the exit code, -1 if a signal ended it.
func (p *Process) Wait() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// State returns how the program ended, after Wait.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Stdout and Stderr return what was written so far.
func (p *Process) Stdout() string { return p.stdout.String() }
func (p *Process) Stderr() string { return p.stderr.String() }

// buffer is a bytes.Buffer that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
