package rpc

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"pianola/bindings"
	hbasev1 "pianola/proto/hbase/v1"
)

// RemoteError is an exception that a server has answered with.
type RemoteError struct {
	// Name is the class without its package.
	Name string
	Text string
	// Moved is where a region has moved to, "host:port", or "".
	Moved      string
	DoNotRetry bool
	Overloaded bool
}

func (e *RemoteError) Error() string {
	if e.Text == "" {
		return e.Name
	}
	return e.Name + ": " + e.Text
}

// maxText bounds what is kept of an exception's text.
const maxText = 300

func remoteError(x *hbasev1.Exception) *RemoteError {
	e := NamedError(x.GetClassName(), x.GetStackTrace())
	e.DoNotRetry, e.Overloaded = x.GetDoNotRetry(), x.GetServerOverloaded()
	if x.GetHost() != "" && x.GetPort() > 0 {
		e.Moved = net.JoinHostPort(x.GetHost(), strconv.Itoa(int(x.GetPort())))
	}
	return e
}

// NamedError is an exception by the name of its class and its text, of which
// the first line counts: the rest is the stack.
func NamedError(class, text string) *RemoteError {
	name := class[strings.LastIndexAny(class, ".$")+1:]
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, class), ":"))
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return &RemoteError{Name: name, Text: text}
}

// elsewhere names the exceptions of a server that does not serve the region, or
// no region at all: nothing was done, and another may.
var elsewhere = map[string]bool{
	"NotServingRegionException": true, "RegionMovedException": true, "RegionOpeningException": true, "WrongRegionException": true,
	"RegionServerStoppedException": true, "RegionServerAbortedException": true, "ServerNotRunningYetException": true,
	"UnknownRegionException": true,
}

// Elsewhere reports whether nothing was done because the region is served
// elsewhere, or will be.
func (e *RemoteError) Elsewhere() bool { return elsewhere[e.Name] }

// classes is the class of an exception where it is another than other. What is
// not to be tried again is invalid.
var classes = map[string]bindings.Class{
	"CallQueueTooBigException": bindings.Overloaded, "RegionTooBusyException": bindings.Overloaded,
	"RpcThrottlingException": bindings.Overloaded, "CallDroppedException": bindings.Overloaded,
	"MultiActionResultTooLarge": bindings.Overloaded, "CallTimeoutException": bindings.Timeout,
	"TimeoutIOException": bindings.Timeout, "PleaseHoldException": bindings.Unavailable,
	"MasterNotRunningException": bindings.Unavailable, "MasterStoppedException": bindings.Unavailable,
	"ServerTooBusyException": bindings.Overloaded, "AccessDeniedException": bindings.Unauthorised,
	"SaslException": bindings.Unauthorised, "InvalidToken": bindings.Unauthorised,
	"UnknownScannerException": bindings.Unavailable, "OutOfOrderScannerNextException": bindings.Unavailable,
	"ScannerResetException": bindings.Unavailable,
	// Within the answer of a Multi nothing says that they are not to be tried again.
	"DoNotRetryIOException": bindings.Invalid, "NoSuchColumnFamilyException": bindings.Invalid,
}

// Class returns the class of the error for a result.
func (e *RemoteError) Class() bindings.Class {
	c, known := classes[e.Name]
	switch {
	case known:
		return c
	case e.Overloaded:
		return bindings.Overloaded
	case e.Elsewhere():
		return bindings.Unavailable
	case e.DoNotRetry:
		return bindings.Invalid
	}
	return bindings.Other
}

// hint says what to do about a connection that is refused.
func (e *RemoteError) hint() string {
	if e.Name == "AccessDeniedException" && strings.Contains(e.Text, "Authentication is required") {
		return "\nthe cluster wants Kerberos, which this client does not speak"
	}
	return ""
}

// Classed gives an error of this package, or one around it, its class for a
// result.
func Classed(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*bindings.Error); ok {
		return e
	}
	var broken *BrokenError
	var remote *RemoteError
	switch class := bindings.ClassOf(err); {
	case class != bindings.Other:
		return &bindings.Error{Class: class, Err: err}
	case errors.As(err, &remote):
		return &bindings.Error{Class: remote.Class(), Err: fmt.Errorf("%w%s", err, remote.hint())}
	case errors.As(err, &broken):
		return &bindings.Error{Class: bindings.Unavailable, Err: err}
	}
	return &bindings.Error{Class: bindings.Other, Err: err}
}
