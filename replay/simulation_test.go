package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
)

// simulation is a run on a stepped clock as a file in testdata describes it. A
// line is a word and its arguments; # begins a remark.
//
//	slots N | deadline D | grace D | order O | overload O | asap | speed N/M
//	interrupt D                      ends the run so long after its start
//	phase NAME paced|unpaced         begins a phase
//	ops N KIND key K[+S] at D every D    N ops of it, keys K, K+S, …
//	answer N[..N]|KIND|all D [CLASS|hang]
//	                                 ops by index over the whole trace, or by kind,
//	                                 are answered after D, with an error if one is
//	                                 named; hang: not even at their deadline. The
//	                                 last line that fits counts. By default ops
//	                                 are answered at once.
//	stall NAME D D                   in a phase, from then, for so long nothing is
//	                                 answered
//
// and what must come of it, for blocking and for pipelined sessions:
//
//	counts NAME word=N …             offered, completed, … ; those not named are 0
//	sum NAME wait|lag|service|response D   over the ops that were answered in time
//	max NAME wait|lag|service|response D
//	op N [due=D] [ready=D] [start=D] [end=D] OUTCOME
//	verdict NAME WORD
//	backlog NAME HALF END MAX
//	phases N | partial | stopped TEXT
type simulation struct {
	header  *traces.Header
	ops     []traces.Op
	set     func(r *replay.Runner)
	answers []answerRule
	stalls  []stallRule
	// interrupt is 0 for none.
	interrupt time.Duration
	wants     []wantLine
}

type wantLine struct {
	line int
	text string
	args []string
}

func TestSimulations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d simulations, %v", len(files), err)
	}
	for _, path := range files {
		for _, pipelined := range []bool{false, true} {
			name := strings.TrimSuffix(filepath.Base(path), ".txt") + map[bool]string{false: "/blocking", true: "/pipelined"}[pipelined]
			t.Run(name, func(t *testing.T) {
				s := parseSimulation(t, path)
				res, log := s.run(t, pipelined)
				checked(t, res)
				for _, w := range s.wants {
					if fault := check(w.args, res, log); fault != "" {
						t.Errorf("%s:%d: %s: %s", path, w.line, w.text, fault)
					}
				}
			})
		}
	}
}

// run replays the simulation; the log has the columns of each op by its index.
func (s *simulation) run(t *testing.T, pipelined bool) (*measure.Result, map[int][]string) {
	t.Helper()
	b := &replaytest.Pipelined{}
	r := runner(t, &b.Binding, s.header, s.ops)
	if pipelined {
		r.Binding = b
	}
	s.set(r)
	var text bytes.Buffer
	r.OpLog = &text
	var res *measure.Result
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r.Clock = replaytest.NewClock()
		database := &simulated{simulation: s, runner: r, phase: b.Phase, taken: make([]bool, len(s.ops)), over: make(chan struct{})}
		defer close(database.over)
		b.Answer = database.answer
		if s.interrupt > 0 {
			go func() {
				r.Clock.SleepUntil(s.interrupt)
				cancel()
			}()
		}
		var err error
		if res, err = r.Run(ctx); err != nil {
			t.Fatal(err)
		}
	})
	log := map[int][]string{}
	for line := range strings.Lines(text.String()) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if n, err := strconv.Atoi(columns[0]); err == nil {
			log[n] = columns
		}
	}
	return res, log
}

// check holds one line of what must come of it against what came of it.
func check(args []string, res *measure.Result, log map[int][]string) string {
	if len(args) == 1 && args[0] == "partial" {
		if !res.Partial {
			return "the result is not partial"
		}
		return ""
	}
	if len(args) < 2 {
		return "there is no such line"
	}
	switch args[0] {
	case "phases":
		return differs(strconv.Itoa(len(res.Phases)), args[1])
	case "stopped":
		if want := strings.Join(args[1:], " "); !strings.Contains(res.Stopped, want) {
			return fmt.Sprintf("stopped %q", res.Stopped)
		}
		return ""
	case "op":
		return checkOp(args[1:], log)
	}
	at := slices.IndexFunc(res.Phases, func(p measure.Phase) bool { return p.Name == args[1] })
	if at < 0 {
		return "the phase was not replayed"
	}
	p := &res.Phases[at]
	switch args[0] {
	case "counts":
		return checkCounts(args[2:], p)
	case "sum", "max":
		return checkTimes(args[0], args[2], args[3], p, log)
	case "verdict":
		return differs(p.Verdict.Word, strings.Join(args[2:], " "))
	case "backlog":
		return differs(fmt.Sprint(p.Backlog.Half, p.Backlog.End, p.Backlog.Max), strings.Join(args[2:], " "))
	}
	return "there is no such line"
}

