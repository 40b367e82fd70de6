package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Background is a server that a program of ours keeps running, for as long as
// it lives. Its state is a file in the user's cache, which that program holds a
// lock on: so a number that another process has by now is never taken for it.
type Background struct {
	Name string `json:"name"`
	// Address is host:port.
	Address string `json:"address"`
	// Hint is what a person should know, or "".
	Hint string `json:"hint,omitempty"`
	// Keeper is the number of the process that keeps it running.
	Keeper int `json:"keeper"`
	// Dir holds the server's files.
	Dir string `json:"dir"`
}

// backgroundDir returns the directory for the state, and makes it.
func backgroundDir() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "running")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for servers that run: %w", err)
	}
	return dir, nil
}

// stateFile returns the name of a server's state.
func stateFile(name string) (string, error) {
	r, err := find(name)
	if err != nil {
		return "", err
	}
	dir, err := backgroundDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, r.Name+".json"), nil
}

// errKept: another process keeps the server running.
var errKept = errors.New("it runs already")

// Keep notes that this process keeps a server running. The caller calls done
// when the server has stopped. Only one process at a time keeps a server of a
// name.
func Keep(s *Server) (done func() error, err error) {
	name, err := stateFile(s.recipe.Name)
	if err != nil {
		return nil, err
	}
	file, err := lockNow(name)
	if err != nil {
		return nil, fmt.Errorf("keep %s running: %w", s.recipe.Name, err)
	}
	text, err := json.Marshal(Background{Name: s.recipe.Name, Address: s.Address, Hint: s.Hint(), Keeper: os.Getpid(), Dir: s.Dir})
	if err == nil {
		err = errors.Join(file.Truncate(0), writeAt(file, text))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("note that %s runs: %w", s.recipe.Name, err), file.Close())
	}
	return func() error { return errors.Join(os.Remove(name), file.Close()) }, nil
}

func writeAt(file *os.File, text []byte) error {
	_, err := file.WriteAt(text, 0)
	return err
}

// InBackground returns the server of that name that is kept running, or nil. It
// clears away what one has left whose keeper was killed.
func InBackground(name string) (*Background, error) {
	state, err := stateFile(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(state)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what runs: %w", err)
	}
	file, err := lockNow(state)
	if errors.Is(err, errKept) {
		b := &Background{}
		if err := json.Unmarshal(text, b); err != nil {
			return nil, fmt.Errorf("read what runs from %q: %w", state, err)
		}
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return nil, errors.Join(clearAway(text), os.Remove(state))
}

// clearAway removes the files of a server whose keeper is gone; the server has
// gone with it.
func clearAway(text []byte) error {
	var b Background
	if json.Unmarshal(text, &b) != nil || !strings.HasPrefix(filepath.Base(b.Dir), dirPrefix) {
		return nil // killed before it had noted anything
	}
	if err := os.RemoveAll(b.Dir); err != nil {
		return fmt.Errorf("remove the files of %s: %w", b.Name, err)
	}
	return nil
}

// AllInBackground lists the servers that are kept running, in the order of the
// recipes.
func AllInBackground() ([]*Background, error) {
	var all []*Background
	for _, name := range Names() {
		b, err := InBackground(name)
		if err != nil {
			return nil, err
		}
		if b != nil {
			all = append(all, b)
		}
	}
	return all, nil
}

// downPatience is longer than a server may take to end.
const downPatience = stopPatience + 20*time.Second

// Down ends a server that is kept running, and returns when nothing is left of
// it. One that doesn't run is no error.
func Down(name string) error {
	b, err := InBackground(name)
	if b == nil || err != nil {
		return err
	}
	state, err := stateFile(name)
	if err != nil {
		return err
	}
	if err := terminate(b.Keeper); err != nil {
		return fmt.Errorf("stop %s, kept by process %d: %w", b.Name, b.Keeper, err)
	}
	for late := time.Now().Add(downPatience); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(state); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		// It may have been killed instead.
		if b, err := InBackground(name); b == nil || err != nil {
			return err
		}
	}
	return fmt.Errorf("stop %s: process %d has not ended it after %v", b.Name, b.Keeper, downPatience)
}
