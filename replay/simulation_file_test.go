package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/replay"
	"pianola/traces"
	"pianola/traces/tracetest"
)

// answerRule says how some ops are answered.
type answerRule struct {
	fits  func(index int, kind traces.Kind) bool
	after time.Duration
	class bindings.Class
	hangs bool
}

// stallRule says when nothing is answered, from the phase's start.
type stallRule struct {
	phase    string
	from, to time.Duration
}

// parseSimulation reads a file; what it doesn't understand fails the test.
func parseSimulation(t *testing.T, path string) *simulation {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &simulation{header: tracetest.Header(), set: func(*replay.Runner) {}}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		known, err := s.take(args)
		if err != nil {
			t.Fatalf("%s:%d: %s: %v", path, number, strings.TrimSpace(line), err)
		}
		if !known {
			s.wants = append(s.wants, wantLine{number, strings.TrimSpace(line), args})
		}
	}
	records := uint64(0)
	for _, op := range s.ops {
		if op.Kind == traces.Insert && s.header.Phases[op.Phase].Name == traces.LoadPhase {
			records++
		}
	}
	if records > 0 {
		s.header.Records = records
	}
	return s
}

// take takes a line that describes the run. It reports false for one that says
// what must come of it.
func (s *simulation) take(args []string) (known bool, err error) {
	before := s.set
	change := func(f func(r *replay.Runner)) { s.set = func(r *replay.Runner) { before(r); f(r) } }
	rest := args[1:]
	switch args[0] {
	case "slots":
		n, err := strconv.Atoi(rest[0])
		change(func(r *replay.Runner) { r.Slots = n })
		return true, err
	case "deadline", "grace", "interrupt":
		d, err := time.ParseDuration(rest[0])
		switch args[0] {
		case "deadline":
			change(func(r *replay.Runner) { r.Deadline = d })
		case "grace":
			change(func(r *replay.Runner) { r.Grace = d })
		default:
			s.interrupt = d
		}
		return true, err
	case "order":
		o, err := replay.ParseOrder(rest[0])
		change(func(r *replay.Runner) { r.Order = o })
		return true, err
	case "overload":
		o, err := replay.ParseOverload(rest[0])
		change(func(r *replay.Runner) { r.Overload = o })
		return true, err
	case "asap":
		change(func(r *replay.Runner) { r.Asap = true })
		return true, nil
	case "speed":
		var num, den uint64
		_, err := fmt.Sscanf(rest[0], "%d/%d", &num, &den)
		change(func(r *replay.Runner) { r.SpeedNumerator, r.SpeedDenominator = num, den })
		return true, err
	case "phase":
		p := tracetest.Run(1000)
		p.Name, p.Paced = rest[0], rest[1] == "paced"
		if !p.Paced {
			p.Rate = traces.Rate{}
		}
		s.header.Phases = append(s.header.Phases, p)
		return true, nil
	case "ops":
		return true, s.addOps(rest)
	case "answer":
		return true, s.addAnswer(rest)
	case "stall":
		from, err1 := time.ParseDuration(rest[1])
		length, err2 := time.ParseDuration(rest[2])
		s.stalls = append(s.stalls, stallRule{rest[0], from, from + length})
		return true, errors.Join(err1, err2)
	}
	return false, nil
}