func differs(got, want string) string {
	if got != want {
		return "it is " + got
	}
	return ""
}

func checkCounts(args []string, p *measure.Phase) string {
	var c measure.Counts
	for i := range p.Kinds {
		c.Add(p.Kinds[i].Counts)
	}
	got := map[string]uint64{
		"offered": c.Offered, "completed": c.Completed, "failed": c.Failed, "censored": c.Censored, "dropped": c.Dropped, "unsent": c.Unsent,
		"expected": c.Expected, "raced": c.Raced, "orphaned": c.Orphaned, "notreached": p.NotReached,
	}
	for _, arg := range args {
		word, number, _ := strings.Cut(arg, "=")
		n, known := got[word]
		if want, err := strconv.ParseUint(number, 10, 64); err != nil || !known || n != want {
			return fmt.Sprintf("%s is %d", word, n)
		}
		delete(got, word)
	}
	for word, n := range got {
		if n != 0 {
			return fmt.Sprintf("%s is %d and not named", word, n)
		}
	}
	return ""
}

// checkTimes computes a figure of a phase from the op log; the histograms have
// to agree.
func checkTimes(figure, part, want string, p *measure.Phase, log map[int][]string) string {
	columns := map[string][2]int{"wait": {3, 5}, "lag": {5, 6}, "service": {6, 7}, "response": {3, 7}}[part]
	if columns == [2]int{} {
		return "there is no such part"
	}
	var sum, longest time.Duration
	for _, c := range log {
		if c[1] != p.Name || !slices.Contains([]string{"ok", "expected", "raced", "orphaned"}, c[8]) {
			continue
		}
		from, err1 := strconv.ParseInt(c[columns[0]], 10, 64)
		to, err2 := strconv.ParseInt(c[columns[1]], 10, 64)
		if err1 != nil || err2 != nil {
			return fmt.Sprintf("the log has %q", c)
		}
		sum, longest = sum+time.Duration(to-from), max(longest, time.Duration(to-from))
	}
	if part == "response" || part == "service" {
		recorded := time.Duration(0)
		for i := range p.Kinds {
			recorded = max(recorded, map[string]*measure.Histogram{"response": p.Kinds[i].Response, "service": p.Kinds[i].Service}[part].Max())
		}
		if recorded != longest {
			return fmt.Sprintf("the longest recorded is %v, of those logged %v", recorded, longest)
		}
	}
	got := sum
	if figure == "max" {
		got = longest
	}
	if d, err := time.ParseDuration(want); err != nil || d != got {
		return fmt.Sprintf("it is %v", got)
	}
	return ""
}

// checkOp holds a line of the op log against N [NAME=D]… OUTCOME.
func checkOp(args []string, log map[int][]string) string {
	index, err := strconv.Atoi(args[0])
	c := log[index]
	if err != nil || c == nil {
		return "it is not in the log"
	}
	for i, arg := range args[1:] {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return differs(c[8], strings.Join(args[1+i:], " "))
		}
		column := map[string]int{"due": 3, "keyfree": 4, "ready": 5, "start": 6, "end": 7}[name]
		if text == "-" && c[column] == "-" && column > 0 {
			continue
		}
		want, err := time.ParseDuration(text)
		if err != nil || column == 0 || c[column] != strconv.FormatInt(int64(want), 10) {
			return fmt.Sprintf("%s is %s ns", name, c[column])
		}
	}
	return "no outcome is named"
}
