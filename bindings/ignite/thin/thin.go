// Package thin is a client for Apache Ignite 2.9 and later, by the binary
// client protocol, version 1.7.0: the thin client that no module holds.
//
// A Client holds a few connections to each node that it is told of. A request
// goes out on one of them without waiting for others, and its answer is handed
// over by the goroutine that reads the connection: nothing is started, and
// nothing allocated, for a request. The server answers in any order and, what
// is more, carries out in any order: two requests on one key that are in flight
// at a time may swap. Who needs an order waits for the first answer.
//
// Nothing is tried twice. A request on a connection that breaks fails, though
// it may have been carried out; broken connections are opened again behind the
// requests' backs, which is counted.
//
// The protocol's description is the documentation of Ignite, "Binary Client
// Protocol"; what that leaves open was tried on a node of version 2.17.0. All
// numbers are little-endian.
package thin

import (
	"context"
	"errors"
	"fmt"
)

// Op is an operation code.
type Op int16

// Operations that are started without waiting; see Cache.Start and Answer.Next.
const (
	OpClose     Op = 0
	OpGet       Op = 1000
	OpPut       Op = 1001
	OpRemove    Op = 1016
	OpInvoke    Op = 1024
	OpQuery     Op = 2004
	OpQueryPage Op = 2005
	OpType      Op = 3002
)

const (
	opCacheGetAll      Op = 1003
	opCachePutAll      Op = 1004
	opCacheGetSize     Op = 1020
	opCacheNames       Op = 1050
	opCacheGetOrCreate Op = 1054
	opCacheDestroy     Op = 1056
	opCachePartitions  Op = 1101
	opRegisterName     Op = 3001
	opRegisterType     Op = 3003
	opTxStart          Op = 4000
	opTxEnd            Op = 4001
	opComputeExecute   Op = 6000
	opComputeFinished  Op = 6001
)

// Flags in front of an answer's body.
const (
	flagError        = 1
	flagTopology     = 2
	flagNotification = 4
)

// Flags of a cache operation.
const (
	keepBinary    = 1
	inTransaction = 2
)

// Statuses of a ServerError that have a meaning of their own; StatusFailed is
// that of nearly everything else.
const (
	StatusFailed          int32 = 1
	StatusUnknownOp       int32 = 2
	StatusNodeState       int32 = 10
	StatusRecovery        int32 = 11
	StatusDisabled        int32 = 100
	StatusNoCache         int32 = 1000
	StatusTooManyCursors  int32 = 1010
	StatusNoResource      int32 = 1011
	StatusSecurity        int32 = 1012
	StatusTooManyTx       int32 = 1020
	StatusNoTx            int32 = 1021
	StatusTooManyTasks    int32 = 1030
	StatusProcessorFailed int32 = 1040
	StatusUnauthorised    int32 = 2000
)

// ServerError is what the server answers instead of a result.
type ServerError struct {
	Status  int32
	Message string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("server says %q (status %d)", e.Message, e.Status)
}

var (
	// ErrDeadline is the answer to a request that was given up at its deadline.
	// The server may carry it out later.
	ErrDeadline = fmt.Errorf("not answered in time: %w", context.DeadlineExceeded)
	// ErrNoConnection is the answer where no node is connected.
	ErrNoConnection = errors.New("no connection to any node")
	// ErrLost is the answer to what was in flight on a connection that broke:
	// it may have been carried out or not.
	ErrLost = errors.New("connection lost")
	// ErrClosed is the answer of a client that is closed.
	ErrClosed = errors.New("client is closed")
	// ErrFull is the answer where too many bytes wait to be sent to a server
	// that does not take them.
	ErrFull = errors.New("too much waits to be sent")
)

// Answer is what comes back for a request. With Err nil the Decoder is at the
// beginning of the body, whose bytes are valid while Receive runs.
type Answer struct {
	Decoder
	Err error
	// from is the connection that is being read, nil if the answer came from
	// none.
	from *conn
}

// Receiver takes the answer of a request, from any goroutine, exactly once. It
// must not block: others wait behind it.
type Receiver interface {
	Receive(a *Answer)
}