func kindNamed(name string) (traces.Kind, error) {
	for k := range traces.KindLimit {
		if k.Valid() && k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q", name)
}

// addOps takes N KIND key K[+S] at D every D.
func (s *simulation) addOps(args []string) error {
	if len(args) != 8 || args[2] != "key" || args[4] != "at" || args[6] != "every" {
		return errors.New("want ops N KIND key K[+S] at D every D")
	}
	n, err1 := strconv.Atoi(args[0])
	kind, err2 := kindNamed(args[1])
	first, step, _ := strings.Cut(args[3]+"+0", "+")
	step, _, _ = strings.Cut(step, "+")
	key, err3 := strconv.ParseUint(first, 10, 64)
	stride, err4 := strconv.ParseUint(step, 10, 64)
	at, err5 := time.ParseDuration(args[5])
	gap, err6 := time.ParseDuration(args[7])
	phase := len(s.header.Phases) - 1
	for i := range n {
		op := traces.Op{Phase: phase, Kind: kind, Key: key + uint64(i)*stride}
		if s.header.Phases[phase].Paced {
			op.Due = uint64(at + time.Duration(i)*gap)
		}
		s.ops = append(s.ops, op)
	}
	return errors.Join(err1, err2, err3, err4, err5, err6)
}

// addAnswer takes N[..N]|KIND|all D [CLASS|hang].
func (s *simulation) addAnswer(args []string) error {
	var rule answerRule
	var err error
	if rule.after, err = time.ParseDuration(args[1]); err != nil {
		return err
	}
	if first, last, _ := strings.Cut(args[0], ".."); strings.Trim(first, "0123456789") == "" {
		if last == "" {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		rule.fits = func(index int, _ traces.Kind) bool { return from <= index && index <= to }
		err = errors.Join(err1, err2)
	} else if args[0] == "all" {
		rule.fits = func(int, traces.Kind) bool { return true }
	} else {
		var kind traces.Kind
		kind, err = kindNamed(args[0])
		rule.fits = func(_ int, k traces.Kind) bool { return k == kind }
	}
	if len(args) > 2 {
		word := strings.Join(args[2:], " ")
		rule.hangs = word == "hang"
		for c := range bindings.ClassLimit {
			if c.String() == word {
				rule.class = c
			}
		}
		if !rule.hangs && rule.class == bindings.OK {
			return fmt.Errorf("unknown class %q", word)
		}
	}
	s.answers = append(s.answers, rule)
	return err
}

// simulated answers as the file says.
type simulated struct {
	*simulation
	runner *replay.Runner
	phase  func() (name string, start time.Duration)
	mu     sync.Mutex
	// taken are the ops that were sent.
	taken []bool
	// over is closed behind the run, and ends the ops that hang.
	over chan struct{}
}

func (d *simulated) answer(_ context.Context, op *bindings.Op) error {
	phase, start := d.phase()
	rule := answerRule{}
	index := d.index(op, phase, start)
	for _, a := range d.answers {
		if a.fits(index, op.Kind) {
			rule = a
		}
	}
	now := d.runner.Clock.Now()
	end := now + rule.after
	for _, stall := range d.stalls {
		// What is in flight when a stall begins, or starts in it, is answered at its end.
		if from, to := start+stall.from, start+stall.to; stall.phase == phase && now < to && end >= from {
			end = to
		}
	}
	if rule.hangs {
		<-d.over
		return nil
	}
	if end > now {
		timer := time.NewTimer(min(end, op.Deadline) - now)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-d.over:
		}
	}
	if end > op.Deadline {
		return &bindings.Error{Class: bindings.Timeout, Err: errors.New("given up at its deadline")}
	}
	if rule.class != bindings.OK {
		return &bindings.Error{Class: rule.class, Err: errors.New("as the simulation says")}
	}
	return nil
}

// index finds an op in the trace: by phase, kind and key, and by its due time,
// which its deadline tells, where that is kept to.
func (d *simulated) index(op *bindings.Op, phase string, start time.Duration) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.ops {
		o := &d.ops[i]
		p := &d.header.Phases[o.Phase]
		if d.taken[i] || p.Name != phase || o.Kind != op.Kind || fmt.Sprint("user", o.Key) != string(op.Key) {
			continue
		}
		due := time.Duration(o.Due * d.runner.SpeedDenominator / d.runner.SpeedNumerator)
		if p.Paced && !d.runner.Asap && op.Deadline != start+due+d.runner.Deadline {
			continue
		}
		d.taken[i] = true
		return i
	}
	panic(fmt.Sprintf("an op that is not in the trace: %v %s", op.Kind, op.Key))
}
