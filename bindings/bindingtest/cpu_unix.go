//go:build unix

package bindingtest

import (
	"syscall"
	"time"
)

// processCPU is the CPU time of this process so far.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
