package measure

import (
	"strings"
	"testing"
	"time"

	"pianola/bindings"
)

const (
	µs = time.Microsecond
	ms = time.Millisecond
)

// each returns a histogram of n times the same duration.
func each(n int, d time.Duration) *Histogram {
	h := NewHistogram()
	for range n {
		h.Record(d)
	}
	return h
}

// quiet returns a phase of 10 s at 1000 op/s in which nothing is wrong: 1,000
// of its ops stand for all, with a response of 2 ms and a lag of 10 µs.
func quiet() Phase {
	return Phase{
		Name: "run", Paced: true, Rate: 1000, Schedule: 10 * time.Second, Length: 10 * time.Second, Ops: 1000,
		Kinds: []Kind{{
			Kind: "READ", Counts: Counts{Offered: 1000, Completed: 1000},
			Response: each(1000, 2*ms), Service: each(1000, 2*ms), Wait: each(1000, 0), Lag: each(1000, 10*µs),
		}},
		Backlog: Backlog{Half: 2, End: 2, Max: 4, DueSecondHalf: 500},
	}
}

var remote = JudgeInput{Place: bindings.Remote, Slots: 64}

func TestJudge(t *testing.T) {
	local := JudgeInput{Place: bindings.Remote, Local: true, Slots: 64}
	embedded := JudgeInput{Place: bindings.Embedded, Slots: 64}
	null := JudgeInput{Place: bindings.Nowhere, Slots: 64}
	ordered := func(wait time.Duration) func(*Phase) {
		return func(p *Phase) { p.Kinds[0].OrderWait = wait }
	}
	lag := func(d time.Duration) func(*Phase) {
		return func(p *Phase) { p.Kinds[0].Lag = each(1000, d) }
	}
	response := func(d time.Duration) func(*Phase) {
		return func(p *Phase) { p.Kinds[0].Response = each(1000, d) }
	}
	wait := func(d time.Duration) func(*Phase) {
		return func(p *Phase) { p.Kinds[0].Wait = each(1000, d) }
	}
	gap := func(d time.Duration) func(*Phase) {
		return func(p *Phase) { p.Health.GapP99 = d }
	}
	health := func(h Health) func(*Phase) { return func(p *Phase) { p.Health = h } }
	length := func(d time.Duration) func(*Phase) { return func(p *Phase) { p.Length = d } }
	backlog := func(half, end, due uint64) func(*Phase) {
		return func(p *Phase) { p.Backlog = Backlog{Half: half, End: end, Max: max(half, end), DueSecondHalf: due} }
	}
	counts := func(c Counts) func(*Phase) {
		return func(p *Phase) {
			c.Offered = c.Decided()
			p.Kinds[0].Counts = c
		}
	}
	unpaced := func(p *Phase) { p.Paced, p.Rate, p.Schedule = false, 0, 0 }
	noRate := func(p *Phase) { p.Rate = 0 }

	for _, c := range []struct {
		name   string
		in     JudgeInput
		change []func(*Phase)
		want   string
		reason string
	}{
		{"nothing wrong", remote, nil, Valid, "Lag p99 is 10.0 µs; up to 500 µs is allowed."},
		{"no op", remote, []func(*Phase){func(p *Phase) { p.Kinds = nil }}, Unjudged, "No op was offered."},

		{"lag at the floor", remote, []func(*Phase){lag(500 * µs)}, Valid, "Lag p99 is 500 µs; up to 500 µs is allowed."},
		{"lag above the floor", remote, []func(*Phase){lag(500*µs + 1)}, GeneratorLimited,
			"Lag p99 is 500.001µs, above 500µs: the greatest of 500 µs, 5 × clock-gap p99 (0 ns), 10 % of response p99 (2.00 ms)."},
		{"lag at a tenth of response", remote, []func(*Phase){response(20 * ms), lag(2 * ms)}, Valid, "up to 2.00 ms is allowed"},
		{"lag above a tenth of response", remote, []func(*Phase){response(20 * ms), lag(2*ms + 1)}, GeneratorLimited, "Lag p99 is 2.000001ms, above 2ms: "},
		{"lag at five clock gaps", remote, []func(*Phase){gap(200 * µs), lag(1 * ms)}, Valid, "up to 1.00 ms is allowed"},
		{"lag above five clock gaps", remote, []func(*Phase){gap(200 * µs), lag(1*ms + 1)}, GeneratorLimited, "5 × clock-gap p99 (200 µs)"},
		{"clock gaps count up to 2 ms", remote, []func(*Phase){gap(time.Second), lag(10 * ms)}, Valid, "up to 10.0 ms is allowed"},
		{"and no further", remote, []func(*Phase){gap(time.Second), lag(10*ms + 1)}, GeneratorLimited, "5 × clock-gap p99 (2.00 ms)"},
		{"lag of one op in a hundred is beyond p99", remote, []func(*Phase){func(p *Phase) {
			p.Kinds[0].Lag = each(990, 10*µs)
			if err := p.Kinds[0].Lag.Merge(each(10, time.Second)); err != nil {
				panic(err)
			}
		}}, Valid, "Lag p99 is 10.0 µs"},
		{"response p99 above the completed: theirs counts", remote, []func(*Phase){
			response(20 * ms), counts(Counts{Completed: 1000, Failed: 500}), lag(2*ms + 1)}, GeneratorLimited, "10 % of response p99 (20.0 ms)"},
		{"nothing completed: the floor counts", remote, []func(*Phase){
			func(p *Phase) { p.Kinds[0].Response = NewHistogram() }, counts(Counts{Censored: 1000}), lag(501 * µs)}, GeneratorLimited, "10 % of response p99 (0 ns)"},

		{"run queue at 5 %", remote, []func(*Phase){health(Health{RunQueue: 500 * ms})}, Valid, ""},
		{"run queue above 5 %", remote, []func(*Phase){health(Health{RunQueue: 500*ms + 1})}, GeneratorLimited,
			"The pacing thread was ready to run but kept off the CPU for 500 ms of the phase's 10.0 s; up to 5 % is allowed."},
		{"GC above 5 %", remote, []func(*Phase){health(Health{GCPause: 600 * ms})}, GeneratorLimited,
			"Garbage collection stopped the program for 600 ms of the phase's 10.0 s; up to 5 % is allowed."},
		{"starved above 5 %", remote, []func(*Phase){health(Health{Starved: 700 * ms})}, GeneratorLimited,
			"The schedule waited for the decoder for 700 ms of the phase's 10.0 s; up to 5 % is allowed."},
		{"each counts alone", remote, []func(*Phase){health(Health{RunQueue: 400 * ms, GCPause: 400 * ms, Starved: 400 * ms})}, Valid, ""},
		{"a short phase: below 100 ms", remote, []func(*Phase){length(time.Second), health(Health{RunQueue: 100*ms - 1})}, Valid, ""},
		{"a short phase: 100 ms", remote, []func(*Phase){length(time.Second), health(Health{RunQueue: 100 * ms})}, GeneratorLimited, "100 ms of the phase's 1.00 s"},

		{"local: lag", local, []func(*Phase){lag(501 * µs)}, SharedCPU, "The database runs on this machine, and lag p99 is within 10.0 ms."},
		{"embedded: lag", embedded, []func(*Phase){lag(501 * µs)}, SharedCPU, "The database runs in this process, and lag p99 is within 10.0 ms."},
		{"embedded: starved", embedded, []func(*Phase){health(Health{Starved: 700 * ms})}, SharedCPU, "The schedule waited for the decoder"},
		{"local: lag at 10 ms", local, []func(*Phase){lag(10 * ms)}, SharedCPU, ""},
		{"local: lag above 10 ms", local, []func(*Phase){lag(10*ms + 1)}, GeneratorLimited, "The database runs on this machine, but lag p99 is above 10.0 ms, which sharing its CPUs does not explain."},
		{"embedded: lag above 10 ms", embedded, []func(*Phase){lag(11 * ms)}, GeneratorLimited, "in this process"},
		{"embedded: a slow response allows it", embedded, []func(*Phase){response(time.Second), lag(11 * ms)}, Valid, "up to 100 ms is allowed"},

		{"null: lag at the floor", null, []func(*Phase){lag(500 * µs)}, Valid, ""},
		{"null: lag above the floor", null, []func(*Phase){lag(501 * µs)}, GeneratorLimited, "the greatest of 500 µs, 5 × clock-gap p99 (0 ns)."},
		{"null: response is no measure", null, []func(*Phase){response(time.Second), lag(501 * µs)}, GeneratorLimited, ""},
		{"null: clock gaps are", null, []func(*Phase){gap(2 * ms), lag(10 * ms)}, Valid, ""},
		{"null: never shared", JudgeInput{Place: bindings.Nowhere, Local: true}, []func(*Phase){lag(501 * µs)}, GeneratorLimited, ""},
		{"null: run queue", null, []func(*Phase){health(Health{RunQueue: 600 * ms})}, GeneratorLimited, ""},

		{"backlog grows by 1 %", remote, []func(*Phase){backlog(100, 200, 10_000)}, Valid, ""},
		{"backlog grows by more", remote, []func(*Phase){backlog(100, 201, 10_000)}, Saturated,
			"Over the second half of the schedule the backlog grew from 100 to 201 ops, by more than 1 % of the 10000 ops due in it, and ended above the 100 ops due in 100 ms."},
		{"backlog ends at 100 ms of the rate", remote, []func(*Phase){backlog(0, 100, 5000)}, Valid, ""},
		{"backlog ends above", remote, []func(*Phase){backlog(0, 101, 5000)}, Saturated, "the 100 ops due in 100 ms"},
		{"late for a twentieth of the phase", remote, []func(*Phase){health(Health{Late: 500 * ms})}, Valid, ""},
		{"late for more", remote, []func(*Phase){health(Health{Late: 501 * ms})}, GeneratorLimited, "sent more than 10 ms late during 501 ms"},
		{"late for more, in this process", embedded, []func(*Phase){health(Health{Late: 501 * ms})}, GeneratorLimited, "sharing its CPUs does not explain"},
		{"backlog held by a short deadline", JudgeInput{Place: bindings.Remote, Slots: 64, Deadline: 100 * ms}, []func(*Phase){backlog(90, 90, 500), counts(Counts{Completed: 200, Censored: 800})}, Saturated, "The deadline alone held the backlog"},
		{"nothing completed", remote, []func(*Phase){counts(Counts{Censored: 1000})}, Unjudged, "No op was completed"},
		{"failures", remote, []func(*Phase){counts(Counts{Completed: 980, Failed: 20})}, Valid, "20 of 1000 ops failed"},
		{"backlog held by the deadline", remote, []func(*Phase){backlog(500, 500, 5000), counts(Counts{Completed: 980, Censored: 20})}, Saturated, "The deadline alone held the backlog"},
		{"backlog and 1 % censored", remote, []func(*Phase){backlog(500, 500, 5000), counts(Counts{Completed: 990, Censored: 10})}, Valid, ""},
		{"censored without backlog", remote, []func(*Phase){backlog(100, 500, 50_000), counts(Counts{Completed: 900, Censored: 100})}, Valid, ""},
		{"backlog great but steady", remote, []func(*Phase){backlog(5000, 5000, 5000)}, Valid, ""},
		{"backlog falls", remote, []func(*Phase){backlog(5000, 200, 5000)}, Valid, ""},
		{"no rate stated: that of the schedule", remote, []func(*Phase){noRate, backlog(0, 11, 500)}, Saturated, "the 10 ops due in 100 ms"},
		{"an op unsent", remote, []func(*Phase){counts(Counts{Completed: 999, Unsent: 1})}, Saturated, "Never sent: 1 of 1000 ops."},
		{"the generator comes first", remote, []func(*Phase){lag(501 * µs), backlog(0, 1000, 5000)}, GeneratorLimited, ""},

		{"wait at the floor", remote, []func(*Phase){wait(500 * µs)}, Valid, ""},
		{"wait above the floor", remote, []func(*Phase){wait(501 * µs)}, SlotsFull, "Wait p99 is 501 µs, above 500 µs: the greater of 500 µs and 10 % of response p99 (2.00 ms)."},
		{"wait above the floor names the limit", remote, []func(*Phase){wait(501 * µs)}, SlotsFull, "The limit is 64 slots."},
		{"wait at a tenth of response", remote, []func(*Phase){response(20 * ms), wait(2 * ms)}, Valid, ""},
		{"wait above a tenth of response", remote, []func(*Phase){response(20 * ms), wait(2*ms + 1)}, SlotsFull, ""},
		{"an op dropped", remote, []func(*Phase){counts(Counts{Completed: 999, Dropped: 1})}, SlotsFull, "Dropped for want of a free slot: 1 of 1000 ops."},
		{"saturation comes first", remote, []func(*Phase){wait(time.Second), backlog(0, 1000, 5000)}, Saturated, ""},

		{"half of the wait for keys", remote, []func(*Phase){wait(1 * ms), ordered(500 * ms)}, SlotsFull, ""},
		{"most of the wait for keys", remote, []func(*Phase){wait(1 * ms), ordered(600 * ms)}, OrderingLimited, "Of all wait, 60 % was until earlier ops on the same keys had ended."},
		{"little wait, all for keys", remote, []func(*Phase){wait(100 * µs), ordered(100 * ms)}, Valid, ""},

		{"unpaced", embedded, []func(*Phase){unpaced}, Valid, "Every op was sent; without due times there is nothing else to judge."},
		{"unpaced: lag and health don't count", embedded, []func(*Phase){unpaced, lag(time.Second), health(Health{RunQueue: 9 * time.Second})}, Valid, ""},
		{"unpaced: backlog and wait don't count", embedded, []func(*Phase){unpaced, wait(time.Second), backlog(0, 1000, 10)}, Valid, ""},
		{"unpaced: an op unsent", embedded, []func(*Phase){unpaced, counts(Counts{Completed: 998, Unsent: 2})}, Saturated, "Never sent: 2 of 1000 ops."},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := quiet()
			for _, change := range c.change {
				change(&p)
			}
			got := Judge(&p, c.in)
			if got.Word != c.want {
				t.Fatalf("verdict %q, want %q; reasons:\n%s", got.Word, c.want, strings.Join(got.Reasons, "\n"))
			}
			if !strings.Contains(strings.Join(got.Reasons, "\n"), c.reason) {
				t.Errorf("reasons:\n%s\nwant among them\n%s", strings.Join(got.Reasons, "\n"), c.reason)
			}
			want := advice[c.want]
			switch {
			case c.want != Valid:
			case !p.Paced:
				want = adviceUnpaced
			case p.Kinds[0].Counts.Failed+p.Kinds[0].Counts.Censored > 0:
				want = adviceFailures
			}
			if last := got.Reasons[len(got.Reasons)-1]; last != want {
				t.Errorf("the last reason is %q, want the advice %q", last, want)
			}
		})
	}
}

