package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a server may take until it answers: those on a cold JVM
// and a busy machine take longest.
const patience = 3 * time.Minute

// stopPatience is how long a server may take to end in good order before it is
// killed.
const stopPatience = 20 * time.Second

// Server is a running server.
type Server struct {
	// Address is host:port.
	Address string
	// Dir holds its files; empty for one that was given by its address.
	Dir string

	recipe *Recipe
	port   int
	tb     testing.TB
	// logStart is where the log of the last start begins.
	logStart int

	mu      sync.Mutex
	process *process
}

// Start starts a fresh server on a free port, waits until it answers, and stops
// it when the test ends. A server that can't be had fails the test.
func Start(tb testing.TB, name string) *Server {
	tb.Helper()
	if address := os.Getenv(Variable(name)); address != "" {
		r, err := find(name)
		if err != nil {
			tb.Fatal(err)
		}
		return &Server{Address: address, recipe: r, tb: tb}
	}
	s, err := Launch(context.Background(), name, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s.stopWith(tb)
	return s
}

// stopWith stops the server when the test ends.
func (s *Server) stopWith(tb testing.TB) {
	s.tb = tb
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the log of %s:\n%s", s.recipe.Name, s.logTail())
		}
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
}

// StartCluster starts n fresh nodes of one cluster, waits until they have found
// each other, and stops them when the test ends. Each is a server that can be
// paused or killed alone.
func StartCluster(tb testing.TB, name string, n int) []*Server {
	tb.Helper()
	cluster, err := LaunchCluster(context.Background(), name, n)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range cluster {
		s.stopWith(tb)
	}
	return cluster
}

// LaunchCluster starts n fresh nodes of one cluster on free ports and waits until
// they have found each other. The caller stops each.
func LaunchCluster(ctx context.Context, name string, n int) (cluster []*Server, err error) {
	r, err := find(name)
	if err != nil {
		return nil, err
	}
	if r.Cluster == nil {
		return nil, fmt.Errorf("start a cluster of %s: there is no recipe for one", name)
	}
	if err := install(r); err != nil {
		return nil, err
	}
	nodes, err := r.Cluster(*r, n)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			for _, s := range cluster {
				err = errors.Join(err, s.Stop())
			}
			cluster = nil
		}
	}()
	for i := range nodes {
		s, err := launch(ctx, &nodes[i], 0)
		if err != nil {
			return cluster, err
		}
		cluster = append(cluster, s)
		for began := time.Now(); !r.Joined(s.Log(), i+1); time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > patience || ctx.Err() != nil {
				return cluster, fmt.Errorf("node %d of %s has not found the others:\n%s", i+1, name, s.logTail())
			}
		}
	}
	return cluster, nil
}

// dirPrefix begins the name of every server's directory.
const dirPrefix = "pianola-"

// portAttempts is how often a free port is looked for: between the look and the
// server's own bind somebody else may take it.
const portAttempts = 5

// Launch starts a fresh server on the port, or on a free one if it is 0, and
// waits until it answers. The caller stops it.
func Launch(ctx context.Context, name string, port int) (*Server, error) {
	r, err := find(name)
	if err != nil {
		return nil, err
	}
	if err := install(r); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		s, err := launch(ctx, r, port)
		if err == nil || port != 0 || attempt == portAttempts || !errors.Is(err, syscall.EADDRINUSE) {
			return s, err
		}
	}
}

// Install fetches what the server needs, if it is not there yet.
func Install(name string) error {
	r, err := find(name)
	if err != nil {
		return err
	}
	return install(r)
}

// LaunchUsual starts a fresh server on its usual port, or on any free one if
// that is taken.
func LaunchUsual(ctx context.Context, name string) (*Server, error) {
	r, err := find(name)
	if err != nil {
		return nil, err
	}
	port, err := freePort(r.Port)
	if errors.Is(err, syscall.EADDRINUSE) {
		port = 0
	}
	return Launch(ctx, name, port)
}

func launch(ctx context.Context, r *Recipe, port int) (*Server, error) {
	port, err := freePort(port)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", dirPrefix+r.Name+"-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for %s: %w", r.Name, err)
	}
	s := &Server{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Dir: dir, recipe: r, port: port}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// freePort returns the port if nobody listens on it; any free one for 0.
