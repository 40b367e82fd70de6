package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"pianola/bindings"
)

// namespaceExists is the code of the error that a collection exists.
const namespaceExists = 48

// classOfCode are the classes of the server's error codes that are not found
// out otherwise; names are those of the server's list.
var classOfCode = map[int]bindings.Class{
	11: bindings.Unauthorised, // UserNotFound
	13: bindings.Unauthorised, // Unauthorized
	18: bindings.Unauthorised, // AuthenticationFailed
	33: bindings.Unauthorised, // ProtocolError of the login

	24:  bindings.Timeout, // LockTimeout
	50:  bindings.Timeout, // MaxTimeMSExpired
	64:  bindings.Timeout, // WriteConcernTimeout
	89:  bindings.Timeout, // NetworkTimeout
	202: bindings.Timeout, // NetworkInterfaceExceededTimeLimit
	262: bindings.Timeout, // ExceededTimeLimit

	112: bindings.Overloaded, // WriteConflict
	146: bindings.Overloaded, // ExceededMemoryLimit
	462: bindings.Overloaded, // IngressRequestRateLimitExceeded

	6:     bindings.Unavailable, // HostUnreachable
	7:     bindings.Unavailable, // HostNotFound
	91:    bindings.Unavailable, // ShutdownInProgress
	133:   bindings.Unavailable, // FailedToSatisfyReadPreference
	189:   bindings.Unavailable, // PrimarySteppedDown
	9001:  bindings.Unavailable, // SocketException
	10107: bindings.Unavailable, // NotWritablePrimary
	11600: bindings.Unavailable, // InterruptedAtShutdown
	11602: bindings.Unavailable, // InterruptedDueToReplStateChange
	13435: bindings.Unavailable, // NotPrimaryNoSecondaryOk
	13436: bindings.Unavailable, // NotPrimaryOrSecondary
	14031: bindings.Unavailable, // OutOfDiskSpace

	2:     bindings.Invalid, // BadValue
	9:     bindings.Invalid, // FailedToParse
	14:    bindings.Invalid, // TypeMismatch
	22:    bindings.Invalid, // InvalidBSON
	52:    bindings.Invalid, // DollarPrefixedFieldName
	59:    bindings.Invalid, // CommandNotFound
	66:    bindings.Invalid, // ImmutableField
	72:    bindings.Invalid, // InvalidOptions
	73:    bindings.Invalid, // InvalidNamespace
	79:    bindings.Invalid, // UnknownReplWriteConcern
	100:   bindings.Invalid, // UnsatisfiableWriteConcern
	121:   bindings.Invalid, // DocumentValidationFailure
	10334: bindings.Invalid, // BSONObjectTooLarge
	17419: bindings.Invalid, // the document would be too large after $set
	17420: bindings.Invalid, // the same, of an upsert
}

// classed gives an error of the client or the server its class.
func classed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, mongo.ErrNoDocuments) {
		return bindings.ErrNotFound
	}
	if mongo.IsDuplicateKeyError(err) {
		return bindings.ErrDuplicate
	}
	var own *bindings.Error
	if errors.As(err, &own) || errors.Is(err, context.Canceled) {
		return err
	}
	if class := classOf(err); class != bindings.Other {
		return &bindings.Error{Class: class, Err: err}
	}
	return err
}

func classOf(err error) bindings.Class {
	// Without a server there is nobody to be late, so this comes first.
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		return bindings.Unavailable
	}
	var server mongo.ServerError
	if errors.As(err, &server) {
		for _, code := range server.ErrorCodes() {
			if class, ok := classOfCode[code]; ok {
				return class
			}
		}
		if server.HasErrorLabel(driver.ErrSystemOverloadedError) {
			return bindings.Overloaded
		}
	}
	// A login that fails is not told as an error of a command.
	var login driver.Error
	if errors.As(err, &login) {
		if class, ok := classOfCode[int(login.Code)]; ok {
			return class
		}
	}
	return classOfConnection(err)
}

// classOfConnection is the class of what happened on the way to the server.
func classOfConnection(err error) bindings.Class {
	var connection topology.ConnectionError
	var cleared interface{ Retryable() bool }
	switch {
	case mongo.IsTimeout(err):
		return bindings.Timeout
	case errors.Is(err, driver.ErrDocumentTooLarge):
		return bindings.Invalid
	case mongo.IsNetworkError(err), errors.As(err, &connection), errors.As(err, &cleared), errors.Is(err, mongo.ErrClientDisconnected):
		return bindings.Unavailable
	}
	return bindings.Other
}

// withoutClass leaves the class out of the text of an error.
func withoutClass(err error) error {
	var own *bindings.Error
	if errors.As(err, &own) {
		return own.Err
	}
	return err
}

func hasCode(err error, code int) bool {
	var server mongo.ServerError
	return errors.As(err, &server) && server.HasErrorCode(code)
}