func TestJudgeLooksAtAllKindsTogether(t *testing.T) {
	p := quiet()
	late := p.Kinds[0]
	late.Kind, late.Lag = "UPDATE", each(1000, 600*µs)
	p.Kinds = append(p.Kinds, late)
	if got := Judge(&p, remote); got.Word != GeneratorLimited {
		t.Errorf("half of all ops late: %q", got.Word)
	}
	p.Kinds[1].Lag, p.Kinds[1].Counts = each(5, 600*µs), Counts{Offered: 5, Completed: 5}
	if got := Judge(&p, remote); got.Word != Valid {
		t.Errorf("5 of 1005 ops late: %q", got.Word)
	}
}

func TestEveryWordHasAdvice(t *testing.T) {
	for _, word := range []string{Valid, GeneratorLimited, SharedCPU, Saturated, SlotsFull, OrderingLimited, Unjudged} {
		if advice[word] == "" {
			t.Errorf("no advice for %q", word)
		}
	}
}

func TestPercentagesDoNotOverflow(t *testing.T) {
	if got := percentOf(10, 1<<62); got != 1<<62/10 {
		t.Errorf("10 %% of 2^62 ns is %d", got)
	}
	const most = 1<<64 - 1
	if moreThanPercent(most/100, 1, most) || !moreThanPercent(most/100+1, 1, most) {
		t.Error("1 % of 2^64 is missed")
	}
}
