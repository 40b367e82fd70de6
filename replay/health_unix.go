//go:build unix

package replay

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU returns the CPU time that the process has used.
func processCPU() (user, system time.Duration) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
