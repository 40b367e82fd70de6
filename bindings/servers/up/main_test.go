//go:build linux

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pianola/bindings/servers"
)

// programs builds up and down, and gives them a cache and a place for temporary
// files of the test's own.
func programs(t *testing.T) (up, down string) {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, ".", "../down").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	// Servers that run as a user of their own must get at their files in it.
	open, err := os.MkdirTemp("", "up-test-")
	if err == nil {
		err = os.Chmod(open, 0o777|os.ModeSticky)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	t.Setenv("TMPDIR", open)
	return filepath.Join(dir, "up"), filepath.Join(dir, "down")
}

// run runs a program with its stderr in a pipe as well: it must not be kept open.
func run(t *testing.T, program string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(program, arguments...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		t.Fatalf("%s %q: %v: %s", filepath.Base(program), arguments, e, err.String())
	}
	return strings.TrimSpace(out.String()), err.String()
}

// left lists what is there of servers: their files and their state.
func left(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "pianola-*"))
	if err != nil {
		t.Fatal(err)
	}
	states, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "pianola", "running", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, states...)
}

func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func TestAServerInTheBackground(t *testing.T) {
	up, down := programs(t)
	defer run(t, down)
	redis, _ := run(t, up, "-background", "redis")
	mysql, _ := run(t, up, "-background", "mysql")
	if !strings.HasPrefix(redis, "127.0.0.1:") || !answers(redis) || !answers(mysql) {
		t.Fatalf("redis is at %q, mysql at %q", redis, mysql)
	}
	again, said := run(t, up, "-background", "redis")
	if again != redis || !strings.Contains(said, "runs already") {
		t.Errorf("started again it is at %q, formerly %q: %s", again, redis, said)
	}
	if _, said = run(t, down, "redis"); !strings.Contains(said, redis) || answers(redis) || !answers(mysql) {
		t.Errorf("redis stopped alone: %s; redis answers: %v, mysql: %v", said, answers(redis), answers(mysql))
	}
	if _, said = run(t, down); !strings.Contains(said, "mariadb") || answers(mysql) {
		t.Errorf("all stopped: %s", said)
	}
	if files := left(t); len(files) > 0 {
		t.Errorf("behind down there is %q", files)
	}
	if _, said = run(t, down); said != "nothing runs\n" {
		t.Errorf("down where nothing runs: %s", said)
	}
}

// TestAKeeperIsKilled: the server goes with it, and down clears away the rest.
func TestAKeeperIsKilled(t *testing.T) {
	up, down := programs(t)
	defer run(t, down)
	address, _ := run(t, up, "-background", "redis")
	b, err := servers.InBackground("redis")
	if err != nil || b == nil || b.Address != address {
		t.Fatalf("it is known as %+v, %v", b, err)
	}
	if err := syscall.Kill(b.Keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for answers(address) {
		time.Sleep(time.Millisecond)
	}
	for kept := b; kept != nil; {
		if kept, err = servers.InBackground("redis"); err != nil {
			t.Fatal(err)
		}
	}
	if files := left(t); len(files) > 0 {
		t.Errorf("what it has left is still there: %q", files)
	}
}

func TestAServerThatDoesNotStart(t *testing.T) {
	up, _ := programs(t)
	out, err := exec.Command(up, "-background", "mangodb").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"mangodb"`) {
		t.Errorf("an unknown one: %v: %s", err, out)
	}
}
