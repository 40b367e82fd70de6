// Package replay issues the operations of a trace when they are due and
// measures what becomes of them. This comment is the measurement contract.
//
// An op starts at its phase's start plus its due time, whatever became of
// earlier ops: the load is open loop. Times are absolute; no error adds up.
//
//	due       when the op should start
//	ready     max(due, the instant its slot became free, under KeyOrder also
//	          the end of the conflicting op on its key); with a pipelined binding
//	          no later than when a slot last became free while none was: if there
//	          were others, to wait for this one was the generator's fault
//	start     when it did start, stamped right before the binding is called
//	end       when it was answered, stamped when the answer reaches the session
//
//	wait      ready - due     no slot was free, or its key was not: the
//	                          database is too slow, or there are too few slots
//	lag       start - ready   the generator's own fault
//	service   end - start     what a closed loop would have measured
//	response  end - due       what a user would have waited: the headline
//
// Each of the four comes from clock readings, none as a remainder; a test
// checks that the first three sum to the fourth. Slots are taken longest-free
// first.
//
// Every op that is due in a phase is offered, and exactly one thing becomes of
// it: completed, failed, censored (sent, unanswered at its deadline), dropped
// (by the overload policy) or unsent (its deadline passed before it had a slot,
// or the run ended). Quantiles of the response rank over the offered ops, the
// completed ones by response, all others above every one of them.
//
// A miss, the answer that there is no such record, is an outcome, and the trace
// knows which to expect: expected, if nothing ever wrote the key; raced, if its
// insert was unacknowledged when the op started, or a later delete of it had
// started before the op ended; orphaned, if its insert failed. These three count
// as completed. Any other miss is a failure of class not found.
//
// Where ops have no due times (an unpaced phase, or Runner.Asap), due and ready
// are the instant at which a slot was free for the op: wait is 0, response is
// lag + service, and the deadline counts from there. Such a run is a closed
// loop; its figures are service times and a maximum of throughput, not what a
// user would have waited.
//
// One thread at a time waits for a due time. With a pipelined binding it is
// always the same one, and it issues every op; with a blocking binding the
// goroutine that waits passes the lead on to the one whose slot is free longest
// and runs the op itself. No op is handed over between goroutines. Ops that are
// late already are built up to 32 at a time, for no more than half of the slots,
// before the first of them goes.
//
// Where no op waits for a due time or for another op, a binding whose pipelines
// have nothing in common (bindings.ManyPipeliner) is given ops by a goroutine for
// each processor, which claims up to 32 at a time, in the order of the trace.
//
// A pipelined binding may keep ops to send them together, up to 32 and never
// while the issuing thread waits for anything: only ops that are due already.
// That delay is in their service.
package replay
