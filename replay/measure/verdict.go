package measure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pianola/bindings"
)

// The thresholds of every verdict. A figure must pass its threshold to count
// against a run: at the threshold it is still good.
const (
	// Lag up to lagFloor is never held against the generator: on a virtual
	// machine the wake-up of a sleeping thread alone takes 50 to 300 µs.
	lagFloor = 500 * time.Microsecond
	// Nor is lag that makes up no more than a tenth of the response time: it
	// cannot change what a reader concludes from that.
	lagPercentOfResponse = 10
	// Nor lag within a few of the pauses that the platform imposes on a thread
	// which only reads the clock: no generator could do better there.
	lagClockGaps = 5
	// Pauses longer than clockGapMax don't excuse more lag. They tell of a
	// machine that is no place to measure on.
	clockGapMax = 2 * time.Millisecond
	// sharedLagMax is the lag beyond which sharing the CPUs with the database
	// is no excuse: it is two to three of the kernel's scheduling slices of 4 ms.
	sharedLagMax = 10 * time.Millisecond

	// Time taken from the schedule by the run queue, the GC or the decoder
	// counts beyond a share of the phase, so that long runs may have hiccups,
	// and from a length that short phases don't reach by one hiccup.
	takenPercentOfPhase = 5
	takenFloor          = 100 * time.Millisecond

	// A database that keeps up has the same backlog at half and at the end of
	// the schedule. Growth counts beyond the share that chance may bring, and
	// a backlog beyond what is due in backlogFloor, which a slow but steady
	// response may keep in flight.
	backlogPercentOfDue = 1
	backlogFloor        = 100 * time.Millisecond

	// Wait is measured like lag: below waitFloor it drowns in the platform's
	// noise, and within a tenth of the response time it changes no conclusion.
	waitFloor             = 500 * time.Microsecond
	waitPercentOfResponse = 10
	// Waiting is put down to ordering if that is most of it.
	orderPercentOfWait = 50
)

// JudgeInput is what Judge has to know beside the phase.
type JudgeInput struct {
	// Place is where the database does its work.
	Place bindings.Place
	// Local says that a remote database runs on this machine.
	Local bool
	// Slots is the number of slots of the run.
	Slots int
	// Deadline of each op, from its due time.
	Deadline time.Duration
}

// Judge says what the figures of p can be used for. Word is the first that
// applies of
//
//	not judged         no op was offered, or none completed
//	generator limited  ops started late, or the schedule was held up, by more
//	                   than is allowed
//	shared CPU         the same, with a database in this process or on this
//	                   machine, and lag still short of what it cannot explain
//	saturated          the backlog grew over the second half of the schedule,
//	                   or only the deadline kept it from growing, or ops were
//	                   never sent
//	ordering limited   ops waited, most of it for their keys
//	slots full         ops waited for slots, or were dropped for want of one
//	valid              none of these
//
// An unpaced phase has no lag against a schedule, no backlog and no wait, so
// it can only be saturated by ops that were never sent, or valid. Reasons are
// the figures that decided, a sentence each; the last one says what to do.
//
// The rules are judged over all kinds together. Where response p99 falls among
// ops without an answer, that of the completed ops is the measure: the figure
// with which less is forgiven.
func Judge(p *Phase, in JudgeInput) Verdict {
	all, err := p.Total()
	if err != nil {
		return verdict(Unjudged, []string{"The histograms of its kinds can't be merged: " + err.Error() + "."})
	}
	if all.Counts.Offered == 0 {
		return verdict(Unjudged, []string{"No op was offered."})
	}
	j := judge{phase: p, in: in, all: &all}
	if p.Paced {
		if reasons := j.generator(); len(reasons) > 0 {
			return j.held(reasons)
		}
	}
	if reasons := j.saturation(); len(reasons) > 0 {
		if p.Paced {
			reasons = append(reasons, j.limits()...)
		}
		return verdict(Saturated, reasons)
	}
	if all.Counts.Completed == 0 {
		return verdict(Unjudged, []string{"No op was completed: there is no response to judge."})
	}
	if !p.Paced {
		return Verdict{Word: Valid, Reasons: []string{"Every op was sent; without due times there is nothing else to judge.", adviceUnpaced}}
	}
	if reasons := j.waiting(); len(reasons) > 0 {
		if reason := j.ordering(); reason != "" {
			return verdict(OrderingLimited, append(reasons, reason))
		}
		return verdict(SlotsFull, append(reasons, fmt.Sprintf("The limit is %d slots.", in.Slots)))
	}
	reasons := []string{fmt.Sprintf("Lag p99 is %s; up to %s is allowed.", FormatDuration(j.p99(all.Lag)), FormatDuration(j.lagLimit()))}
	if n := all.Counts.Failed + all.Counts.Censored; n > 0 {
		return Verdict{Word: Valid, Reasons: append(reasons,
			fmt.Sprintf("%d of %d ops failed or were not answered in time; they rank above all others.", n, all.Counts.Offered), adviceFailures)}
	}
	return verdict(Valid, reasons)
}

