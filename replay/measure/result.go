package measure

import (
	"time"

	"pianola/bindings"
)

// SchemaVersion is the version of the result file; FORMAT changes raise it.
const SchemaVersion = 1

// Result is what one run measured: everything a report needs, and nothing that
// a report has to compute twice. All times are nanoseconds; instants count from
// the start of the run or, where they say so, of their phase.
type Result struct {
	Schema int `json:"schema"`
	// Tool is the version of the program that measured.
	Tool string `json:"tool"`
	// Started is the wall-clock time of the start; nothing is computed from it.
	Started  time.Time         `json:"started"`
	Trace    Trace             `json:"trace"`
	Database Database          `json:"database"`
	Labels   map[string]string `json:"labels,omitempty"`
	Machine  Machine           `json:"machine"`
	Settings Settings          `json:"settings"`
	Phases   []Phase           `json:"phases"`
	// Contents is what the table held after the run, nil if it was not read back.
	Contents *Contents `json:"contents,omitempty"`
	// Partial says that the run was interrupted.
	Partial bool `json:"partial,omitempty"`
	// Void says why the figures must not be used: the trace broke in mid-run,
	// or its digest is not the one it states.
	Void string `json:"void,omitempty"`
	// Stopped says why the run ended before the trace did, or with ops still
	// in flight.
	Stopped string `json:"stopped,omitempty"`
}

// Contents is what a table holds, whatever database it is in.
type Contents struct {
	// Records of those that the trace may have written.
	Records uint64 `json:"records"`
	// Digest is a sum over the records, in hexadecimal. Equal contents give
	// equal digests, in whatever order they are read.
	Digest string `json:"digest"`
}

// Trace identifies what was replayed.
type Trace struct {
	Path          string `json:"path"`
	FormatVersion int    `json:"format_version"`
	ToolVersion   string `json:"tool_version"`
	Generator     string `json:"generator"`
	Spec          string `json:"spec"`
	Seed          uint64 `json:"seed"`
	Table         string `json:"table"`
	Records       uint64 `json:"records"`
	FieldCount    int    `json:"field_count"`
	FieldLength   string `json:"field_length"`
	// Digest as the trace states it, in hexadecimal; empty if it was never
	// reached.
	Digest string `json:"digest,omitempty"`
	// Confirmed says that every phase was replayed in full and the recomputed
	// digest is the stated one.
	Confirmed bool `json:"confirmed"`
}

// Database is what was driven.
type Database struct {
	Name string `json:"name"`
	// Chosen is false if it is the default.
	Chosen bool `json:"chosen"`
	// Place is nowhere, embedded or remote.
	Place string `json:"place"`
	// Properties that were set or defaulted, secrets left out.
	Properties []bindings.Fact `json:"properties"`
	Facts      []bindings.Fact `json:"facts"`
}

