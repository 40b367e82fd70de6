package replay

import "fmt"

// Overload says what becomes of an op that is due while every slot is busy.
type Overload string

const (
	// QueueOverload lets it wait in the trace, until its deadline: the wait
	// counts. It is the default.
	QueueOverload Overload = "queue"
	// DropOverload gives it up at once.
	DropOverload Overload = "drop"
	// AbortOverload ends the run.
	AbortOverload Overload = "abort"
)

// ParseOverload reads the word for a policy.
func ParseOverload(s string) (Overload, error) {
	switch o := Overload(s); o {
	case QueueOverload, DropOverload, AbortOverload:
		return o, nil
	}
	return "", fmt.Errorf("overload %q: want queue, drop or abort", s)
}