// advice is what each verdict asks the reader to do.
var advice = map[string]string{
	GeneratorLimited: "These figures tell of the generator, not of the database: don't use them. Lower the rate, or run the generator on a quieter or larger machine.",
	SharedCPU:        "Generator and database compete for this machine's CPUs: wait, lag and service add up, but their split is uncertain. Give the database another machine, or lower the rate.",
	Saturated:        "The database did not keep up with these settings: percentiles depend on how long the run lasted. Lower the rate to learn about response under a load that it can carry.",
	SlotsFull:        "If the database could serve more at once, raise --slots; if not, it is too slow for this rate.",
	OrderingLimited:  "Hot keys, not the database, set the pace: compare with --order none, or lower the rate.",
	Valid:            "The figures can be used as they stand.",
	Unjudged:         "There is nothing to conclude.",
}

// What a valid phase asks for in special cases.
const (
	adviceUnpaced  = "These are service times and a maximum of throughput, not response under load."
	adviceFailures = "The measurement is sound, but the database did not do all that was asked: look at the failures first."
)

func verdict(word string, reasons []string) Verdict {
	return Verdict{Word: word, Reasons: append(reasons, advice[word])}
}

// judge holds what the rules look at.
type judge struct {
	phase *Phase
	in    JudgeInput
	all   *Kind
}

func (j *judge) p99(h *Histogram) time.Duration { return h.Quantile(P99).Value }

// responseP99 returns the p99 that lag and wait are measured by.
func (j *judge) responseP99() time.Duration {
	if q := j.all.ResponseQuantile(P99); q.Above == "" {
		return q.Value
	}
	return j.p99(j.all.Response)
}

// clockGap returns the p99 of the platform's pauses, as far as it excuses lag.
func (j *judge) clockGap() time.Duration { return min(j.phase.Health.GapP99, clockGapMax) }

// lagLimit returns the greatest lag p99 that is not held against the generator.
func (j *judge) lagLimit() time.Duration {
	limit := max(lagFloor, lagClockGaps*j.clockGap())
	if j.in.Place == bindings.Nowhere {
		// Nothing is done: response is lag, and a share of itself no measure.
		return limit
	}
	return max(limit, percentOf(lagPercentOfResponse, j.responseP99()))
}

// generator returns what speaks against the generator.
func (j *judge) generator() []string {
	var reasons []string
	if lag, limit := j.p99(j.all.Lag), j.lagLimit(); lag > limit {
		reasons = append(reasons, fmt.Sprintf("Lag p99 is %s: %s.", above(lag, limit), j.lagTerms()))
	}
	health := &j.phase.Health
	for _, taken := range []struct {
		what string
		time time.Duration
	}{
		{"The pacing thread was ready to run but kept off the CPU for", health.RunQueue},
		{"Garbage collection stopped the program for", health.GCPause},
		{"The schedule waited for the decoder for", health.Starved},
		{"Ops that were due and had a slot were sent more than 10 ms late during", health.Late},
	} {
		if j.taken(taken.time) {
			reasons = append(reasons, fmt.Sprintf("%s %s of the phase's %s; up to %d %% is allowed.",
				taken.what, FormatDuration(taken.time), FormatDuration(j.phase.Length), takenPercentOfPhase))
		}
	}
	return reasons
}

// taken reports whether a time is too much to be taken from the schedule.
func (j *judge) taken(t time.Duration) bool {
	return t >= takenFloor && t > percentOf(takenPercentOfPhase, j.phase.Length)
}

// lagTerms says what lagLimit is the greatest of.
func (j *judge) lagTerms() string {
	terms := []string{FormatDuration(lagFloor), fmt.Sprintf("%d × clock-gap p99 (%s)", lagClockGaps, FormatDuration(j.clockGap()))}
	if j.in.Place != bindings.Nowhere {
		terms = append(terms, fmt.Sprintf("%d %% of response p99 (%s)", lagPercentOfResponse, FormatDuration(j.responseP99())))
	}
	return "the greatest of " + strings.Join(terms, ", ")
}

