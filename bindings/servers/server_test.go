//go:build linux

package servers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// own servers of this package's tests; others are tested with their bindings.
var light = []string{"redis", "redis-tls", "redis-cluster", "postgresql", "postgresql-tls", "mariadb", "mariadb-tls"}

func ready(s *Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	return s.recipe.Ready(ctx, s.Address)
}

// TestLifeOfAServer starts each, pauses it, kills it and starts it again, and
// looks whether anything is left.
func TestLifeOfAServer(t *testing.T) {
	for _, name := range light {
		t.Run(name, func(t *testing.T) {
			t.Setenv(Variable(name), "")
			s := Start(t, name)
			pids := s.process.tree()
			if len(pids) == 0 || s.Log() == "" {
				t.Fatalf("processes %v, log %q", pids, s.Log())
			}
			s.Pause()
			if err := ready(s); err == nil {
				t.Error("it answers while it is paused")
			}
			s.Resume()
			// A busy machine may need a while to wake up.
			if err := s.await(t.Context(), s.process); err != nil {
				t.Fatal(err)
			}
			address := s.Address
			s.Kill()
			if i := slices.IndexFunc(pids, alive); i >= 0 {
				t.Errorf("process %d of %v lives on", pids[i], pids)
			}
			if err := ready(s); err == nil {
				t.Error("it answers while it is dead")
			}
			s.Restart()
			if err := ready(s); err != nil || s.Address != address {
				t.Errorf("at %s, formerly %s: %v", s.Address, address, err)
			}
			s.Restart()
			pids = s.process.tree()
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if i := slices.IndexFunc(pids, alive); i >= 0 {
				t.Errorf("process %d of %v lives on", pids[i], pids)
			}
			if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
				t.Errorf("its directory is left: %v", err)
			}
		})
	}
}

func TestAServerGivenByItsAddress(t *testing.T) {
	t.Setenv("PIANOLA_REDIS", "10.0.0.7:6379")
	s := Start(t, "redis")
	if s.Address != "10.0.0.7:6379" {
		t.Errorf("address %q", s.Address)
	}
	failures := &recorder{TB: t}
	s.tb = failures
	s.Pause()
	s.Restart()
	if len(failures.text) != 2 || !strings.Contains(failures.text[0], "PIANOLA_REDIS") {
		t.Errorf("pausing and restarting it fails with %q", failures.text)
	}
}

// recorder takes failures instead of the test.
type recorder struct {
	testing.TB
	text []string
}

func (r *recorder) Helper() {}
func (r *recorder) Error(args ...any) {
	r.text = append(r.text, args[0].(error).Error())
}

func TestAServerThatFails(t *testing.T) {
	_, err := Launch(t.Context(), "mangodb", 0)
	if err == nil || !strings.Contains(err.Error(), `"mangodb"`) || !strings.Contains(err.Error(), "redis") {
		t.Errorf("an unknown one: %v", err)
	}
	t.Setenv("PIANOLA_REDIS", "")
	s := Start(t, "redis")
	if _, err = Launch(t.Context(), "redis", s.port); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("on a port that is taken: %v", err)
	}
	// One that ends at once is reported with its log.
	t.Setenv("TMPDIR", t.TempDir())
	bad := redis
	bad.Command = func(string, int) (*exec.Cmd, error) { return exec.Command("ls", "/nowhere"), nil }
	if _, err = launch(t.Context(), &bad, 0); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("one that ends: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
		t.Errorf("it has left %q", left)
	}
}

func TestNamesAndVariables(t *testing.T) {
	if got := Variable("redis-tls"); got != "PIANOLA_REDIS_TLS" {
		t.Errorf("variable %q", got)
	}
	names := Names()
	for i := range recipes {
		r := &recipes[i]
		if slices.Index(names, r.Name) != i || r.Port == 0 || r.Command == nil || r.Ready == nil || len(r.Packages) == 0 && r.Prepare == nil {
			t.Errorf("the recipe %q is not whole or not alone", r.Name)
		}
	}
	if got := missingPackages([]string{"dpkg", "no-such-package"}); !slices.Equal(got, []string{"no-such-package"}) {
		t.Errorf("missing packages %q", got)
	}
}