func freePort(port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("look for a free port: %w", err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// start starts the process and waits until it answers.
func (s *Server) start(ctx context.Context) error {
	cmd, err := s.recipe.Command(s.Dir, s.port)
	if err != nil {
		return fmt.Errorf("prepare %s in %q: %w", s.recipe.Name, s.Dir, err)
	}
	log, err := os.OpenFile(s.logName(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", s.recipe.Name, err)
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		s.logStart = int(info.Size())
	}
	cmd.Stdout, cmd.Stderr = log, log
	p, err := startProcess(cmd)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.recipe.Name, err)
	}
	s.mu.Lock()
	s.process = p
	s.mu.Unlock()
	return s.await(ctx, p)
}

// await polls until the server answers, ends, or is out of time.
func (s *Server) await(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		try, cancelTry := context.WithTimeout(ctx, 5*time.Second)
		err := s.recipe.Ready(try, s.Address)
		cancelTry()
		if err == nil && s.recipe.Started != nil && !s.recipe.Started(s.Log()[s.logStart:]) {
			err = errors.New("its log does not say that it has started")
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return s.endedEarly(p)
		case <-ctx.Done():
			return fmt.Errorf("%s at %s does not answer: %w\nthe end of its log:\n%s", s.recipe.Name, s.Address, err, s.logTail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) endedEarly(p *process) error {
	cause := p.err
	if tail := s.logTail(); bytes.Contains(bytes.ToLower(tail), []byte("address already in use")) {
		cause = errors.Join(cause, syscall.EADDRINUSE)
	}
	return fmt.Errorf("%s at %s ended before it answered: %w\nthe end of its log:\n%s", s.recipe.Name, s.Address, cause, s.logTail())
}

// Stop ends the server in good order, or kills it if it takes too long, and
// removes its files. A second call does nothing.
func (s *Server) Stop() error {
	s.mu.Lock()
	p := s.process
	s.process = nil
	s.mu.Unlock()
	if p != nil {
		s.end(p)
	}
	if s.Dir == "" {
		return nil
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("remove the files of %s: %w", s.recipe.Name, err)
	}
	return nil
}

func (s *Server) end(p *process) {
	stop := s.recipe.Stop
	if stop == 0 {
		stop = syscall.SIGTERM
	}
	p.resume()
	p.signal(stop)
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
	}
	p.kill()
}

// Pause stops all processes of the server where they are: it keeps its
// connections and answers nothing.
func (s *Server) Pause() { s.act("pause", (*process).pause) }

// Resume lets a paused server go on.
func (s *Server) Resume() { s.act("resume", (*process).resume) }

// Kill ends all processes of the server at once, without a chance to save
// anything, and returns when they are gone.
func (s *Server) Kill() { s.act("kill", (*process).kill) }

// act does something to a process that was started here.
func (s *Server) act(what string, do func(*process)) {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p == nil {
		s.fail(what, errNotStarted)
		return
	}
	do(p)
}

// Restart starts the server again with the same port and files, after Kill or
// while it runs, and waits until it answers.
func (s *Server) Restart() {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p == nil {
		s.fail("restart", errNotStarted)
		return
	}
	select {
	case <-p.ended:
		p.kill()
	default:
		s.end(p)
	}
	if err := s.start(context.Background()); err != nil {
		s.fail("restart", err)
	}
}

func (s *Server) fail(what string, err error) {
	hint := ""
	if errors.Is(err, errNotStarted) {
		hint = "\nunset " + Variable(s.recipe.Name)
	}
	err = fmt.Errorf("%s %s at %s: %w%s", what, s.recipe.Name, s.Address, err, hint)
	if s.tb == nil {
		panic(err)
	}
	s.tb.Helper()
	// Tests pause from goroutines of their own, where FailNow is not allowed.
	s.tb.Error(err)
}

// Hint tells a person on one line what to know about the server, or "".
func (s *Server) Hint() string {
	if s.recipe.Hint == nil {
		return ""
	}
	return s.recipe.Hint(s.Dir)
}

// Ended is closed when the server's process has ended.
func (s *Server) Ended() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.ended
}

func (s *Server) logName() string { return filepath.Join(s.Dir, "server.log") }

// Log returns what the server has written to its output so far.
func (s *Server) Log() string {
	if s.Dir == "" {
		return ""
	}
	text, err := os.ReadFile(s.logName())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// logTail returns the end of the log.
func (s *Server) logTail() []byte {
	const most = 4000
	text := []byte(s.Log())
	return text[max(0, len(text)-most):]
}