// held tells the generator's own limit from CPUs shared with the database.
func (j *judge) held(reasons []string) Verdict {
	if j.in.Place != bindings.Embedded && (j.in.Place != bindings.Remote || !j.in.Local) {
		return verdict(GeneratorLimited, reasons)
	}
	where := "on this machine"
	if j.in.Place == bindings.Embedded {
		where = "in this process"
	}
	lag := j.p99(j.all.Lag)
	if lag > sharedLagMax || j.taken(j.phase.Health.Late) {
		what := "lag p99 is"
		if lag <= sharedLagMax {
			what = "for that long some lag was"
		}
		return verdict(GeneratorLimited, append(reasons, fmt.Sprintf("The database runs %s, but %s above %s, which sharing its CPUs does not explain.",
			where, what, FormatDuration(sharedLagMax))))
	}
	return verdict(SharedCPU, append(reasons, fmt.Sprintf("The database runs %s, and lag p99 is within %s.", where, FormatDuration(sharedLagMax))))
}

// saturation returns what shows that the database did not keep up.
func (j *judge) saturation() []string {
	var reasons []string
	if p := j.phase; p.Paced {
		b, floor := p.Backlog, j.rate()*backlogFloor.Seconds()
		if b.End > b.Half && moreThanPercent(b.End-b.Half, backlogPercentOfDue, b.DueSecondHalf) && float64(b.End) > floor {
			reasons = append(reasons, fmt.Sprintf(
				"Over the second half of the schedule the backlog grew from %d to %d ops, by more than %d %% of the %d ops due in it, and ended above the %s ops due in %s.",
				b.Half, b.End, backlogPercentOfDue, b.DueSecondHalf, FormatNumber(floor), FormatDuration(backlogFloor)))
		}
		// A deadline caps the backlog: it is full at half and grows no more.
		if j.in.Deadline > 0 {
			floor = min(floor, j.rate()*j.in.Deadline.Seconds()/2)
		}
		if n := j.all.Counts.Censored; float64(min(b.Half, b.End)) > floor && moreThanPercent(n, backlogPercentOfDue, j.all.Counts.Offered) {
			reasons = append(reasons, fmt.Sprintf(
				"The deadline alone held the backlog, %d ops at half and %d at the end of the schedule, above %s ops: %d of %d ops were unanswered at theirs.",
				b.Half, b.End, FormatNumber(floor), n, j.all.Counts.Offered))
		}
	}
	if n := j.all.Counts.Unsent; n > 0 {
		reasons = append(reasons, fmt.Sprintf("Never sent: %d of %d ops.", n, j.all.Counts.Offered))
	}
	return reasons
}

// limits names what of the run's own settings held ops back.
func (j *judge) limits() []string {
	if len(j.waiting()) == 0 {
		return nil
	}
	if reason := j.ordering(); reason != "" {
		return []string{reason + " Compare with --order none."}
	}
	return []string{fmt.Sprintf("Ops waited for one of %d slots: if the database could serve more at once, raise --slots first.", j.in.Slots)}
}

// rate returns the phase's ops per second as stated, or else as scheduled.
func (j *judge) rate() float64 {
	if p := j.phase; p.Rate == 0 && p.Schedule > 0 {
		return float64(j.all.Counts.Offered) / p.Schedule.Seconds()
	}
	return j.phase.Rate
}

// waiting returns what shows that ops waited before they could start.
func (j *judge) waiting() []string {
	var reasons []string
	limit := max(waitFloor, percentOf(waitPercentOfResponse, j.responseP99()))
	if wait := j.p99(j.all.Wait); wait > limit {
		reasons = append(reasons, fmt.Sprintf("Wait p99 is %s: the greater of %s and %d %% of response p99 (%s).",
			above(wait, limit), FormatDuration(waitFloor), waitPercentOfResponse, FormatDuration(j.responseP99())))
	}
	if n := j.all.Counts.Dropped; n > 0 {
		reasons = append(reasons, fmt.Sprintf("Dropped for want of a free slot: %d of %d ops.", n, j.all.Counts.Offered))
	}
	return reasons
}

// ordering says how much of the wait was for keys if it was most of it.
func (j *judge) ordering() string {
	wait := j.all.Wait.sum()
	if wait == 0 || float64(j.all.OrderWait)*100 <= orderPercentOfWait*wait {
		return ""
	}
	return fmt.Sprintf("Of all wait, %.0f %% was until earlier ops on the same keys had ended.", math.Min(float64(j.all.OrderWait)/wait*100, 100))
}

// above prints a figure and the limit it passes, in full where three digits
// don't tell them apart.
func above(figure, limit time.Duration) string {
	f, l := FormatDuration(figure), FormatDuration(limit)
	if f == l {
		f, l = figure.String(), limit.String()
	}
	return f + ", above " + l
}

// percentOf returns percent of d, rounded down, whatever d is.
func percentOf(percent int64, d time.Duration) time.Duration {
	return d/100*time.Duration(percent) + d%100*time.Duration(percent)/100
}

// moreThanPercent reports whether part is more than percent of whole.
func moreThanPercent(part uint64, percent, whole uint64) bool {
	return part > whole/100*percent+whole%100*percent/100
}