// Machine is where the run took place.
type Machine struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPUs   int    `json:"cpus"`
	Model  string `json:"model,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	// ClockSource is what the kernel reads the time from.
	ClockSource string `json:"clock_source,omitempty"`
	Go          string `json:"go"`
}

// Settings are the choices that shaped the run.
type Settings struct {
	// Phase is the --phase that was asked for.
	Phase string `json:"phase"`
	Slots int    `json:"slots"`
	// Asap says that due times were ignored: a closed loop over the slots.
	Asap bool `json:"asap,omitempty"`
	// Due times are those of the trace times SpeedDenominator / SpeedNumerator.
	SpeedNumerator   uint64        `json:"speed_numerator"`
	SpeedDenominator uint64        `json:"speed_denominator"`
	Overload         string        `json:"overload"`
	Order            string        `json:"order"`
	Deadline         time.Duration `json:"deadline_ns"`
	Grace            time.Duration `json:"grace_ns"`
	// AllowErrors is the --allow-errors that was in force, as given.
	AllowErrors string `json:"allow_errors"`
	// Drop says that the table was dropped before the load, Resume that the
	// load was to add what was missing.
	Drop   bool `json:"drop,omitempty"`
	Resume bool `json:"resume,omitempty"`
	// Settle is what the run waited for between load and run, empty for
	// nothing, and Settled how long that took.
	Settle  string        `json:"settle,omitempty"`
	Settled time.Duration `json:"settled_ns,omitempty"`
	// CheckSample bounds the keys whose versions were checked; 0 if nothing was.
	CheckSample int `json:"check_sample,omitempty"`
	// Executor is pipelined or blocking.
	Executor string `json:"executor"`
	Pacer    Pacer  `json:"pacer"`
}

// Pacer says how the run waited for due times.
type Pacer struct {
	// Method is clock_nanosleep, or timer where that is missing.
	Method string `json:"method"`
	// Margin is how long before due a sleep has to end to be in time, measured
	// at the start. A phase uses it, or sleeps until due where the budget
	// allows no spin.
	Margin time.Duration `json:"margin_ns"`
	// Budget is the share of one core that the spin may take.
	Budget float64 `json:"spin_budget_cores"`
	// TimerSlack is by how much the kernel may put a wake-up off, 0 if unknown.
	TimerSlack time.Duration `json:"timer_slack_ns,omitempty"`
	// Scheduling is the policy and the niceness under which the pacer ran, empty
	// if unknown.
	Scheduling string `json:"scheduling,omitempty"`
}

// Phase is what was measured of one phase of the trace.
type Phase struct {
	Name string `json:"name"`
	// Paced says that the ops had due times and they were kept to.
	Paced    bool   `json:"paced"`
	KeyLaw   string `json:"key_law"`
	ScanLaw  string `json:"scan_law,omitempty"`
	Arrivals string `json:"arrivals,omitempty"`
	// Rate is the stated mean rate in ops per second after scaling; 0 if unpaced.
	Rate float64 `json:"rate"`
	// Margin is how long before due the sleep ended and the spin began; 0 if
	// there was no spin.
	Margin time.Duration `json:"margin_ns"`
	// Start is the instant from which due times count.
	Start time.Duration `json:"start_ns"`
	// Schedule is the due time of the last op, from Start; 0 if unpaced.
	Schedule time.Duration `json:"schedule_ns"`
	// Length is the time from Start until the last op's fate was decided.
	Length time.Duration `json:"length_ns"`
	// Ops is the number of operations the trace holds, NotReached those that
	// an interrupt came before: they were never due and are not offered.
	Ops        uint64     `json:"ops"`
	NotReached uint64     `json:"not_reached,omitempty"`
	Digest     Digest     `json:"digest"`
	Kinds      []Kind     `json:"kinds"`
	Errors     []Error    `json:"errors,omitempty"`
	Intervals  []Interval `json:"intervals"`
	Backlog    Backlog    `json:"backlog"`
	Health     Health     `json:"health"`
	// Present counts the inserts of a resumed load whose record was there
	// already; they are completed.
	Present uint64 `json:"present,omitempty"`
	// Check is what reading the values gave, nil if they were not checked.
	Check   *Check  `json:"check,omitempty"`
	Verdict Verdict `json:"verdict"`
}

// Digest says what recomputing the phase's digest proved.
type Digest struct {
	// Status is confirmed, partial, not replayed or mismatch.
	Status string `json:"status"`
	// Chunks of the phase's Of chunks were replayed in full and are equal to
	// the stated ones.
	Chunks int `json:"chunks"`
	Of     int `json:"of"`
}

// Values of Digest.Status.
const (
	DigestConfirmed   = "confirmed"
	DigestPartial     = "partial"
	DigestNotReplayed = "not replayed"
	DigestMismatch    = "mismatch"
)

// Counts says what became of the ops: Offered = Completed + Failed + Censored
// + Dropped + Unsent, always.
type Counts struct {
	Offered   uint64 `json:"offered"`
	Completed uint64 `json:"completed"`
	Failed    uint64 `json:"failed"`
	Censored  uint64 `json:"censored"`
	Dropped   uint64 `json:"dropped"`
	Unsent    uint64 `json:"unsent"`
	// Misses that are completed, as they were to be expected.
	Expected uint64 `json:"expected,omitempty"`
	Raced    uint64 `json:"raced,omitempty"`
	Orphaned uint64 `json:"orphaned,omitempty"`
}

// Check is what --check found in one phase. Values are checked as they arrive,
// so the service of ops that read includes the check.
type Check struct {
	// Values that are what seed, key, field and version must give, and values
	// of which too little is known to tell: those of hashed keys that a SCAN
	// gave and the sample doesn't hold, and those that carry no version.
	Values    uint64 `json:"values"`
	Unchecked uint64 `json:"unchecked,omitempty"`
	// Mismatched ops read something that the trace never wrote there, too
	// little, or too much. Stale ones read a version that an earlier write had
	// replaced; no op is both.
	Mismatched uint64 `json:"mismatched"`
	Stale      uint64 `json:"stale"`
	// First are the first of both, a sentence each.
	First []string `json:"first,omitempty"`
}

// Kind is what was measured of one kind of op in one phase.
type Kind struct {
	Kind   string `json:"kind"`
	Counts Counts `json:"counts"`
	// Response and Service of the completed ops.
	Response *Histogram `json:"response"`
	Service  *Histogram `json:"service"`
	// Wait and Lag of every op that was started.
	Wait *Histogram `json:"wait"`
	Lag  *Histogram `json:"lag"`
	// OrderWait is the part of all waits that was for keys, summed up.
	OrderWait time.Duration `json:"order_wait_ns,omitempty"`
	// Parts are the read and the update of the completed READMODIFYWRITEs that
	// were run one behind the other, in this order.
	Parts []Part `json:"parts,omitempty"`
	// Failed holds the response times of failed ops by class, in the order of
	// the classes.
	Failed []FailedClass `json:"failed_classes,omitempty"`
}

// Part is what was measured of one part of ops. Response counts from due, so
// that the update's holds the read.
type Part struct {
	Kind     string     `json:"kind"`
	Response *Histogram `json:"response"`
	Service  *Histogram `json:"service"`
}

// FailedClass is the response time of the ops that failed with one class.
type FailedClass struct {
	Class    string     `json:"class"`
	Response *Histogram `json:"response"`
}

// Error is the first message of one class of one kind.
type Error struct {
	Kind    string `json:"kind"`
	Class   string `json:"class"`
	Message string `json:"message"`
}

// Interval is a slice of a phase's time. An op counts in the interval in which
// its fate was decided; due ops in that in which they were due.
type Interval struct {
	// Start counts from the phase's start. Length is that of the last interval
	// up to the phase's end.
	Start  time.Duration  `json:"start_ns"`
	Length time.Duration  `json:"length_ns"`
	Due    uint64         `json:"due"`
	Kinds  []IntervalKind `json:"kinds"`
}

// IntervalKind is what was decided in an interval of one kind.
type IntervalKind struct {
	Kind     string     `json:"kind"`
	Counts   Counts     `json:"counts"`
	Response *Histogram `json:"response,omitempty"`
}

// Backlog counts ops that are due and not ended.
type Backlog struct {
	// Half and End are the backlogs at half and at the end of the schedule,
	// DueSecondHalf the ops due between.
	Half          uint64 `json:"half"`
	End           uint64 `json:"end"`
	Max           uint64 `json:"max"`
	DueSecondHalf uint64 `json:"due_second_half"`
}

// Health is how the generator itself fared in one phase.
type Health struct {
	// RunQueue is how long the pacing thread was ready to run and did not; 0
	// with blocking sessions, where no one thread waits for all due times.
	RunQueue time.Duration `json:"run_queue_ns"`
	// RunQueueAll is the same summed over all threads of the process, those of
	// the client included.
	RunQueueAll time.Duration `json:"run_queue_all_ns"`
	// SchedulerP99 is the 99th percentile of how long a goroutine that was ready
	// waited to run, by Go's own count, and SchedulerMax the longest.
	SchedulerP99 time.Duration `json:"scheduler_p99_ns"`
	SchedulerMax time.Duration `json:"scheduler_max_ns"`
	// GC cycles and the time the program stood still for them.
	GCCycles uint64        `json:"gc_cycles"`
	GCPause  time.Duration `json:"gc_pause_ns"`
	// Late is the time in which some op that was due and had a slot was more
	// than 10 ms late to be sent.
	Late time.Duration `json:"late_ns"`
	// Starved is how long the schedule waited for the decoder.
	Starved time.Duration `json:"starved_ns"`
	// CPU time of the whole process.
	CPUUser   time.Duration `json:"cpu_user_ns"`
	CPUSystem time.Duration `json:"cpu_system_ns"`
	// CPUBusy is the share of the phase for which each CPU of the machine was
	// busy, whoever had it; nil if unknown.
	CPUBusy []float64 `json:"cpu_busy,omitempty"`
	// Gaps over 5 µs between two clock readings while spinning: the
	// platform's own noise.
	Gaps   uint64        `json:"clock_gaps"`
	GapSum time.Duration `json:"clock_gap_sum_ns"`
	GapP99 time.Duration `json:"clock_gap_p99_ns"`
	GapMax time.Duration `json:"clock_gap_max_ns"`
	Spun   time.Duration `json:"spun_ns"`
}

// Verdict judges a phase; see Judge.
type Verdict struct {
	Word string `json:"word"`
	// Reasons are the figures that decided, a sentence each.
	Reasons []string `json:"reasons,omitempty"`
}

// Words of a Verdict.
const (
	Valid            = "valid"
	GeneratorLimited = "generator limited"
	SharedCPU        = "shared CPU"
	Saturated        = "saturated"
	SlotsFull        = "slots full"
	OrderingLimited  = "ordering limited"
	// Unjudged is the verdict on an empty phase.
	Unjudged = "not judged"
)

// Total returns the merge of all kinds of the phase, under the kind name "all".
func (p *Phase) Total() (Kind, error) {
	all := Kind{Kind: "all", Response: NewHistogram(), Service: NewHistogram(), Wait: NewHistogram(), Lag: NewHistogram()}
	for i := range p.Kinds {
		k := &p.Kinds[i]
		all.Counts.Add(k.Counts)
		all.OrderWait += k.OrderWait
		for _, pair := range [][2]*Histogram{{all.Response, k.Response}, {all.Service, k.Service}, {all.Wait, k.Wait}, {all.Lag, k.Lag}} {
			if err := pair[0].Merge(pair[1]); err != nil {
				return Kind{}, err
			}
		}
	}
	return all, nil
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Offered += o.Offered
	c.Completed += o.Completed
	c.Failed += o.Failed
	c.Censored += o.Censored
	c.Dropped += o.Dropped
	c.Unsent += o.Unsent
	c.Expected += o.Expected
	c.Raced += o.Raced
	c.Orphaned += o.Orphaned
}

// Decided returns the number of ops whose fate is known.
func (c *Counts) Decided() uint64 {
	return c.Completed + c.Failed + c.Censored + c.Dropped + c.Unsent
}
